"""Work put straight into the database: finished assignments with their answers, checks and ratings.

In: who did which HIT, how they judge a card, a seeded generator of chance. Out: rows as collecting leaves them, without
pages and without a marketplace. Guaranteed: the same seed gives the same rows; a fixed number of statements for each
call, so that benchmarks can fill a database with millions of ratings. simulated_crowd.drawing does the same for frames.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hits.models import Answer, Assignment, BonusCheck, Hit, HitItem, Rating, Submission, offering_for

MINUTES = 12
PASSES = ("good", "okay")
BATCH = 5_000

Judge = Callable[[dict[str, Any], random.Random], str]  # a card -> the area that it is put into


@dataclass(frozen=True)
class Done:
    """One worker's work on one HIT. `opening_rank` says how many opened the HIT before them."""

    hit: Hit
    worker_id: str
    key: str  # of the assignment
    opening_rank: int
    begun_at: datetime
    judge: Judge


def fill(work: Sequence[Done], rng: random.Random, environment: str = "local") -> None:
    studies = {one.hit.study_id: one.hit.study for one in work}
    offerings = {key: offering_for(study, environment) for key, study in studies.items()}
    assignments = Assignment.objects.bulk_create(
        Assignment(
            hit=one.hit,
            offering=offerings[one.hit.study_id],
            crowd_assignment_id=one.key,
            crowd_worker_id=one.worker_id,
            turn=one.opening_rank,
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
            accepted_at=assignment.opened_at,
            submitted_at=assignment.opened_at + timedelta(minutes=MINUTES),
            answer_xml="",
            collected_at=assignment.opened_at + timedelta(minutes=MINUTES + 3),
        )
        for assignment in assignments
    )
    answers = [
        _answer(submission, item, one.judge, rng)
        for one, submission in zip(work, submissions, strict=True)
        for item in one.hit.items.all()
    ]
    Answer.objects.bulk_create(answers, BATCH)
    BonusCheck.objects.bulk_create((_check(one) for one in answers if one.item.is_checkpoint), BATCH)
    by_assignment = {submission.assignment_id: submission for submission in submissions}
    ratings = (rating for one in answers for rating in _ratings(by_assignment[one.assignment_id], one))
    Rating.objects.bulk_create(ratings, BATCH)


def _answer(submission: Submission, item: HitItem, judge: Judge, rng: random.Random) -> Answer:
    return Answer(
        assignment_id=submission.assignment_id,
        item=item,
        card_order=rng.sample(range(len(item.cards)), len(item.cards)),
        value={"areas": {str(number): judge(card, rng) for number, card in enumerate(item.cards)}},
        active_ms=rng.randrange(30_000, 90_000),
        saved_at=submission.submitted_at,
    )


def _check(answer: Answer) -> BonusCheck:
    """The worker checks once, at the end."""
    gold = next(number for number, card in enumerate(answer.item.cards) if card["gold"])
    return BonusCheck(
        assignment_id=answer.assignment_id,
        item=answer.item,
        attempt=1,
        value=answer.value,
        is_won=answer.value["areas"][str(gold)] in PASSES,
        active_ms=20_000,
        checked_at=answer.saved_at,
    )


def _ratings(submission: Submission, answer: Answer) -> Iterator[Rating]:
    """One for each model that a card stands for."""
    for place, number in enumerate(answer.card_order):
        card = answer.item.cards[number]
        for candidate in [*card["candidates"], *([None] if card["gold"] else [])]:
            yield Rating(
                submission=submission,
                item=answer.item,
                candidate_id=candidate,
                card=number,
                place=place,
                value=answer.value["areas"][str(number)],
            )
