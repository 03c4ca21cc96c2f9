"""A study of the paper's design that was worked on. `python -m benchmarks.ratings_data DIALOGS` fills a database."""

import random
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from benchmarks.batching_data import make_data  # noqa: E402
from hits.batching.building import build_hits  # noqa: E402
from hits.designing.study_files import create_study  # noqa: E402
from hits.models import Answer, Assignment, BonusCheck, Hit, HitItem, Rating, Submission  # noqa: E402

AREAS = ("good", "okay", "bad")
BEGIN = datetime(2026, 11, 16, tzinfo=UTC)
END = BEGIN + timedelta(minutes=15)
HITS_AT_ONCE = 50
HITS_OF_A_WORKER = 20


def main() -> None:
    call_command("migrate", verbosity=0)
    study = create_study(make_data(int(sys.argv[1])))
    build_hits(study)
    hits = list(study.hits.prefetch_related("items"))
    workers = [f"A{number}" for number in range(max(4, 4 * len(hits) // HITS_OF_A_WORKER))]
    rng = random.Random(1)
    for start in range(0, len(hits), HITS_AT_ONCE):
        _fill(hits[start : start + HITS_AT_ONCE], workers, rng)


def _fill(hits: Sequence[Hit], workers: Sequence[str], rng: random.Random) -> None:
    assignments = Assignment.objects.bulk_create(
        Assignment(
            hit=hit, environment="local", mturk_assignment_id=f"{hit.number}-{turn}", mturk_worker_id=worker, turn=turn,
            opened_at=BEGIN, held_at=BEGIN, submitted_at=END,
        )
        for hit in hits
        for turn, worker in enumerate(rng.sample(workers, 4))
    )  # fmt: skip
    submissions = Submission.objects.bulk_create(
        Submission(
            assignment=assignment, status="Approved", accepted_at=BEGIN, submitted_at=END,
            answer_xml="", collected_at=BEGIN,
        )
        for assignment in assignments
    )  # fmt: skip
    answers = Answer.objects.bulk_create(
        _answer(assignment, item, rng) for assignment in assignments for item in assignment.hit.items.all()
    )
    BonusCheck.objects.bulk_create(
        BonusCheck(
            assignment=one.assignment, item=one.item, attempt=1, value=one.value,
            is_won=one.value["areas"][str(_gold(one.item))] != "bad",
            active_ms=1, checked_at=BEGIN,
        )
        for one in answers
        if one.item.is_checkpoint
    )  # fmt: skip
    of_assignment = {submission.assignment_id: submission for submission in submissions}
    Rating.objects.bulk_create(
        rating for answer in answers for rating in _ratings(of_assignment[answer.assignment_id], answer)
    )


def _gold(item: HitItem) -> int:
    return next(number for number, card in enumerate(item.cards) if card["gold"])


def _answer(assignment: Assignment, item: HitItem, rng: random.Random) -> Answer:
    order = list(range(len(item.cards)))
    rng.shuffle(order)
    areas = {str(card): rng.choice(AREAS) for card in order}
    return Answer(
        assignment=assignment,
        item=item,
        card_order=order,
        value={"areas": areas},
        active_ms=rng.randint(20_000, 90_000),
        hidden_ms=rng.choice([0, 0, 5000]),
        saved_at=END,
    )


def _ratings(submission: Submission, answer: Answer) -> Iterator[Rating]:
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


if __name__ == "__main__":
    main()
