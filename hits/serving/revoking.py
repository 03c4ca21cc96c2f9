"""Revokes personal invitations and restores them: who is in a HIT is stopped at once, and its place is free again.

In: an invitation. Out: the row, and the worker's assignments. Guaranteed: what was handed in stays; what was not is
saved no further, from the next request on, however the worker got in; restoring lets them go on where they were.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from hits.access import note_event, pseudonym
from hits.models import Assignment, Invitation
from hits.serving.leases import free_place
from hits.serving.statements import lock_study


@transaction.atomic
def revoke_invitation(invitation: Invitation, by: User | None, now: datetime) -> bool:
    """Revoke the invitation, and return whether it was open until now."""
    # Nobody begins or hands in meanwhile: both take this lock.
    lock_study(invitation.offering.study_id)
    if not Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=now):
        return False
    for one in _unfinished(invitation):
        free_place(one)
    _unfinished(invitation).update(revoked_at=now)
    _note(invitation, "revoked", by, now)
    return True


@transaction.atomic
def restore_invitation(invitation: Invitation, by: User | None, now: datetime) -> bool:
    """Open a revoked invitation again, and return whether it was revoked."""
    lock_study(invitation.offering.study_id)
    if not Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=False).update(revoked_at=None):
        return False
    _unfinished(invitation).update(revoked_at=None)
    _note(invitation, "restored", by, now)
    return True


def _unfinished(invitation: Invitation) -> QuerySet[Assignment]:
    ours = Assignment.objects.filter(offering=invitation.offering, crowd_worker_id=invitation.worker_id)
    return ours.filter(submitted_at=None)


def _note(invitation: Invitation, what: str, by: User | None, now: datetime) -> None:
    """Name nobody: the study's log is read by more people than may know who its raters are, and for longer."""
    study = invitation.offering.study
    who = pseudonym(study, invitation.worker_id)
    note_event(study, f"{what} the invitation of {who} ({invitation.offering.marketplace})", by, now)
