"""A study of compared replies whose votes are made as rows, so that a test can say who voted what on which item."""

import random
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User

from hits.crowds import open_crowd
from hits.designing import create_study
from hits.models import Hit, HitItem, Offering, Submission, offering_for
from hits.models.cards import Card
from hits.publishing import plan_publishing, publish_hits
from simulated_crowd.filling import Done, Judge, fill
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.rated import BEGUN_AT

PAGE = "https://eval.example.org/work"
MODELS = ["listener-large", "parrot"]
EACH = ("win", "loss", "tie")  # three votes that all differ
LEVELS = {"win": (0, 2), "loss": (2, 0), "tie": (0, 0)}  # of the two cards

Said = Callable[[HitItem, int], str]  # what the worker of this number says of an item's first card


def design(**changes: Any) -> dict[str, Any]:
    """Sixty dialogs in six HITs of ten, three of them checkpoints; three votes each, and a fourth where they differ."""
    return {
        **DEMO,
        "protocol": "pairs",
        "generators": MODELS,
        "hits": {"assignments": 3},
        "analysis": {"verdicts": "fourth vote"},
        "screening": [],
        **changes,
    }


def offered(market: Any, marketplace: str = "local", **changes: Any) -> Offering:
    study = create_study(design(**changes), User.objects.first())
    snapshots.build(study)
    study.refresh_from_db()
    offering = offering_for(study, marketplace)
    publish_hits(plan_publishing(offering), market or open_crowd(offering), PAGE, lambda: BEGUN_AT)
    return offering


def vote(offering: Offering, said: Said, hits: Iterable[Hit] | None = None, workers: int = 3, who: str = "W") -> None:
    """Let so many people vote on each of these HITs (all frozen ones unless given), each person on one HIT."""
    work = []
    chosen = offering.study.hits.frozen() if hits is None else hits
    for hit in chosen:
        items = list(hit.items.all())
        for number in range(workers):
            name = f"{who}{hit.number}-{number}"
            begun_at = BEGUN_AT + timedelta(minutes=hit.number)
            work.append(Done(hit, name, f"{name}-{hit.pk}", number, begun_at, _judge(items, said, number)))
    fill(work, random.Random(1), offering.marketplace)
    Submission.objects.filter(assignment__offering=offering).update(status=Submission.Status.APPROVED)


def items_of(offering: Offering) -> list[HitItem]:
    """The frozen items on which two models are compared."""
    found = HitItem.objects.filter(hit__study=offering.study, copy_of=None, is_checkpoint=False)
    return list(found.order_by("hit__number", "position"))


def differing_on(some: Iterable[HitItem]) -> Said:
    """All three say different things of some items, and "win" of all others."""
    keys = {one.pk for one in some}
    return lambda item, number: EACH[number % 3] if item.pk in keys else "win"


def _judge(items: list[HitItem], said: Said, number: int) -> Judge:
    by_candidate = {
        pk: (item, place) for item in items for place, card in enumerate(item.cards) for pk in card.candidates
    }

    def judge(card: Card, rng: random.Random) -> str:
        if not card.candidates:  # the human reply
            return "win"
        item, place = by_candidate[card.candidates[0]]
        level = LEVELS[said(item, number)][min(place, 1)]
        return ("win", "tie", "loss")[level]

    return judge
