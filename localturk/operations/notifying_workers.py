"""Messages from the requester to workers."""

from datetime import datetime

from localturk.models import TurkAssignment, WorkerAccount, WorkerMessage
from localturk.operations.operation_table import Answer, Params, operation

JUDGED = (TurkAssignment.Status.APPROVED, TurkAssignment.Status.REJECTED)


@operation("NotifyWorkers")
def notify_workers(params: Params, now: datetime) -> Answer:
    """Reaches those whose work was approved or rejected here. Who is not reached is in the answer, not an error."""
    failures = []
    for worker_id in params["WorkerIds"]:
        worker = WorkerAccount.objects.filter(worker_id=worker_id, assignments__status__in=JUDGED).first()
        if worker is None:
            failures.append(_failure(worker_id))
        else:
            _send(worker, params, now)
    return {"NotifyWorkersFailureStatuses": failures}


def _send(worker: WorkerAccount, params: Params, now: datetime) -> None:
    WorkerMessage.objects.create(worker=worker, subject=params["Subject"], text=params["MessageText"], sent_at=now)


def _failure(worker_id: str) -> dict[str, str]:
    return {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": "You have not approved or rejected work of this worker.",
        "WorkerId": worker_id,
    }
