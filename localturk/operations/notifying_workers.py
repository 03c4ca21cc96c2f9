"""Send messages to workers whose work was judged here (NotifyWorkers)."""

from datetime import datetime

from localturk.models import TurkAssignment, WorkerAccount, WorkerMessage
from localturk.operations.operation_table import Answer, Params, operation

JUDGED = (TurkAssignment.Status.APPROVED, TurkAssignment.Status.REJECTED)


@operation("NotifyWorkers")
def notify_workers(params: Params, now: datetime) -> Answer:
    """Send a message to workers whose work was approved or rejected here. The answer lists the others; that is no
    error.
    """
    failures = []
    for worker_id in params["WorkerIds"]:
        worker = WorkerAccount.objects.filter(worker_id=worker_id, assignments__status__in=JUDGED).first()
        if worker is None:
            failures.append(_describe_failure(worker_id))
        else:
            _send_message(worker, params, now)
    return {"NotifyWorkersFailureStatuses": failures}


def _send_message(worker: WorkerAccount, params: Params, now: datetime) -> None:
    WorkerMessage.objects.create(worker=worker, subject=params["Subject"], text=params["MessageText"], sent_at=now)


def _describe_failure(worker_id: str) -> dict[str, str]:
    return {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": "You have not approved or rejected work of this worker.",
        "WorkerId": worker_id,
    }
