"""Create, change, list and delete the requester's own qualification types (qualifying.py has the system's)."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q

from localturk import ids
from localturk.errors import RequestError, invalid
from localturk.models import HitType, QualificationRequest, QualificationType
from localturk.operations.finding import find_qualification_type
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.rendering import qualification_type_shape


@operation("CreateQualificationType")
def create_qualification_type(params: Params, now: datetime) -> Answer:
    kind = QualificationType(
        qualification_type_id=ids.new_id(),
        name=params["Name"],
        keywords=params.get("Keywords", ""),
        description=params["Description"],
        status=params["QualificationTypeStatus"],
        retry_delay_seconds=params.get("RetryDelayInSeconds"),
        created_at=now,
    )
    _set_granting(kind, params)
    try:
        with transaction.atomic():
            kind.save()
    except IntegrityError:
        message = (
            "You have already created a QualificationType with this name. A QualificationType's name must be unique "
            "among all of the QualificationTypes created by the same user."
        )
        raise RequestError("AWS.MechanicalTurk.QualificationTypeAlreadyExists", message) from None
    return {"QualificationType": qualification_type_shape(kind)}


def _set_granting(kind: QualificationType, params: Params) -> None:
    if "Test" in params:
        if "TestDurationInSeconds" not in params:
            raise RequestError("AWS.MissingParameters", "A Test needs its TestDurationInSeconds.")
        kind.test = params["Test"]
        kind.answer_key = params.get("AnswerKey", "")
        kind.test_duration_seconds = params["TestDurationInSeconds"]
    kind.is_auto_granted = params.get("AutoGranted", kind.is_auto_granted)
    kind.auto_granted_value = params.get("AutoGrantedValue", kind.auto_granted_value)
    if kind.test and kind.is_auto_granted:
        raise invalid("AutoGranted", "can't be true for a Qualification type with a test.")


@operation("GetQualificationType")
def get_qualification_type(params: Params, now: datetime) -> Answer:
    return {"QualificationType": qualification_type_shape(find_qualification_type(params["QualificationTypeId"]))}


@operation("ListQualificationTypes")
def list_qualification_types(params: Params, now: datetime) -> Answer:
    query = params.get("Query", "")
    kinds = QualificationType.objects.undeleted()
    if query:
        kinds = kinds.filter(Q(name__icontains=query) | Q(keywords__icontains=query) | Q(description__icontains=query))
    page, counts = page_of(kinds, params, f"qualification types {query[:40]}")
    return {"QualificationTypes": [qualification_type_shape(kind) for kind in page], **counts}


@operation("UpdateQualificationType")
def update_qualification_type(params: Params, now: datetime) -> Answer:
    kind = find_qualification_type(params["QualificationTypeId"])
    kind.description = params.get("Description", kind.description)
    kind.status = params.get("QualificationTypeStatus", kind.status)
    kind.retry_delay_seconds = params.get("RetryDelayInSeconds", kind.retry_delay_seconds)
    _set_granting(kind, params)
    kind.save()
    return {"QualificationType": qualification_type_shape(kind)}


@operation("DeleteQualificationType")
def delete_qualification_type(params: Params, now: datetime) -> Answer:
    """Delete a qualification type at once; MTurk takes up to 48 hours. HITs that require it stay, and workers who have
    it still have it."""
    kind = find_qualification_type(params["QualificationTypeId"])
    kind.deleted_at = now
    kind.save()
    kind.requests.filter(status=QualificationRequest.Status.PENDING).update(status=QualificationRequest.Status.REJECTED)
    requiring = HitType.objects.filter(requirements__qualification_type_id=kind.qualification_type_id)
    requiring.filter(deleted_at=None).update(deleted_at=now)
    return {}
