"""Someone who wants to know which card is the human's, from what is public: the dialogs' ids, the software, a seed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from hits.access import make_token
from hits.batching import manifest_lines
from hits.batching.card_orders import card_order
from hits.designing import order_key
from hits.models import Study
from tests.hits.working import Worker, publish

SEEDS = range(3000)  # of which a default is one, and which any laptop searches in seconds

Order = Callable[[int, str, str, int, int], list[int]]


def seeded_order(seed: int, dataset: str, external_id: str, card_count: int, rotation: int) -> list[int]:
    """As card orders were made before each study drew a secret: from the seed and public names."""
    shuffled = sorted(range(card_count), key=lambda card: order_key(seed, "card", dataset, external_id, card))
    start = rotation % card_count
    return shuffled[start:] + shuffled[:start]


@dataclass(frozen=True)
class Seen:
    """A dialog as a worker saw it: public names, the rotation from their copy, and its truth, which the test knows."""

    dataset: str
    external_id: str
    rotation: int
    order: list[int]
    has_gold: bool

    def is_guessed(self, order: Order, seed: int) -> bool:
        return order(seed, self.dataset, self.external_id, len(self.order), self.rotation) == self.order

    def gold_is_guessed(self, order: Order, seed: int) -> bool:
        """The human reply is the last card by number: who knows the order knows its place."""
        guessed = order(seed, self.dataset, self.external_id, len(self.order), self.rotation)
        return guessed.index(len(guessed) - 1) == self.order.index(len(self.order) - 1)


def search_seed(won: Sequence[Seen], order: Order) -> list[int]:
    """The seeds that agree with every bonus point that the attackers have won together."""
    return [seed for seed in SEEDS if all(seen.gold_is_guessed(order, seed) for seen in won)]


def seen_by(worker: Worker) -> list[Seen]:
    worker.open()
    (copy,) = [json.loads(worker.submit().json()["fields"]["answers"])]
    items = list(worker.hit.items.select_related("dialog__dataset"))
    return [
        Seen(
            item.dialog.dataset.name,
            item.dialog.external_id,
            copy["rotation"],
            _order_of(worker, item, dialog["cards"]),
            item.is_checkpoint and item.cards[-1].is_gold,
        )
        for item, dialog in zip(items, worker.data["dialogs"], strict=True)
    ]


def _order_of(worker: Worker, item: Any, shown: list[str]) -> list[int]:
    texts = [worker.card_text(item, card) for card in range(len(item.cards))]
    return [texts.index(text) for text in shown]


def with_seeded_orders(seen: Sequence[Seen], seed: int) -> list[Seen]:
    """The same dialogs as a page of the older scheme would have shown them."""
    return [
        Seen(
            one.dataset,
            one.external_id,
            one.rotation,
            seeded_order(seed, one.dataset, one.external_id, len(one.order), one.rotation),
            one.has_gold,
        )
        for one in seen
    ]


@pytest.fixture
def pages(demo_study: Study) -> list[Seen]:
    """Six workers' pages: of all HITs."""
    publish(demo_study)
    return [seen for hit in demo_study.hits.all() for seen in seen_by(Worker(hit, f"W{hit.number}", f"A{hit.number}"))]


def test_the_attack_finds_every_card_where_orders_come_from_a_seed(pages: list[Seen]) -> None:
    old = with_seeded_orders(pages, seed=2021)
    known, unseen = old[:50], old[50:]

    (seed,) = search_seed([seen for seen in known if seen.has_gold], seeded_order)

    assert seed == 2021
    assert all(seen.is_guessed(seeded_order, seed) for seen in unseen)
    assert sum(len(seen.order) for seen in unseen) > 40
    assert sum(seen.gold_is_guessed(seeded_order, seed) for seen in unseen if seen.has_gold) == 3


def test_the_attack_finds_nothing_where_orders_come_from_the_study_s_secret(
    pages: list[Seen], demo_study: Study
) -> None:
    won = [seen for seen in pages if seen.has_gold]

    assert search_seed(won[:15], seeded_order) == []
    assert search_seed(won[:15], lambda seed, *names: card_order(seed.to_bytes(16), *names)) == []
    assert sum(seen.is_guessed(seeded_order, 2021) for seen in pages) < 10  # of 60; by chance, two
    for public in _public_keys(demo_study):
        assert _guessed_with(public, pages) < 10
    assert _guessed_with(bytes.fromhex(demo_study.order_secret), pages) == 60


def _guessed_with(secret: bytes, pages: Sequence[Seen]) -> int:
    return sum(seen.is_guessed(lambda _, *names: card_order(secret, *names), 0) for seen in pages)


def _public_keys(study: Study) -> Iterator[bytes]:
    """What an outsider may know of a study and take for its secret."""
    commitment = (study.manifest or {})["card_order_commitment"]
    for text in (commitment, study.manifest_hash, study.key.hex, f"{study.design['seed']:032x}"):
        yield bytes.fromhex(text)
        yield bytes.fromhex(text)[:16]
    yield study.name.encode()


def test_what_a_page_and_its_copy_carry_gives_nothing_away(demo_study: Study) -> None:
    publish(demo_study)
    hit = demo_study.hits.get(number=0)
    carried = [_everything_sent_to(Worker(hit, f"W{number}", f"A{number}")) for number in range(6)]

    secrets = {demo_study.order_secret, demo_study.manifest_hash, (demo_study.manifest or {})["card_order_commitment"]}
    secrets |= set(demo_study.design["generators"])
    for texts in carried:
        assert not [secret for secret in secrets if any(secret in text for text in texts)]
    # The same cards in other orders, and not a byte more or less that would tell which.
    assert len({tuple(len(text) for text in texts) for texts in carried}) == 1
    for texts in carried:
        page, copy = json.loads(texts[0]), json.loads(texts[1])
        assert set(page["dialogs"][0]) == {"turns", "cards", "has_bonus", "answer", "bonus", "problem"}
        for dialog in copy["dialogs"]:
            assert list(dialog["areas"]) == [str(place) for place in range(len(dialog["areas"]))]


def _everything_sent_to(worker: Worker) -> list[str]:
    """The page's data and the copy, in the order of their own keys, without what names worker and assignment."""
    worker.open()
    copy = worker.submit().json()["fields"]["answers"]
    page = {**worker.data, "token": "", "seconds_used": 0}
    return [json.dumps(page), copy]


def test_pages_of_two_workers_differ_only_in_the_order_of_the_cards(demo_study: Study) -> None:
    publish(demo_study)
    hit = demo_study.hits.get(number=0)
    pages = [Worker(hit, f"W{number}", f"A{number}").open().data for number in range(8)]

    without_order = [[{**dialog, "cards": sorted(dialog["cards"])} for dialog in page["dialogs"]] for page in pages]
    assert all(page == without_order[0] for page in without_order)
    assert len({json.dumps(page["dialogs"]) for page in pages}) > 1


def test_nothing_that_researchers_download_or_see_holds_the_secret_while_the_study_runs(
    demo_study: Study, researcher: User, client: Client
) -> None:
    publish(demo_study)
    researcher.is_staff = researcher.is_superuser = True
    researcher.save()
    client.force_login(researcher)
    hit = demo_study.hits.get(number=0)
    Worker(hit).open()
    token = {"Authorization": f"Token {make_token(researcher, 'attack', timezone.now())}"}
    addresses = [
        f"/studies/{demo_study.name}/",
        f"/studies/{demo_study.name}/hits/{hit.number}/",
        f"/studies/{demo_study.name}/monitor/",
        f"/api/studies/{demo_study.key}/",
        f"/admin/hits/study/{demo_study.pk}/change/",
    ]

    for address in addresses:
        answer = client.get(address, headers=token)
        assert answer.status_code == 200, address
        assert demo_study.order_secret not in answer.content.decode(), address
    assert demo_study.order_secret.encode() not in b"".join(manifest_lines(demo_study))
