"""Sides of pairs: each worker sees each model of a pair on each side equally often, over all of their HITs."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from generation.models import Candidate
from hits.collecting import collect
from hits.crowds import CROWDS
from hits.crowds.mturk.client import MTurkMarket
from hits.exporting import check_bundle, export_bundle
from hits.models import Answer, Assignment, Offering, Publication, Rating
from hits.serving.frozen import frozen_hit
from tests.hits.arrivals import CROWD, START, Study
from tests.hits.crowd import CrowdWorker, people
from tests.hits.toy_study_crowd import WholeCrowd
from tests.hits.voted import offered

MODELS = ["generic", "listener-large", "parrot"]  # three pairs; two or three items of each in a HIT of seven


def shown_sides(offering: Offering) -> Iterator[tuple[str, frozenset[str], tuple[int, int], int]]:
    """Yield, for each item that somebody opened: the worker, the pair, block and position, and 1 if the first of the
    two stood on the left; nothing of checkpoints."""
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    for one in Assignment.objects.filter(offering=offering).select_related("hit"):
        for item in frozen_hit(offering.study.key, one.hit.number, offering).items:
            if item.card_count != 2 or item.gold_card is not None:
                continue
            order = item.order(one.rotation, one.turned)
            pair = frozenset(names[pk] for card in item.cards for pk in card.candidates)
            yield one.crowd_worker_id, pair, (one.hit.block, item.position), 1 if order[0] == 0 else -1


def imbalances(offering: Offering) -> tuple[set[int], Counter[int]]:
    """Return by how much the sides differ for each worker and pair, and for each item."""
    of_workers: dict[Any, int] = defaultdict(int)
    of_items: dict[Any, int] = defaultdict(int)
    for worker, pair, item, side in shown_sides(offering):
        of_workers[worker, pair] += side
        of_items[item] += side
    return {abs(one) for one in of_workers.values()}, Counter(abs(one) for one in of_items.values())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sides_are_balanced_within_one_for_each_worker_however_many_hits_they_do(
    seed: int, example_corpus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CROWDS, "whole", WholeCrowd())
    pay = {"approval": "by hand"}
    offering = offered(None, "whole.panel", generators=MODELS, crowd=CROWD, pay=pay, analysis={})
    study, rng = Study(offering), random.Random(seed)
    arrivals = [f"p{number}" for number in range(3) for _ in range(6)]  # three people, who do all six HITs
    rng.shuffle(arrivals)

    for number, worker in enumerate(arrivals):
        study.arrive(worker, START, f"session-{number}")
        of_workers, _ = imbalances(offering)
        assert of_workers <= {0, 1}

    of_workers, of_items = imbalances(offering)
    assert of_workers <= {0, 1}
    assert of_items.keys() <= {1, 3}  # three have seen each item
    assert of_items[3] <= 0.1 * of_items.total()


def test_sides_are_balanced_where_the_crowd_hands_out_the_hits(
    example_corpus: None, researcher: User, market: MTurkMarket
) -> None:
    offering = offered(market, generators=MODELS, analysis={})

    for account in people()[:3]:
        for hit in offering.study.hits.all()[:3]:
            CrowdWorker(hit, account)

    assert imbalances(offering)[0] <= {0, 1}
    assert any(Assignment.objects.values_list("turned", flat=True))


def test_what_a_worker_saw_is_stored_with_the_answers_also_when_they_come_back_from_the_crowd(
    example_corpus: None, researcher: User, market: MTurkMarket, tmp_path: Path
) -> None:
    offering = offered(market, analysis={})
    [*hits] = offering.study.hits.all()[:3]
    account = people()[0]
    for hit in hits:
        worker = CrowdWorker(hit, account)
        said = [
            {"position": number, "revision": 0, "better": {"overall": "first"}, "why": ""}
            for number in range(len(worker.data["dialogs"]))
        ]
        worker.hand_in(worker.submit(said).json()["fields"])
    [turned_before] = {tuple(map(tuple, Assignment.objects.order_by("pk").values_list("turned", flat=True)))}
    Answer.objects.all().delete()
    Assignment.objects.update(turned=[], submitted_at=None)

    collect(offering, market, datetime.now(UTC))

    assert any(turned_before)
    assert tuple(map(tuple, Assignment.objects.order_by("pk").values_list("turned", flat=True))) == turned_before
    won_on_the_left = {("win", 0), ("loss", 1)}  # whoever always says "first"
    assert set(Rating.objects.values_list("value", "place")) <= won_on_the_left
    Publication.objects.update(closed_at=datetime.now(UTC))
    export_bundle(offering, tmp_path / "bundle")
    assert check_bundle(tmp_path / "bundle") == []
    assert "up to the pairs that are marked as turned" in (tmp_path / "bundle" / "README.md").read_text()
