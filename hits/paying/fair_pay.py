"""Computes what an hour of work really pays, and tops up workers who were paid less than they should be."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import quantiles

from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import bonus_mark, waiting_for_decision, within_budget
from hits.collecting import counted_minutes
from hits.crowds import fees_of
from hits.models import Event, Offering, Payment, Submission
from hits.models.money import money
from hits.models.submission import SubmissionQuerySet

FEWEST = 2  # quartiles of a single submission would say nothing


@dataclass(frozen=True)
class RealPay:
    """How long the work took, and what that pays an hour. Only active time counts (hits.collecting): the time with the
    tab in front, from the first dialog to the last."""

    count: int
    minutes_quartiles: tuple[float, float, float]
    hourly_cents: int  # the reward over the median time

    @property
    def median_minutes(self) -> float:
        return self.minutes_quartiles[1]


@dataclass(frozen=True)
class TopUp:
    """A proposed bonus of the same amount for each of these submissions. Nothing is saved until it is confirmed."""

    offering: Offering
    hourly_cents: int
    cents_each: int
    submissions: Sequence[Submission]

    @property
    def fee_cents_each(self) -> int:
        return fees_of(self.offering).bonus_fee_cents(self.cents_each)

    @property
    def total_cents(self) -> int:
        return len(self.submissions) * (self.cents_each + self.fee_cents_each)


def real_pay(offering: Offering) -> RealPay | None:
    """Return the real hourly pay, or None while there are too few submissions for a median."""
    minutes = worked_minutes(offering)
    if len(minutes) < FEWEST or not any(minutes):
        return None
    low, middle, high = quantiles(minutes, n=4, method="inclusive")
    reward = offering.study.parsed_design.pay.reward_cents
    return RealPay(len(minutes), (low, middle, high), round(reward * 60 / middle) if middle else 0)


def propose_top_up(offering: Offering, hourly_cents: int) -> TopUp:
    """Propose a top-up that brings the median worker to this hourly rate. Every submission gets the same amount."""
    pay = real_pay(offering)
    if pay is None:
        raise EvalPlatformError("There are too few submissions to know how long the work takes.")
    reward = offering.study.parsed_design.pay.reward_cents
    # Rounded up to the cent, so that the median worker gets no less than the rate.
    each = -(-round(hourly_cents * pay.median_minutes) // 60) - reward
    if each <= 0:
        raise EvalPlatformError(f"The median worker gets {money(pay.hourly_cents, offering.currency)} an hour already.")
    waiting = _unrejected_submissions(offering).exclude(payments__kind=Payment.Kind.TOP_UP)
    waiting = waiting.with_answers().exclude(pk__in=waiting_for_decision(offering))
    return TopUp(offering, hourly_cents, each, list(waiting))


def confirm_top_up(top_up: TopUp, by: User | None, now: datetime) -> None:
    """Write the top-up to the ledger; the next sync pays it. Refuse it if it exceeds the study's budget."""
    with within_budget(top_up.offering, "This top-up", "Choose a lower rate."):
        _save_top_up(top_up, by, now)


def _save_top_up(top_up: TopUp, by: User | None, now: datetime) -> None:
    reason = f"A top-up, since the HIT took longer than we thought. Thank you! {bonus_mark(Payment.Kind.TOP_UP)}"
    Payment.objects.bulk_create(
        [
            Payment(
                submission=submission,
                kind=Payment.Kind.TOP_UP,
                cents=top_up.cents_each,
                fee_cents=top_up.fee_cents_each,
                reason=reason,
                intended_at=now,
            )
            for submission in top_up.submissions
        ],
        ignore_conflicts=True,
    )
    amount = money(top_up.cents_each, top_up.offering.currency)
    text = f"confirmed a top-up of {amount} each for {count_of(len(top_up.submissions), 'submission')}"
    Event.objects.create(study=top_up.offering.study, at=now, actor=by, text=text)


def _unrejected_submissions(offering: Offering) -> SubmissionQuerySet:
    of_study = Submission.objects.filter(assignment__offering=offering)
    return of_study.exclude(status__in=Submission.EARNS_NOTHING)


def worked_minutes(offering: Offering) -> list[float]:
    """Return the active minutes of each submission that counts for pay, the shortest first."""
    confirmed = _unrejected_submissions(offering).with_answers().defer("answer_xml")
    return sorted(counted_minutes([one.assignment for one in confirmed.select_related("assignment")]).values())
