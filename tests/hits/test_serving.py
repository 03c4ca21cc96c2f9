"""Room 4: openings and answers."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from hits.batching import build_hits
from hits.designing.studies import create_study
from hits.models import Answer, Assignment, Hit, Study
from hits.serving import DialogsMetBefore, open_assignment, order_for, save_answer
from tests.hits.conftest import DEMO

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def opened(hit: Hit, number: int, worker: str = "") -> Assignment:
    return open_assignment(hit, "local", f"assignment-{number}", worker or f"worker-{number}", NOW)


def test_the_same_opening_again_is_the_same_assignment(demo_study: Study) -> None:
    hit = demo_study.hits.get(number=0)

    assert opened(hit, 1).pk == opened(hit, 1).pk
    assert opened(hit, 2).turn == 1


def test_an_assignment_that_comes_to_another_worker_is_another_one(demo_study: Study) -> None:
    hit = demo_study.hits.get(number=0)

    assert opened(hit, 1, "A").pk != opened(hit, 1, "B").pk


def test_no_worker_meets_the_dialogs_of_a_split_hit_twice(example_corpus: None) -> None:
    study = create_study({**DEMO, "hits": {"assignments": 10}})
    build_hits(study)
    first, second = study.hits.filter(block=0)
    opened(first, 1, "A")

    with pytest.raises(DialogsMetBefore, match="in another HIT already"):
        opened(second, 2, "A")
    assert opened(second, 3, "B").turn == 1
    assert opened(study.hits.filter(block=1)[0], 4, "A").turn == 0


def test_the_order_is_stored_with_the_answer_and_balanced_over_the_workers_of_a_hit(demo_study: Study) -> None:
    hit = demo_study.hits.get(number=0)
    item = hit.items.filter(is_checkpoint=False)[0]
    places: Counter[tuple[int, int]] = Counter()
    for number in range(4):
        assignment = opened(hit, number)
        answer = save_answer(assignment, item, {"areas": {"0": "good"}}, NOW)
        assert answer.card_order == order_for(assignment, item)
        places.update((card, place) for place, card in enumerate(answer.card_order))

    assert set(places.values()) == {1}  # four cards, four workers: each card at each place once


def test_an_answer_of_any_protocol_fits_and_the_last_save_counts(demo_study: Study) -> None:
    hit = demo_study.hits.get(number=0)
    assignment, item = opened(hit, 1), hit.items.all()[0]

    save_answer(assignment, item, {"areas": {"0": "good", "1": "bad"}}, NOW)
    save_answer(assignment, item, {"likert": {"0": 4}, "comparison": {"0:1": "tie"}}, NOW)

    assert Answer.objects.get().value == {"likert": {"0": 4}, "comparison": {"0:1": "tie"}}
