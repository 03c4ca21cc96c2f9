"""Describes how a bundle's cards were ordered, and checks it; hits/budgeting/places.py decides when to reveal it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from hits.batching import ORDER_COMMITMENT, commitment_to, shuffle_cards
from hits.exporting.about import About
from hits.exporting.columns import TURNED

# By block and position: of each card, who wrote it, and whether it is the human reply. A dialog may stand in several
# blocks, with other replies in each, so that its name says too little.
Place = tuple[int, int]
Cards = dict[Place, list[tuple[frozenset[str], bool]]]

WITHHELD = (
    "The order of the cards comes from a secret, to which the manifest commits. It is withheld in this bundle, because "
    "HITs of the study were still on a marketplace when it was made: a bundle that is made later reveals it."
)
REVEALED = (
    "The order of the cards comes from the secret `{secret}`. The manifest commits to it "
    "(`card_order_commitment`), so that it can't have been chosen afterwards; `check_bundle` recomputes every order, "
    "up to the rotation by which workers of the same dialogs differ, and up to the pairs that are marked as turned."
)


def describe_orders(about: About) -> str:
    return REVEALED.format(secret=about.card_order_secret) if about.card_order_secret else WITHHELD


def wrong_orders(folder: Path, about: About, frame: pd.DataFrame) -> Iterator[str]:
    """Describe whatever contradicts the manifest's commitment, or the secret that the bundle reveals."""
    manifest = folder / "manifest.jsonl"
    if not manifest.is_file():
        return  # the bundle has ratings only, or a file is missing, which the hashes show
    if shown := _shown_though_dropped(frame, about):
        yield f"{shown:,} ratings are of models that had been dropped before their HIT was published"
    content = manifest.read_bytes()
    if not about.card_order_secret:
        return
    try:
        head = json.loads(content.split(b"\n", 1)[0])
        secret = bytes.fromhex(about.card_order_secret)
    except ValueError:
        yield "manifest.jsonl or the secret of the card orders in bundle.json can't be read"
        return
    if head.get(ORDER_COMMITMENT) != commitment_to(secret):
        yield "the secret of the card orders is not the one that manifest.jsonl commits to"
    if wrong := _assignments_in_another_order(frame, secret, _cards_of(content), about.dropped_models):
        yield f"the cards of {wrong:,} assignments stood in another order than the secret gives"


def _cards_of(manifest: bytes) -> Cards:
    """Return the generators of each card of each item. A comparison is rated on one of its cards, so the ratings
    don't name them all."""
    try:
        lines = [json.loads(line) for line in manifest.splitlines()[1:]]
        return {
            (int(one["block"]), int(one["position"])): [
                (frozenset(candidate["generator"] for candidate in card["candidates"]), bool(card["gold"]))
                for card in one["cards"]
            ]
            for one in lines
        }
    except (ValueError, TypeError, LookupError):
        return {}  # this is not the manifest that was frozen, which its hash shows


def _shown_though_dropped(frame: pd.DataFrame, about: About) -> int:
    """Count ratings of a model in HITs that left it out."""
    if not about.dropped_models:
        return 0
    generators, hits = frame["generator"].astype(object), frame["hit"]
    return sum(int(((hits == hit) & generators.isin(names)).sum()) for hit, names in about.dropped_models.items())


def _assignments_in_another_order(
    frame: pd.DataFrame, secret: bytes, known: Cards, dropped_models: Mapping[int, list[str]]
) -> int:
    """Count assignments whose cards don't follow the secret. In all its dialogs, an assignment's cards are rotated by
    the same number of places, modulo the number of cards that its HIT shows, and pairs that are turned by one more."""
    cards = frame[["assignment", "hit", "block", "position", "dataset", "external_id", "card", "place"]]
    last_cards = cards.groupby(["block", "position"])["card"].max().to_dict()
    ranks: dict[tuple[Place, tuple[str, ...]], dict[int, tuple[int, int]]] = {}

    def ranks_of(item: Place, dialog: tuple[str, str], gone: tuple[str, ...]) -> dict[int, tuple[int, int]]:
        """Return each shown card's rank in the first rotation, and how many cards are shown."""
        if (item, gone) not in ranks:
            made = known.get(item, [])
            shuffled = shuffle_cards(secret, *dialog, max(last_cards[item] + 1, len(made)))
            shown = [card for card in shuffled if card >= len(made) or made[card][1] or made[card][0] - set(gone)]
            ranks[item, gone] = {card: (rank, len(shown)) for rank, card in enumerate(shown)}
        return ranks[item, gone]

    columns = (cards[name] for name in ("hit", "block", "position", "dataset", "external_id", "card"))
    nothing = (-1, 1)  # a card that its HIT does not show: a difference of its own kind, told above
    found = [
        ranks_of(
            (int(block), int(position)), (str(dataset), str(external_id)), tuple(dropped_models.get(int(hit), ()))
        ).get(int(card), nothing)
        for hit, block, position, dataset, external_id, card in zip(*columns, strict=True)
    ]
    rank, count = (pd.Series(column, cards.index) for column in zip(*found, strict=True))
    more = frame[TURNED].astype(int) if TURNED in frame else 0
    rotations = ((rank - cards["place"] - more) % count).groupby([cards["assignment"], count]).nunique()
    return int(rotations[rotations > 1].index.get_level_values(0).nunique())
