"""Put simulated work straight into the database: finished assignments with their answers, checks and ratings.

In: who did which HIT, how they judge a card, a seeded random generator. Out: the rows that collecting would leave,
without pages and without a marketplace. Guaranteed: the same seed gives the same rows; each call takes a fixed number
of statements, so that benchmarks can fill a database with millions of ratings. simulated_crowd.drawing does the same
for frames.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hits.collecting import CONTROL_COUNTS, count_controls, ratings_from_answer
from hits.models import Answer, Assignment, BonusCheck, Hit, HitItem, Rating, Submission, offering_for
from hits.models.cards import Card
from hits.protocols import Protocol, protocol_of

MINUTES = 12
BATCH = 5_000

Judge = Callable[[Card, random.Random], str]  # a card -> its rating, one of the protocol's values


@dataclass(frozen=True)
class Done:
    """One worker's work on one HIT. `opening_rank` says how many opened the HIT before them."""

    hit: Hit
    worker_id: str
    key: str  # of the assignment
    opening_rank: int
    begun_at: datetime
    judge: Judge


def fill(work: Sequence[Done], rng: random.Random, marketplace: str = "local") -> None:
    studies = {one.hit.study_id: one.hit.study for one in work}
    offerings = {key: offering_for(study, marketplace) for key, study in studies.items()}
    assignments = Assignment.objects.bulk_create(
        Assignment(
            hit=one.hit,
            offering=offerings[one.hit.study_id],
            crowd_assignment_id=one.key,
            crowd_worker_id=one.worker_id,
            rotation=one.opening_rank,
            opened_at=one.begun_at,
            held_at=one.begun_at,
            submitted_at=one.begun_at + timedelta(minutes=MINUTES),
        )
        for one in work
    )
    submissions = Submission.objects.bulk_create(
        Submission(
            assignment=assignment,
            status=Submission.Status.APPROVED,
            origin=Submission.Origin.SIMULATION,
            accepted_at=assignment.opened_at,
            submitted_at=assignment.opened_at + timedelta(minutes=MINUTES),
            answer_xml="",
            collected_at=assignment.opened_at + timedelta(minutes=MINUTES + 3),
        )
        for assignment in assignments
    )
    protocol = protocol_of(work[0].hit.study.parsed_design)
    answers = [
        _make_answer(protocol, submission, item, one.judge, rng)
        for one, submission in zip(work, submissions, strict=True)
        for item in one.hit.items.all()
    ]
    Answer.objects.bulk_create(answers, BATCH)
    checks = (
        _make_check(one, protocol.passes(one.value, gold))
        for one in answers
        if (gold := one.item.gold_card) is not None
    )
    BonusCheck.objects.bulk_create(checks, BATCH)
    by_assignment = {submission.assignment_id: submission for submission in submissions}
    _count_controls(protocol, answers, by_assignment)
    ratings = (
        rating
        for one in answers
        for rating in ratings_from_answer(protocol, by_assignment[one.assignment_id], one, one.item)
    )
    Rating.objects.bulk_create(ratings, BATCH)


def _make_answer(
    protocol: Protocol[Any], submission: Submission, item: HitItem, judge: Judge, rng: random.Random
) -> Answer:
    order = rng.sample(range(len(item.cards)), len(item.cards))
    levels = [protocol.scale.values.index(judge(card, rng)) for card in item.cards]
    sent = protocol.sent_by([levels[card] for card in order])
    if item.told is not None:
        sent = protocol.told_answers(len(order))[item.told].sent
    return Answer(
        assignment_id=submission.assignment_id,
        item=item,
        card_order=order,
        value=protocol.read(sent, order),
        active_ms=rng.randrange(30_000, 90_000),
        saved_at=submission.submitted_at,
    )


def _count_controls(
    protocol: Protocol[Any], answers: Sequence[Answer], by_assignment: Mapping[int, Submission]
) -> None:
    """Note what controls tell, where there are any. Everybody here does what attention checks tell."""
    if not protocol.design.checkpoints.controls:
        return
    of_assignment: dict[int, list[Answer]] = {}
    for one in answers:
        of_assignment.setdefault(one.assignment_id, []).append(one)
    for key, theirs in of_assignment.items():
        count_controls(protocol, [one.item for one in theirs], theirs).note(by_assignment[key])
    Submission.objects.bulk_update(by_assignment.values(), CONTROL_COUNTS, BATCH)


def _make_check(answer: Answer, is_passed: bool) -> BonusCheck:
    """Make the worker's only check, at the end."""
    return BonusCheck(
        assignment_id=answer.assignment_id,
        item=answer.item,
        attempt=1,
        value=answer.value,
        is_passed=is_passed,
        active_ms=20_000,
        checked_at=answer.saved_at,
    )
