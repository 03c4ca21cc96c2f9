"""Put what participants' pages show into words: studies, work and its status, time that is left, earnings."""

from dataclasses import dataclass
from datetime import datetime
from html import unescape

from django.db.models import Count, Q, Sum
from django.utils.html import strip_tags

from evalplatform.wording import count_of
from localprolific.filter_catalogue import COUNTRIES
from localprolific.lifecycle_rules import RESERVATION, Status, deadline_of
from localprolific.models import Participant, ProlificSubmission, WalletEntry
from localprolific.participating import StudyOffer

MOST_EARNED_ROWS = 500
SYMBOLS = {"GBP": "£", "USD": "$"}
IN_WORDS = {
    Status.RESERVED: "reserved",
    Status.ACTIVE: "begun",
    Status.AWAITING_REVIEW: "awaiting review",
    Status.APPROVED: "approved",
    Status.REJECTED: "rejected",
    Status.RETURNED: "returned",
    Status.TIMED_OUT: "timed out",
    Status.SCREENED_OUT: "screened out",
    Status.PARTIALLY_APPROVED: "partially approved",
}
SENTENCES = {
    Status.RESERVED: "Your place is reserved for ten minutes.",
    Status.ACTIVE: "You have begun.",
    Status.AWAITING_REVIEW: "You have completed it. The researcher reviews it within 21 days.",
    Status.APPROVED: "Your work was approved and paid.",
    Status.REJECTED: "Your work was rejected.",
    Status.RETURNED: "You have no place in it any more.",
    Status.TIMED_OUT: "The time for it is over. If you have a code, you can still enter it.",
    Status.SCREENED_OUT: "You were screened out, and paid for your time.",
    Status.PARTIALLY_APPROVED: "Part of your work was approved and paid.",
}


@dataclass(frozen=True)
class PersonRow:
    participant_id: str
    name: str
    described: str
    is_current: bool


@dataclass(frozen=True)
class OfferRow:
    study_id: str
    title: str
    description: str
    reward: str
    hourly: str
    minutes: str
    places: int
    devices: str
    warnings: str


@dataclass(frozen=True)
class WorkRow:
    submission_id: str
    title: str
    status: str
    words: str
    time_left: str
    reward: str
    minutes: str
    paid: str
    bonus: str
    message: str
    reasons: str
    is_reserved: bool
    is_asked_back: bool
    can_go: bool
    can_complete: bool
    can_return: bool


@dataclass(frozen=True)
class EarnedRow:
    participant_id: str
    name: str
    approved: int
    waiting: int
    rewards: str
    bonuses: str


def person_row(one: Participant, current: Participant | None) -> PersonRow:
    country = COUNTRIES.get(str(one.answers.get("current-country-of-residence")), "country unknown")
    age, rate = (one.answers.get(name, "?") for name in ("age", "approval_rate"))
    described = f"{country}, {age}, approval rate {rate}\N{NO-BREAK SPACE}%"
    return PersonRow(one.participant_id, one.name, described, one == current)


def offer_row(offer: StudyOffer) -> OfferRow:
    study = offer.study
    currency, minutes = study.workspace.currency, study.estimated_minutes
    warned = study.fields.get("content_warnings") or []
    return OfferRow(
        study_id=study.study_id,
        title=study.name,
        description=unescape(strip_tags(study.description)),
        reward=money(study.reward_cents, currency),
        hourly=money(round(study.reward_cents * 60 / minutes), currency),
        minutes=count_of(minutes, "minute"),
        places=offer.free_places,
        devices=", ".join(study.fields.get("device_compatibility") or []),
        warnings=study.fields.get("content_warning_details") or ", ".join(warned),
    )


def work_row(work: ProlificSubmission, now: datetime) -> WorkRow:
    study, status = work.study, Status(work.status)
    currency = study.workspace.currency
    paid: dict[bool, int] = {True: 0, False: 0}
    for kind, cents in work.wallet_entries.values_list("kind", "amount_cents"):
        paid[kind == WalletEntry.Kind.BONUS] += cents
    is_under_way = status in (Status.RESERVED, Status.ACTIVE) and work.completed_at is None
    ends_at = work.reserved_at + RESERVATION if status == Status.RESERVED else deadline_of(work)
    is_asked_back = work.return_requested_at is not None and status in (Status.ACTIVE, Status.AWAITING_REVIEW)
    return WorkRow(
        submission_id=work.submission_id,
        title=study.name,
        status=IN_WORDS[status],
        words=SENTENCES[status],
        time_left=count_of(max(0, int((ends_at - now).total_seconds()) // 60), "minute"),
        reward=money(study.reward_cents, currency),
        minutes=count_of(study.estimated_minutes, "minute"),
        paid=money(paid[False], currency),
        bonus=money(paid[True], currency),
        message=work.message,
        reasons="; ".join(work.request_reasons),
        is_reserved=status == Status.RESERVED,
        is_asked_back=is_asked_back,
        can_go=is_under_way,
        can_complete=status in (Status.ACTIVE, Status.TIMED_OUT) and work.completed_at is None,
        can_return=is_under_way or is_asked_back,
    )


def earned_rows() -> list[EarnedRow]:
    """Return who has work here, the first ones if they are many, with what they were paid in each currency."""
    approved, waiting = Q(submissions__status=Status.APPROVED), Q(submissions__status=Status.AWAITING_REVIEW)
    counted = Participant.objects.annotate(
        approved=Count("submissions", filter=approved), waiting=Count("submissions", filter=waiting)
    )
    sums = WalletEntry.objects.order_by().values_list("submission__participant", "kind", "workspace__currency")
    paid: dict[tuple[int, bool], list[str]] = {}
    for pk, kind, currency, cents in sums.annotate(cents=Sum("amount_cents")).order_by("workspace__currency"):
        paid.setdefault((pk, kind == WalletEntry.Kind.BONUS), []).append(money(cents, currency))
    return [
        EarnedRow(
            one.participant_id,
            one.name,
            one.approved,
            one.waiting,
            ", ".join(paid.get((one.pk, False), ["none"])),
            ", ".join(paid.get((one.pk, True), ["none"])),
        )
        for one in counted.filter(submissions__isnull=False).distinct()[:MOST_EARNED_ROWS]
    ]


def money(cents: int, currency: str) -> str:
    return f"{SYMBOLS[currency]}{cents / 100:.2f}"
