"""Grant and revoke workers' qualifications, and answer requests for them."""

from datetime import datetime

from localturk.errors import RequestError, does_not_exist, wrong_state
from localturk.models import Qualification, QualificationRequest, QualificationType, WorkerAccount, WorkerMessage
from localturk.operations import qualification_types
from localturk.operations.finding import find_qualification_type, find_worker
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.rendering import qualification_shape, request_shape

__all__ = ["grant", "qualification_types"]


@operation("AssociateQualificationWithWorker")
def associate_qualification(params: Params, now: datetime) -> Answer:
    kind = find_qualification_type(params["QualificationTypeId"])
    worker = find_worker(params["WorkerId"])
    grant(kind, worker, params.get("IntegerValue", 1), now)
    if params.get("SendNotification", True):
        _send_message(worker, f"You have been granted the qualification {kind.name}", "", now)
    return {}


def grant(kind: QualificationType, worker: WorkerAccount, value: int | None, now: datetime) -> None:
    granted = {"integer_value": value, "status": Qualification.Status.GRANTED, "granted_at": now}
    Qualification.objects.update_or_create(qualification_type=kind, worker=worker, defaults=granted)


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(params: Params, now: datetime) -> Answer:
    kind = find_qualification_type(params["QualificationTypeId"])
    worker = find_worker(params["WorkerId"])
    qualification = _find_granted(kind, worker)
    qualification.status = Qualification.Status.REVOKED
    qualification.save()
    _send_message(worker, f"Your qualification {kind.name} has been revoked", params.get("Reason", ""), now)
    return {}


@operation("GetQualificationScore")
def get_qualification_score(params: Params, now: datetime) -> Answer:
    kind = QualificationType.objects.filter(qualification_type_id=params["QualificationTypeId"]).first()
    worker = WorkerAccount.objects.filter(worker_id=params["WorkerId"]).first()
    return {"Qualification": qualification_shape(_find_granted(kind, worker))}


def _find_granted(kind: QualificationType | None, worker: WorkerAccount | None) -> Qualification:
    owned = Qualification.objects.select_related("qualification_type", "worker")
    qualification = owned.filter(qualification_type=kind, worker=worker).first() if kind and worker else None
    if qualification is None:
        message = "You requested a Qualification that does not exist."  # MTurk says this whatever is unknown
        raise RequestError("AWS.MechanicalTurk.QualificationDoesNotExist", message)
    if qualification.status != Qualification.Status.GRANTED:
        raise wrong_state("Qualification", "Granted", qualification.status)
    return qualification


@operation("ListWorkersWithQualificationType")
def list_workers_with_qualification_type(params: Params, now: datetime) -> Answer:
    kind = find_qualification_type(params["QualificationTypeId"])
    status = params.get("Status", Qualification.Status.GRANTED)
    owned = Qualification.objects.filter(qualification_type=kind, status=status)
    scope = f"workers {kind.qualification_type_id} {status}"
    page, counts = page_of(owned.select_related("qualification_type", "worker"), params, scope)
    return {"Qualifications": [qualification_shape(one) for one in page], **counts}


@operation("ListQualificationRequests")
def list_qualification_requests(params: Params, now: datetime) -> Answer:
    requests = QualificationRequest.objects.filter(status=QualificationRequest.Status.PENDING)
    wanted = params.get("QualificationTypeId", "")
    if wanted:
        requests = requests.filter(qualification_type=find_qualification_type(wanted))
    page, counts = page_of(requests.select_related("qualification_type", "worker"), params, f"requests {wanted}")
    return {"QualificationRequests": [request_shape(one) for one in page], **counts}


@operation("AcceptQualificationRequest")
def accept_qualification_request(params: Params, now: datetime) -> Answer:
    request = _find_pending(params["QualificationRequestId"])
    _close_request(request, QualificationRequest.Status.GRANTED)
    grant(request.qualification_type, request.worker, params.get("IntegerValue"), now)
    return {}


@operation("RejectQualificationRequest")
def reject_qualification_request(params: Params, now: datetime) -> Answer:
    request = _find_pending(params["QualificationRequestId"])
    _close_request(request, QualificationRequest.Status.REJECTED)
    subject = f"Your request for the qualification {request.qualification_type.name} was rejected"
    _send_message(request.worker, subject, params.get("Reason", ""), now)
    return {}


def _find_pending(request_id: str) -> QualificationRequest:
    requests = QualificationRequest.objects.select_related("qualification_type", "worker")
    request = requests.select_for_update(of=("self",)).filter(request_id=request_id).first()
    if request is None:
        raise does_not_exist("QualificationRequest", request_id)
    if request.status != QualificationRequest.Status.PENDING:
        raise wrong_state("QualificationRequest", "Pending", request.status)
    return request


def _close_request(request: QualificationRequest, status: QualificationRequest.Status) -> None:
    request.status = status
    request.save()


def _send_message(worker: WorkerAccount, subject: str, text: str, now: datetime) -> None:
    WorkerMessage.objects.create(worker=worker, subject=subject[:200], text=text, sent_at=now)
