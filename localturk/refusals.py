"""Decide whether a worker may preview or accept a HIT and, if not, say why."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from localturk.models import HitType, TurkAssignment, TurkHit, WorkerAccount, WorkerBlock
from localturk.qualifying import Standing, guards_preview, requirement_words, standing_of


class Reason(StrEnum):
    BLOCKED = "blocked"
    NOT_QUALIFIED = "not qualified"
    EXPIRED = "expired"
    NONE_LEFT = "none left"
    ALREADY_DONE = "already done"
    ALREADY_HELD = "already held"
    NOT_HELD = "not held"
    TOO_LATE = "too late"


@dataclass(frozen=True)
class Refusal:
    """Why a worker is refused. `requirement` is the one that is not met, in words, if that is the reason."""

    reason: Reason
    message: str
    requirement: str = ""


class Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def can_preview(worker: WorkerAccount, hit: TurkHit) -> Refusal | None:
    return unqualified(standing_of(worker), hit.hit_type, preview_only=True)


def can_accept(worker: WorkerAccount, hit: TurkHit, now: datetime) -> Refusal | None:
    """Return why the worker can't accept the HIT, or None. Reasons that don't change by waiting come first."""
    if block := blocked(worker):
        return block
    live = TurkAssignment.objects.live().filter(worker=worker, hit=hit).first()
    if live is not None and live.status == TurkAssignment.Status.ACCEPTED:
        return Refusal(Reason.ALREADY_HELD, "You are working on this HIT already.")
    if live is not None:
        return Refusal(Reason.ALREADY_DONE, "You did this HIT already.")
    if refusal := unqualified(standing_of(worker), hit.hit_type):
        return refusal
    if hit.status == TurkHit.Status.DISPOSED or hit.expires_at <= now:
        return Refusal(Reason.EXPIRED, "This HIT has expired.")
    if not hit.available_count:
        return Refusal(Reason.NONE_LEFT, "Other workers hold or did all assignments of this HIT.")
    return None


def blocked(worker: WorkerAccount) -> Refusal | None:
    if WorkerBlock.objects.filter(worker=worker).exists():
        return Refusal(Reason.BLOCKED, "This requester does not take work from you.")
    return None


def unqualified(standing: Standing, hit_type: HitType, preview_only: bool = False) -> Refusal | None:
    requirements = hit_type.qualification_requirements
    unmet = standing.first_unmet(filter(guards_preview, requirements) if preview_only else requirements)
    if unmet is None:
        return None
    words = requirement_words(unmet)
    return Refusal(Reason.NOT_QUALIFIED, f"You do not qualify for this HIT: {words}.", words)
