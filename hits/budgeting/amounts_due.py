"""Computes what a confirmed submission earns: its reward, and the bonus if enough checkpoints were won."""

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

# The rows that decide about points: the final ratings of the human replies, and the checks.
FOR_POINTS = (
    "assignment__bonus_checks",
    Prefetch("ratings", Rating.objects.filter(candidate=None), to_attr="human_ratings"),
)


def submissions_without_dues(offering: Offering) -> SubmissionQuerySet:
    """Return confirmed submissions that are not in the ledger yet and may earn something."""
    of_study = Submission.objects.filter(assignment__offering=offering)
    open_ones = of_study.exclude(payments__kind=Kind.REWARD).exclude(status__in=Submission.EARNS_NOTHING)
    wanted = open_ones.select_related("assignment__hit__study").prefetch_related(*FOR_POINTS)
    return wanted.defer("answer_xml")


def dues(offering: Offering, submission: Submission, now: datetime, is_reward_alone: bool = False) -> Iterator[Payment]:
    """Yield the submission's lines for the ledger, without saving them."""
    design, fees = offering.study.parsed_design, fees_of(offering)
    reward = design.pay.reward_cents
    if not reward:
        return  # an unpaid study
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
            reason=f"{count_of(points, 'bonus point')} in “{design.task.title}”. Thank you! {bonus_mark(Kind.BONUS)}",
            intended_at=now,
        )


def bonus_points(design: StudyDesign, submission: Submission) -> int:
    """Return the points won, by the attempt that the study counts. Work without answers has no ratings, and so no
    points."""
    prefetch_related_objects([submission], *FOR_POINTS)  # does nothing if they were prefetched for many at once
    protocol = protocol_of(design)
    checks = submission.assignment.bonus_checks.all()  # prefetched, so we filter here and not in the database
    first_checks = {check.item_id: check.is_passed for check in checks if check.is_first}
    human: list[Rating] = getattr(submission, "human_ratings")  # noqa: B009 - mypy knows no prefetched names
    return sum(
        is_won(design.checkpoints, protocol.value_passes(rating.value), first_checks.get(rating.item_id))
        for rating in human
        if rating.criterion == protocol.checkpoint_criterion
    )


def bonus_mark(kind: str) -> str:
    """Return the mark at the end of a bonus's reason. With the assignment's id, it identifies our bonuses for ever."""
    return f"[{kind}]"
