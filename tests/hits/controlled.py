"""Studies of tests with attention checks and repeats, and answers to them in any protocol."""

from collections.abc import Callable
from typing import Any

from hits.batching import build_hits
from hits.designing import create_study
from hits.models import HitItem, Study
from hits.protocols import PROTOCOLS, protocol_of
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker
from tests.hits.working import Worker

Answers = Callable[[Worker, HitItem], dict[str, Any]]

CONTROLS = {"attention_checks": 2, "repeats": 2}
ASKING = list(PROTOCOLS)


def built(protocol: str, name: str = "demo", **checkpoints: Any) -> Study:
    """Build the example study with this protocol and controls."""
    rules = {**DEMO["checkpoints"], **CONTROLS, **checkpoints}
    study = create_study({**DEMO, "name": name, "protocol": protocol, "checkpoints": rules, "screening": []})
    build_hits(study)
    study.refresh_from_db()
    return study


def finish(worker: CrowdWorker, answers: Answers) -> CrowdWorker:
    """Answer every item by `answers`, and hand the work in."""
    items = worker.hit.items.all()
    dialogs = [{"position": item.position, "revision": 0, **answers(worker, item)} for item in items]
    response = worker.submit(dialogs)
    assert response.status_code == 200, response.json()
    worker.hand_in(response.json()["fields"])
    return worker


def attentively(worker: Worker, item: HitItem) -> dict[str, Any]:
    """Do what an attention check tells, and have one opinion of each card."""
    return _told(worker, item, 0) if item.told is not None else _opinion(worker, item)


def carelessly(worker: Worker, item: HitItem) -> dict[str, Any]:
    """Answer attention checks otherwise than they tell."""
    return _told(worker, item, 1) if item.told is not None else _opinion(worker, item)


def _told(worker: Worker, item: HitItem, beside: int) -> dict[str, Any]:
    answers = protocol_of(worker.hit.study.parsed_design).told_answers(len(item.cards))
    return dict(answers[((item.told or 0) + beside) % len(answers)].sent)


def _opinion(worker: Worker, item: HitItem) -> dict[str, Any]:
    protocol = protocol_of(worker.hit.study.parsed_design)
    last, cards = len(protocol.scale.values) - 1, cards_on_page(worker, item)
    if protocol.puts_in_order:
        return protocol.sent_by(protocol.levels_in_order([-float(card) for card in cards]))
    return protocol.sent_by([min(card, last) for card in cards])


def by_place(worker: Worker, item: HitItem) -> dict[str, Any]:
    """Answer by the places of the cards, without a look at them."""
    protocol = protocol_of(worker.hit.study.parsed_design)
    last = len(protocol.scale.values) - 1
    return protocol.sent_by([min(place, last) for place in range(len(item.cards))])


def cards_on_page(worker: Worker, item: HitItem) -> list[int]:
    texts = [worker.card_text(item, card) for card in range(len(item.cards))]
    return [texts.index(text) for text in worker.data["dialogs"][item.position]["cards"]]
