"""Register operations of the Requester API by name, and list those that the local marketplace does not offer."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

Params = dict[str, Any]
Answer = dict[str, Any]
Operation = Callable[[Params, datetime], Answer]

OPERATIONS: dict[str, Operation] = {}
NOT_OFFERED = {
    "GetFileUploadURL": "file uploads belong to QuestionForm, which workers can't answer here",
    "ListReviewPolicyResultsForHIT": "review policies are not run here",
    "SendTestEventNotification": "there are no queues to notify",
    "UpdateNotificationSettings": "there are no queues to notify",
}


def operation(name: str) -> Callable[[Operation], Operation]:
    def register(function: Operation) -> Operation:
        OPERATIONS[name] = function
        return function

    return register
