"""A study with ratings, made as rows: many of them, quickly. How ratings come about is for other tests."""

import random
from datetime import UTC, datetime, timedelta

from generation.models import Candidate
from hits.models import Answer, Assignment, BonusCheck, HitItem, Publication, Rating, Study, Submission

BEGUN_AT = datetime(2026, 11, 16, 8, tzinfo=UTC)
BEST_FIRST = ("listener-large", "listener-small", "generic", "parrot")
WORKERS = 8


def rate(study: Study, hits: int = 6, workers: int = 4, seed: int = 1) -> None:
    """So many workers rate each of the first HITs: better models better, the human reply best. The last of each HIT
    says good of everything, which the study's own rules leave out."""
    rng = random.Random(seed)
    generators = dict(Candidate.objects.values_list("pk", "generator__name"))
    for hit in study.hits.all()[:hits]:
        items = list(HitItem.objects.filter(hit=hit))
        Publication.objects.get_or_create(
            hit=hit,
            environment="local",
            defaults={"mturk_hit_id": f"HIT{hit.pk}", "intended_at": BEGUN_AT, "published_at": BEGUN_AT},
        )
        for number in range(workers):
            is_careless = number == workers - 1
            name = f"SAME{hit.number}" if is_careless else f"WORKER{(hit.number + number) % WORKERS}"
            submission = _submission(hit.pk, f"{seed}-{hit.pk}-{number}", name, number, 30 * hit.number)
            _answer(submission, items, generators, rng, is_careless)


def _submission(hit_id: int, key: str, worker_id: str, turn: int, minutes: int) -> Submission:
    begun_at = BEGUN_AT + timedelta(minutes=minutes)
    assignment = Assignment.objects.create(
        hit_id=hit_id,
        environment="local",
        mturk_assignment_id=key,
        mturk_worker_id=worker_id,
        turn=turn,
        opened_at=begun_at,
        held_at=begun_at,
        submitted_at=begun_at + timedelta(minutes=12),
    )
    return Submission.objects.create(
        assignment=assignment,
        status=Submission.Status.APPROVED,
        accepted_at=begun_at,
        submitted_at=begun_at + timedelta(minutes=12),
        answer_xml="",
        collected_at=begun_at + timedelta(minutes=15),
    )


def _answer(
    submission: Submission, items: list[HitItem], generators: dict[int, str], rng: random.Random, is_careless: bool
) -> None:
    answers, ratings, checks = [], [], []
    for item in items:
        order = rng.sample(range(len(item.cards)), len(item.cards))
        areas = {}
        for number, card in enumerate(item.cards):
            value = "good" if is_careless else _judge(card, generators, rng)
            areas[str(number)] = value
            for key in [*card["candidates"], *([None] if card["gold"] else [])]:
                place = order.index(number)
                ratings.append(
                    Rating(submission=submission, item=item, candidate_id=key, card=number, place=place, value=value)
                )
        answers.append(
            Answer(
                assignment_id=submission.assignment_id,
                item=item,
                card_order=order,
                value={"areas": areas},
                active_ms=rng.randrange(30_000, 90_000),
                saved_at=submission.submitted_at,
            )
        )
        if item.is_checkpoint:
            checks.append(_won(submission, item, areas))
    BonusCheck.objects.bulk_create(checks)
    Answer.objects.bulk_create(answers)
    Rating.objects.bulk_create(ratings)


def _won(submission: Submission, item: HitItem, areas: dict[str, str]) -> BonusCheck:
    return BonusCheck(
        assignment_id=submission.assignment_id,
        item=item,
        attempt=1,
        value={"areas": areas},
        is_won=areas[str(next(number for number, card in enumerate(item.cards) if card["gold"]))] != "bad",
        active_ms=20_000,
        checked_at=submission.submitted_at,
    )


def _judge(card: dict[str, object], generators: dict[int, str], rng: random.Random) -> str:
    keys = card["candidates"]
    assert isinstance(keys, list)
    rank = 0 if card["gold"] or not keys else 1 + BEST_FIRST.index(generators[keys[0]])
    weights = [8 - 1.5 * rank, 3, 1 + 1.5 * rank]
    return rng.choices(["good", "okay", "bad"], weights)[0]
