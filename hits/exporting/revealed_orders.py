"""Describes how a bundle's cards were ordered, and checks it; hits/budgeting/places.py decides when to reveal it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from hits.batching import ORDER_COMMITMENT, commitment_to, shuffle_cards
from hits.exporting.about import About

WITHHELD = (
    "The order of the cards comes from a secret, to which the manifest commits. It is withheld in this bundle, because "
    "HITs of the study were still on a marketplace when it was made: a bundle that is made later reveals it."
)
REVEALED = (
    "The order of the cards comes from the secret `{secret}`. The manifest commits to it "
    "(`card_order_commitment`), so that it can't have been chosen afterwards; `check_bundle` recomputes every order, "
    "up to the rotation by which workers of the same dialogs differ."
)


def describe_orders(about: About) -> str:
    return REVEALED.format(secret=about.card_order_secret) if about.card_order_secret else WITHHELD


def wrong_orders(folder: Path, about: About, frame: pd.DataFrame) -> Iterator[str]:
    """Describe whatever contradicts the manifest's commitment, or the secret that the bundle reveals."""
    manifest = folder / "manifest.jsonl"
    if not manifest.is_file():
        return  # the bundle has ratings only, or a file is missing, which the hashes show
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
    if wrong := _assignments_in_another_order(frame, secret, _card_counts(content)):
        yield f"the cards of {wrong:,} assignments stood in another order than the secret gives"


def _card_counts(manifest: bytes) -> dict[tuple[str, str], int]:
    """Count the cards of each dialog. A comparison is rated on one of its cards, so the ratings don't name them all."""
    try:
        lines = [json.loads(line) for line in manifest.splitlines()[1:]]
        return {(one["dataset"], one["dialog"]): len(one["cards"]) for one in lines}
    except (ValueError, TypeError, LookupError):
        return {}  # this is not the manifest that was frozen, which its hash shows


def _assignments_in_another_order(frame: pd.DataFrame, secret: bytes, card_counts: dict[tuple[str, str], int]) -> int:
    """Count assignments whose cards don't follow the secret. In all its dialogs, an assignment's cards are rotated by
    the same number of places, modulo the number of cards."""
    cards = frame[["assignment", "dataset", "external_id", "card", "place"]].astype({"dataset": str})
    last_cards = cards.groupby(["dataset", "external_id"], observed=True)["card"].max().reset_index()
    dialogs = zip(last_cards["dataset"], last_cards["external_id"], last_cards["card"], strict=True)
    counts = {(one, other): max(last + 1, card_counts.get((one, other), 0)) for one, other, last in dialogs}
    ranks = {
        (dataset, external_id, card): (rank, cards)
        for (dataset, external_id), cards in counts.items()
        for rank, card in enumerate(shuffle_cards(secret, dataset, external_id, cards))
    }
    found = [ranks[key] for key in zip(cards["dataset"], cards["external_id"], cards["card"], strict=True)]
    rank, count = (pd.Series(column, cards.index) for column in zip(*found, strict=True))
    turned = ((rank - cards["place"]) % count).groupby([cards["assignment"], count]).nunique()
    return int(turned[turned > 1].index.get_level_values(0).nunique())
