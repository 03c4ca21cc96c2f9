"""Put what the marketplace's worker pages list into words: offers, why one can't accept, past work, the clock."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from evalplatform.wording import count_of
from localturk.models import HitType, TurkAssignment, TurkHit, WorkerAccount
from localturk.qualifying import guards_discovery, judged_counts, requirement_words, standing_of
from localturk.rendering import dollars
from localturk.working import Refusal, next_hit, offers

REQUESTER = "EvalPlatform, on this computer"
MOST_PAST_ROWS = 50
IN_WORDS = {"Submitted": "submitted, waiting for approval", "Approved": "approved", "Rejected": "rejected"} | {
    "Returned": "returned by you",
    "Abandoned": "went back: the time was over",
}
PAID = ("Submitted", "Approved")


@dataclass(frozen=True)
class WorkerRow:
    worker: WorkerAccount
    place: str
    record: str


@dataclass(frozen=True)
class RequirementRow:
    text: str
    is_met: bool


@dataclass(frozen=True)
class OfferRow:
    hit_id: str
    title: str
    description: str
    requester: str
    reward: str
    time_allowed: str
    count: int
    requirements: list[RequirementRow]
    can_preview: bool
    why_not: str

    @property
    def can_accept(self) -> bool:
        return not self.why_not


@dataclass(frozen=True)
class HiddenRow:
    title: str
    requirements: list[RequirementRow]


@dataclass(frozen=True)
class QueueRow:
    assignment_id: str
    title: str
    reward: str
    time_left: str


@dataclass(frozen=True)
class PastRow:
    title: str
    ended_at: datetime | None
    status: str
    feedback: str
    reward: str
    bonus: str


@dataclass(frozen=True)
class ClockRow:
    used_seconds: int
    allowed_seconds: int

    @property
    def used(self) -> str:
        return clock_text(self.used_seconds)

    @property
    def allowed(self) -> str:
        return clock_text(self.allowed_seconds)

    @property
    def left(self) -> str:
        return clock_text(self.allowed_seconds - self.used_seconds)


def worker_row(worker: WorkerAccount) -> WorkerRow:
    approved, rejected = judged_counts(worker)
    place = "-".join(filter(None, [worker.country, worker.subdivision]))
    if not approved + rejected:
        return WorkerRow(worker, place, "new here, no work judged so far")
    percent = 100 * approved // (approved + rejected)
    return WorkerRow(worker, place, f"{count_of(approved, 'HIT')} approved, approval rate {percent} %")


def offer_rows(worker: WorkerAccount, now: datetime) -> list[OfferRow]:
    """Return all offers, also those for which the worker does not qualify, because the page says why."""
    rows = []
    for offer in offers(worker, now, qualified_only=False):
        # There is no HIT if another worker has just taken the last one.
        if hit := next_hit(worker, offer.hit_type):
            rows.append(offer_row(worker, hit, offer.refusal, offer.can_preview, offer.hit_count))
    return rows


def hidden_rows(worker: WorkerAccount) -> list[HiddenRow]:
    """Return HITs that MTurk would not even show to this worker. A researcher who rehearses must see why the list is
    empty."""
    standing, on_offer = standing_of(worker), TurkHit.objects.assignable().filter(hit_type=OuterRef("pk"))
    return [
        HiddenRow(kind.title, requirement_rows(worker, kind))
        for kind in HitType.objects.filter(Exists(on_offer)).order_by("-pk")
        if standing.first_unmet(filter(guards_discovery, kind.qualification_requirements))
    ]


def offer_row(
    worker: WorkerAccount, hit: TurkHit, refusal: Refusal | None, can_preview: bool = True, count: int = 1
) -> OfferRow:
    kind = hit.hit_type
    return OfferRow(
        hit_id=hit.hit_id,
        title=kind.title,
        description=kind.description,
        requester=REQUESTER,
        reward=money(kind.reward_cents),
        time_allowed=duration_words(kind.assignment_duration_seconds),
        count=count,
        requirements=requirement_rows(worker, kind),
        can_preview=can_preview,
        why_not=refusal.message if refusal else "",
    )


def requirement_rows(worker: WorkerAccount, hit_type: HitType) -> list[RequirementRow]:
    standing = standing_of(worker)
    return [
        RequirementRow(requirement_words(one), standing.first_unmet([one]) is None)
        for one in hit_type.qualification_requirements
    ]


def queue_rows(worker: WorkerAccount, now: datetime) -> list[QueueRow]:
    held = worker.assignments.filter(status=TurkAssignment.Status.ACCEPTED).select_related("hit__hit_type")
    return [
        QueueRow(
            one.assignment_id,
            one.hit.hit_type.title,
            money(one.hit.hit_type.reward_cents),
            duration_words(_round_to_minutes(int((one.deadline_at - now).total_seconds()))),
        )
        for one in held.order_by("deadline_at")
    ]


def past_rows(worker: WorkerAccount) -> list[PastRow]:
    """Return the worker's past work, the latest first. Only the latest rows of a long history are returned."""
    done = worker.assignments.exclude(status=TurkAssignment.Status.ACCEPTED).select_related("hit__hit_type")
    done = done.prefetch_related("bonus_payments").order_by("-pk")
    return [
        PastRow(
            title=one.hit.hit_type.title,
            ended_at=one.submitted_at or one.given_back_at,
            status=IN_WORDS[one.status],
            feedback=one.requester_feedback,
            reward=money(one.hit.hit_type.reward_cents) if one.status in PAID else money(0),
            bonus=money(sum(bonus.amount_cents for bonus in one.bonus_payments.all())),
        )
        for one in done[:MOST_PAST_ROWS]
    ]


def clock_row(assignment: TurkAssignment, now: datetime) -> ClockRow:
    return ClockRow(
        used_seconds=int((now - assignment.accepted_at).total_seconds()),
        allowed_seconds=int((assignment.deadline_at - assignment.accepted_at).total_seconds()),
    )


def money(cents: int) -> str:
    return f"${dollars(cents)}"


def clock_text(seconds: int) -> str:
    """Return seconds as the running clock on the page writes them: 65 is "01:05", 3725 is "1:02:05"."""
    minutes_and_seconds = f"{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{seconds // 3600}:{minutes_and_seconds}" if seconds >= 3600 else minutes_and_seconds


def _round_to_minutes(seconds: int) -> int:
    """Round down to minutes, except in the last one: the queue's page does not count down, so seconds would mislead."""
    return seconds if seconds < 60 else seconds // 60 * 60


def duration_words(seconds: int) -> str:
    """Return the duration in its two largest units: "1 day 2 hours", "30 minutes", "45 seconds"."""
    units = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)]
    parts, rest = [], max(seconds, 0)
    for name, size in units:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
    return " ".join(parts[:2]) or "none"
