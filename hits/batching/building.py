"""Deals a study's dialogs into HITs, places the checkpoints, puts replies on cards, and freezes the study.

What comes in: a draft with a design that the data can fill. What goes out: Hit and HitItem rows, and the study's
manifest with its hash. What is guaranteed: all or nothing, and only once; the same study gives the same HITs, byte for
byte, on any database. Only the order of the cards differs each time that a study is frozen: it comes from a secret that
is drawn here.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalplatform import __version__
from generation.models import Candidate, Dialog
from generation.style_check import MOST_DIALOGS
from hits.batching.card_orders import commitment_to, draw_secret
from hits.batching.manifest import ORDER_COMMITMENT, SEQUENCE_TAU2, as_line, item_line, sha256
from hits.batching.placed_controls import NewItem, add_controls
from hits.designing import (
    BatchSize,
    ChosenDialog,
    Selection,
    check_study_style,
    checked_design,
    fill_blocks,
    order_key,
    plan_sequences,
    select_dialogs,
    size_of_batches,
)
from hits.errors import DesignProblem, InvalidStudy
from hits.models import Hit, HitItem, Study
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import Protocol, protocol_of

BLOCKS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class BlockDialog:
    """A dialog that a block shows. `number` counts through the line-ups of a protocol (`Protocol.line_up`)."""

    dataset: str
    dialog: ChosenDialog
    number: int = 0

    @property
    def name(self) -> tuple[str, str]:
        return self.dataset, self.dialog.external_id


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card before it is stored, with its text and the candidates that have this text."""

    text: str
    candidates: tuple[Candidate, ...]
    is_gold: bool

    def stored(self) -> Card:
        return Card(tuple(candidate.pk for candidate in self.candidates), self.is_gold)


@dataclass(frozen=True)
class BuiltHits:
    """How many HITs, items and checkpoints the study has, and whether they were built just now."""

    hit_count: int
    item_count: int
    checkpoint_count: int
    is_new: bool


@transaction.atomic
def build_hits(
    study: Study,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    order_secret: bytes | None = None,
) -> BuiltHits:
    """Build the HITs and freeze the study; change nothing if it is frozen already. `on_progress` hears how many HITs
    are made.

    `order_secret` is drawn unless it is given, by someone who repeats a study whose secret was revealed.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.is_frozen:
        return _count_hits(study, is_new=False)
    design = checked_design(study.design)
    chosen = select_dialogs(design)
    size = size_of_batches(design, sum(len(selection.dialogs) for selection in chosen))
    selections = fill_blocks(design, chosen)
    blocks = deal(design, selections, size)
    secret = order_secret or draw_secret()
    manifest = _manifest_head(design, size, secret)
    file_hash = hashlib.sha256(as_line(manifest))
    first_hit = 0
    numbered = enumerate(blocks)
    while chunk := list(islice(numbered, BLOCKS_AT_ONCE)):
        first_hit = _write_blocks(study, design, size, chunk, first_hit, file_hash)
        on_progress(first_hit, size.hit_count)
    study.style_report = check_study_style(design, selections, MOST_DIALOGS).as_json()
    _freeze(study, manifest, file_hash.hexdigest(), secret)
    return _count_hits(study, is_new=True)


def deal(design: StudyDesign, selections: Sequence[Selection], size: BatchSize) -> Iterator[list[BlockDialog]]:
    """Yield blocks of dialogs in seeded order, each with its datasets as even as the numbers allow.

    Dialogs are dealt like cards around a table: dataset after dataset, each continuing where the last one stopped. So
    two blocks differ by at most one dialog of each dataset, and by at most one dialog overall. The human replies of the
    checkpoint datasets lie together in the pack, so that every block gets its share of those as well.

    Where each dialog is shown with several line-ups, the whole pack is dealt once for each.
    """
    pack = _pack_dialogs(design, selections)
    seats = sorted(range(size.block_count), key=lambda seat: order_key(design.seed, "seat", seat))
    # The number grows by one with each row and each seat, so that a block gets all line-ups one after the other, and so
    # does each dataset.
    pack = [replace(one, number=sum(divmod(place, size.block_count))) for place, one in enumerate(pack)]
    dealt = deal_again(pack, size.block_count, size.showings)
    for seat in seats:
        block = dealt[seat]
        yield sorted(block, key=lambda one: order_key(design.seed, "place", one.dataset, one.dialog.external_id))


def deal_again(pack: Sequence[BlockDialog], block_count: int, showings: int) -> list[list[BlockDialog]]:
    """Deal the pack to the blocks as often as each dialog is shown, with the next line-up each time.

    No block gets a dialog twice: one that would come to a block which has it changes places with another of the same
    round. Raises InvalidStudy where that is impossible.
    """
    held: list[dict[tuple[str, str], BlockDialog]] = [{} for _ in range(block_count)]
    for showing in range(showings):
        seats = [(showing * len(pack) + place) % block_count for place in range(len(pack))]
        round_ = [replace(one, number=one.number + showing) for one in pack]
        before = [set(block) for block in held]
        for place, seat in enumerate(seats if showing else []):
            if round_[place].name in before[seat]:
                other = _place_to_change_with(round_, seats, before, place)
                round_[place], round_[other] = round_[other], round_[place]
        for one, seat in zip(round_, seats, strict=True):
            held[seat][one.name] = one
    return [list(block.values()) for block in held]


def _place_to_change_with(
    round_: Sequence[BlockDialog], seats: Sequence[int], before: Sequence[set[tuple[str, str]]], place: int
) -> int:
    """Return the next place of the round whose dialog fits here and ours there. After the last comes the first."""
    ours, seat = round_[place].name, seats[place]
    for step in range(1, len(round_)):
        other = (place + step) % len(round_)
        if round_[other].name not in before[seat] and ours not in before[seats[other]]:
            return other
    raise InvalidStudy(
        [DesignProblem("hits.dialogs", "there are too few HITs to show each dialog once with each pair; lower it")]
    )


def checkpoints_of(design: StudyDesign, block: Sequence[BlockDialog]) -> set[int]:
    """Return the positions in the block that carry a checkpoint."""
    eligible = [
        position
        for position, one in enumerate(block)
        if one.dialog.has_gold and one.dataset in design.checkpoints.datasets
    ]

    def draw(position: int) -> bytes:
        return order_key(design.seed, "checkpoint", block[position].dataset, block[position].dialog.external_id)

    return set(sorted(eligible, key=draw)[: design.checkpoints.per_hit])


def make_cards(design: StudyDesign, candidates: Sequence[Candidate], gold: str | None) -> list[NewCard]:
    """Return one card for each text that workers can tell apart: in the order of the candidates, then the human
    reply if no candidate has its text."""
    texts: dict[str, str] = {}
    merged: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        shown = design.shown(candidate.display_text)
        key = _normalise_spaces(shown)
        texts.setdefault(key, shown)
        merged.setdefault(key, []).append(candidate)
    gold_key = None
    if gold is not None:
        shown = design.shown(gold)
        gold_key = _normalise_spaces(shown)
        texts.setdefault(gold_key, shown)
        merged.setdefault(gold_key, [])
    return [NewCard(text, tuple(merged[key]), key == gold_key) for key, text in texts.items()]


def cards_of_item(
    protocol: Protocol[Any], number: int, candidates: Sequence[Candidate], gold: str | None
) -> list[NewCard]:
    """Return the cards of the protocol's line-up.

    If a generator of the line-up said the same as the human reply, and another line-up leaves the human reply on a card
    of its own, we take that one: a checkpoint should be possible both to win and to miss.
    """
    design = protocol.design
    tried = []
    for step in range(len(design.generators) if gold is not None else 1):
        names = protocol.line_up(number + step, gold is not None)
        cards = make_cards(design, [one for one in candidates if one.generator.name in names], gold)
        if not any(card.is_gold and card.candidates for card in cards):
            return cards
        tried.append(cards)
    return tried[0]


def _pack_dialogs(design: StudyDesign, selections: Sequence[Selection]) -> list[BlockDialog]:
    """Return all dialogs in the order in which they are dealt. Dialogs of one dataset stay together, and so do the
    golds of checkpoint datasets.

    With three or more checkpoint datasets that also have dialogs without a gold, both is impossible. Then the golds
    stay together, and a block may have two more dialogs of such a dataset than another block.
    """
    plain: list[BlockDialog] = []
    leading: list[BlockDialog] = []
    golds: list[BlockDialog] = []
    trailing: list[BlockDialog] = []
    for selection in selections:
        chosen = [BlockDialog(selection.dataset, dialog) for dialog in selection.dialogs]
        if selection.dataset not in design.checkpoints.datasets or not design.checkpoints.per_hit:
            plain += chosen
            continue
        rest = [one for one in chosen if not one.dialog.has_gold]
        if not golds:
            leading += rest
        else:
            trailing = rest + trailing
        golds += [one for one in chosen if one.dialog.has_gold]
    return leading + golds + trailing + plain


def _write_blocks(
    study: Study,
    design: StudyDesign,
    size: BatchSize,
    blocks: Sequence[tuple[int, list[BlockDialog]]],
    first_hit: int,
    file_hash: Any,
) -> int:
    """Write the HITs of these blocks, add their lines to the hash, and return the number of the next HIT."""
    dialogs, candidates = _load_dialogs(design, [one for _, block in blocks for one in block])
    protocol = protocol_of(design)
    hits: list[Hit] = []
    items: list[HitItem] = []
    for block_number, block in blocks:
        checkpoints = checkpoints_of(design, block)
        block_hits = [
            Hit(study=study, number=first_hit + len(hits) + offset, block=block_number, assignments=assignments)
            for offset, assignments in enumerate(size.assignments_of_hits)
        ]
        hits += block_hits
        shown = []
        for position, one in enumerate(block):
            dialog, is_checkpoint = dialogs[one.dialog.pk], position in checkpoints
            gold = dialog.display_gold if is_checkpoint else None
            cards = cards_of_item(protocol, one.number, candidates[dialog.pk], gold)
            shown.append(NewItem(dialog, tuple(card.stored() for card in cards), is_checkpoint))
        for position, new in enumerate(add_controls(protocol, shown)):
            of_block = [HitItem(hit=hit, position=position, **new.stored()) for hit in block_hits]
            line = item_line(design, block_number, of_block[0], {one.pk: one for one in candidates[new.dialog.pk]})
            file_hash.update(line)
            for item in of_block:
                item.content_hash = sha256(line)
            items += of_block
    Hit.objects.bulk_create(hits)
    HitItem.objects.bulk_create(items)
    return first_hit + len(hits)


def _load_dialogs(
    design: StudyDesign, chosen: Sequence[BlockDialog]
) -> tuple[dict[int, Dialog], dict[int, list[Candidate]]]:
    """Return the dialogs, and each dialog's candidates in the order in which the design lists the generators."""
    pks = [one.dialog.pk for one in chosen]
    dialogs = Dialog.objects.select_related("dataset").in_bulk(pks)
    rank = {name: number for number, name in enumerate(design.generators)}
    candidates: dict[int, list[Candidate]] = {pk: [] for pk in pks}
    rows = Candidate.objects.filter(dialog__in=pks, generator__name__in=rank).select_related("generator")
    for candidate in sorted(rows, key=lambda candidate: rank[candidate.generator.name]):
        candidates[candidate.dialog_id].append(candidate)
    return dialogs, candidates


def _manifest_head(design: StudyDesign, size: BatchSize, secret: bytes) -> dict[str, Any]:
    return {
        "software": f"evalplatform {__version__}",
        "design": design.as_json(),
        "dialogs": size.dialog_count,
        "blocks": size.block_count,
        "hits": size.hit_count,
        "assignments": size.assignment_count,
        SEQUENCE_TAU2: plan_sequences(design, size.different_dialogs),
        ORDER_COMMITMENT: commitment_to(secret),
    }


def _freeze(study: Study, manifest: dict[str, Any], manifest_hash: str, secret: bytes) -> None:
    study.design = manifest["design"]
    study.manifest = manifest
    study.manifest_hash = manifest_hash
    study.order_secret = secret.hex()
    study.frozen_at = timezone.now()
    study.save(update_fields=["design", "manifest", "manifest_hash", "order_secret", "style_report", "frozen_at"])


def _count_hits(study: Study, is_new: bool) -> BuiltHits:
    items = HitItem.objects.filter(hit__study=study, copy_of=None)
    return BuiltHits(study.hits.frozen().count(), items.count(), items.filter(is_checkpoint=True).count(), is_new)


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())
