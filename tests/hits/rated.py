"""A study with ratings, made as rows: many of them, quickly. How ratings come about is for other tests."""

import random
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from generation.models import Candidate
from hits.models import Publication, Study, offering_for
from hits.models.cards import Card
from simulated_crowd.filling import Done, Judge, fill

BEGUN_AT = datetime(2026, 11, 16, 8, tzinfo=UTC)
BEST_FIRST = ("listener-large", "listener-small", "generic", "parrot")
WORKERS = 8


def rate(study: Study, hits: int = 6, workers: int = 4, seed: int = 1, only: Collection[int] = ()) -> None:
    """So many workers rate each of the first HITs: better models better, the human reply best. The last of each HIT
    says good of everything, which the study's own rules leave out. `only` names the HITs, if not all are rated."""
    judge = judge_carefully()
    work = []
    for hit in study.hits.prefetch_related("items")[:hits]:
        if only and hit.number not in only:
            continue
        Publication.objects.get_or_create(
            hit=hit,
            offering=offering_for(study, "local"),
            defaults={"crowd_hit_id": f"HIT{hit.pk}", "intended_at": BEGUN_AT, "published_at": BEGUN_AT},
        )
        begun_at = BEGUN_AT + timedelta(minutes=30 * hit.number)
        for number in range(workers):
            is_careless = number == workers - 1
            name = f"SAME{hit.number}" if is_careless else f"WORKER{(hit.number + number) % WORKERS}"
            judges = _careless if is_careless else judge
            work.append(Done(hit, name, f"{seed}-{hit.pk}-{number}", number, begun_at, judges))
    fill(work, random.Random(seed))


def judge_carefully() -> Judge:
    return _careful(dict(Candidate.objects.values_list("pk", "generator__name")))


def _careful(generators: dict[int, str]) -> Judge:
    def judge(card: Card, rng: random.Random) -> str:
        keys = card.candidates
        rank = 0 if card.is_gold or not keys else 1 + BEST_FIRST.index(generators[keys[0]])
        weights = [8 - 1.5 * rank, 3, 1 + 1.5 * rank]
        return rng.choices(["good", "okay", "bad"], weights)[0]

    return judge


def _careless(card: Card, rng: random.Random) -> str:
    return "good"
