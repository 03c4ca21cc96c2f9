"""What requesters and workers do in these tests."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount

XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
UNKNOWN = "3" + "X" * 29


def external_question(url: str = "https://eval.example.org/work/1/") -> str:
    return (
        f'<ExternalQuestion xmlns="{XSD}"><ExternalURL>{url}</ExternalURL>'
        "<FrameHeight>800</FrameHeight></ExternalQuestion>"
    )


TYPE_PARAMS = {
    "AssignmentDurationInSeconds": 3600,
    "AutoApprovalDelayInSeconds": 3 * 24 * 3600,
    "Reward": "0.40",
    "Title": "Rate replies",
    "Description": "Read dialogs and rate the replies.",
}


def hit_params(**changes: Any) -> dict[str, Any]:
    params = {**TYPE_PARAMS, "LifetimeInSeconds": 24 * 3600, "MaxAssignments": 2, "Question": external_question()}
    return {name: value for name, value in {**params, **changes}.items() if value is not None}


def create_hit(turk: Any, **changes: Any) -> str:
    return str(turk.create_hit(**hit_params(**changes))["HIT"]["HITId"])


def get_hit(turk: Any, hit_id: str) -> dict[str, Any]:
    hit: dict[str, Any] = turk.get_hit(HITId=hit_id)["HIT"]
    return hit


def accept(hit_id: str, worker: WorkerAccount) -> TurkAssignment:
    return working.accept(worker, TurkHit.objects.get(hit_id=hit_id), Clock().now())


def submit(assignment: TurkAssignment, **fields: list[str]) -> str:
    """The assignment's id, after its worker handed it in."""
    working.submit(assignment.assignment_id, assignment.worker, fields or {"rating": ["good"]}, Clock().now())
    return assignment.assignment_id


def do_hit(hit_id: str, worker: WorkerAccount) -> str:
    return submit(accept(hit_id, worker))


def refusal_of(call: Callable[..., Any], **params: Any) -> tuple[str, str]:
    """The TurkErrorCode and the message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**params)
    assert caught.value.response["Error"]["Code"] == "RequestError"
    return caught.value.response["TurkErrorCode"], caught.value.response["Error"]["Message"]


def code_of(call: Callable[..., Any], **params: Any) -> str:
    return refusal_of(call, **params)[0].removeprefix("AWS.MechanicalTurk.")
