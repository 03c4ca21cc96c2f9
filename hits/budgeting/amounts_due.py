"""What a confirmed submission earns: its reward, and the bonus that was won with it, by where its replies stand."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Prefetch, prefetch_related_objects

from evalplatform.wording import count_of
from hits.crowds import fees_of
from hits.models import Offering, Payment, Rating, Submission
from hits.models.design import StudyDesign
from hits.models.submission import SubmissionQuerySet
from hits.protocols import is_won, protocol_of

Kind = Payment.Kind

# What points are made of: where the human replies stand in the end, and the checks.
FOR_POINTS = (
    "assignment__bonus_checks",
    Prefetch("ratings", Rating.objects.filter(candidate=None), to_attr="human_ratings"),
)


def submissions_without_dues(offering: Offering) -> SubmissionQuerySet:
    """Confirmed, and not in the ledger yet: neither rejected nor decided on."""
    of_study = Submission.objects.filter(assignment__offering=offering)
    open_ones = of_study.exclude(payments__kind=Kind.REWARD).exclude(status=Submission.Status.REJECTED)
    wanted = open_ones.select_related("assignment__hit__study").prefetch_related(*FOR_POINTS)
    return wanted.defer("answer_xml")


def dues(offering: Offering, submission: Submission, now: datetime, is_reward_alone: bool = False) -> Iterator[Payment]:
    """Lines for the ledger, not saved."""
    design, fees = offering.study.parsed_design, fees_of(offering)
    reward = design.pay.reward_cents
    yield Payment(
        submission=submission,
        kind=Kind.REWARD,
        cents=reward,
        fee_cents=fees.reward_fee_cents(reward, submission.assignment.hit.assignments),
        intended_at=now,
    )
    bonus, points = design.pay.bonus_cents, bonus_points(design, submission)
    if bonus and points >= design.pay.bonus_points and not submission.problem and not is_reward_alone:
        yield Payment(
            submission=submission,
            kind=Kind.BONUS,
            cents=bonus,
            fee_cents=fees.bonus_fee_cents(bonus),
            reason=f"{count_of(points, 'bonus point')} in “{design.task.title}”. Thank you! {mark(Kind.BONUS)}",
            intended_at=now,
        )


def bonus_points(design: StudyDesign, submission: Submission) -> int:
    """By the attempt that the study counts. Work without answers has no ratings, and so no points."""
    prefetch_related_objects([submission], *FOR_POINTS)  # nothing, where it was done for many at once
    protocol = protocol_of(design)
    checks = submission.assignment.bonus_checks.all()  # prefetched, and so not filtered by the database
    first_checks = {check.item_id: check.is_won for check in checks if check.is_first}
    human: list[Rating] = getattr(submission, "human_ratings")  # noqa: B009 - mypy knows no prefetched names
    return sum(
        is_won(design.checkpoints, rating.value in protocol.passing_values, first_checks.get(rating.item_id))
        for rating in human
        if rating.criterion == protocol.checkpoint_criterion
    )


def mark(kind: str) -> str:
    """At the end of a bonus's reason: by it and the assignment, a bonus of ours is known there for ever."""
    return f"[{kind}]"
