"""Create HIT types (CreateHITType); equal parameters give the same one. Equal parameters give the same HIT type."""

import hashlib
import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction

from localturk import ids
from localturk.models import HitType, HitTypeRequirement
from localturk.operations.finding import find_qualification_type
from localturk.operations.operation_table import Answer, Params, operation
from localturk.qualifying import SYSTEM_QUALIFICATION_TYPES

THIRTY_DAYS_SECONDS = 30 * 24 * 3600


@operation("CreateHITType")
def create_hit_type(params: Params, now: datetime) -> Answer:
    return {"HITTypeId": get_or_create_hit_type(params, now).hit_type_id}


def get_or_create_hit_type(params: Params, now: datetime) -> HitType:
    fields = _read_fields(params)
    fingerprint = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    existing = HitType.objects.filter(fingerprint=fingerprint, deleted_at=None)
    if hit_type := existing.first():
        return hit_type
    for requirement in fields["qualification_requirements"]:
        if requirement["QualificationTypeId"] not in SYSTEM_QUALIFICATION_TYPES:
            find_qualification_type(requirement["QualificationTypeId"])
    try:
        with transaction.atomic():
            return _add_hit_type(fields, fingerprint, now)
    except IntegrityError:  # another call has just created it
        return existing.get()


def _read_fields(params: Params) -> dict[str, Any]:
    return {
        "title": params["Title"],
        "description": params["Description"],
        "keywords": params.get("Keywords", ""),
        "reward_cents": int(Decimal(params["Reward"]) * 100),
        "assignment_duration_seconds": params["AssignmentDurationInSeconds"],
        "auto_approval_delay_seconds": params.get("AutoApprovalDelayInSeconds", THIRTY_DAYS_SECONDS),
        "qualification_requirements": [
            _complete_requirement(one) for one in params.get("QualificationRequirements", [])
        ],
    }


def _complete_requirement(requirement: dict[str, Any]) -> dict[str, Any]:
    """Return the requirement with both ActionsGuarded and the older RequiredToPreview, as MTurk answers."""
    guarded = requirement.get("ActionsGuarded")
    if guarded is None:
        guarded = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return {**requirement, "ActionsGuarded": guarded, "RequiredToPreview": guarded != "Accept"}


def _add_hit_type(fields: dict[str, Any], fingerprint: str, now: datetime) -> HitType:
    hit_type = HitType.objects.create(
        **fields, hit_type_id=ids.new_id(), hit_group_id=ids.new_id(), fingerprint=fingerprint, created_at=now
    )
    required = {requirement["QualificationTypeId"] for requirement in fields["qualification_requirements"]}
    HitTypeRequirement.objects.bulk_create(
        HitTypeRequirement(hit_type=hit_type, qualification_type_id=one) for one in sorted(required)
    )
    return hit_type
