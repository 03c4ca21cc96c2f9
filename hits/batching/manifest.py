"""Writes the manifest of a frozen study, the file that its hash covers: the design, and every dialog and reply.

The format is JSON Lines. The first line is the study: its design with all texts, seed and screening rules, the
software, the counts, the variances that its confidence sequences use, and the commitment to the secret of card orders,
which differs each time that a study is frozen. Each further line is a dialog at its place in a block, with hashes of
its texts. Dialogs are named by dataset and id, candidates by dialog and generator, because database ids differ between
machines and this file must not. The study's hash is the SHA-256 of the file, so that `sha256sum` checks it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from generation.models import Candidate, Dialog
from hits.models import Hit, HitItem, Study
from hits.models.design import StudyDesign

BLOCKS_AT_ONCE = 100
ORDER_COMMITMENT = "card_order_commitment"
SEQUENCE_TAU2 = "sequence_tau2"  # of each criterion: the mixture variance of its confidence sequences


def manifest_lines(study: Study) -> Iterator[bytes]:
    """Yield the lines of a frozen study from what the database holds now. If that has changed, the hash shows it."""
    yield as_line(study.manifest or {})
    design = study.parsed_design
    blocks = _first_hit_of_each_block(study)
    while chunk := list(islice(blocks, BLOCKS_AT_ONCE)):
        items = HitItem.objects.filter(hit__in=chunk).select_related("hit", "dialog__dataset")
        ordered = sorted(items, key=lambda item: (item.hit.block, item.position))
        candidates = candidates_of(ordered)
        for item in ordered:
            yield item_line(design, item.hit.block, item, candidates)


def item_line(design: StudyDesign, block: int, item: HitItem, candidates: Mapping[int, Candidate]) -> bytes:
    """Return the manifest's line for one item."""
    dialog = item.dialog
    return as_line(
        {
            "block": block,
            "position": item.position,
            "dataset": dialog.dataset.name,
            "dialog": dialog.external_id,
            "dialog_sha256": _hash_of_dialog(design, dialog),
            "checkpoint": item.is_checkpoint,
            "cards": [
                {
                    "candidates": [_candidate_entry(design, candidates[pk]) for pk in card.candidates],
                    "gold": card.is_gold,
                }
                for card in item.cards
            ],
            **_control_entry(item),
        }
    )


def _control_entry(item: HitItem) -> dict[str, Any]:
    """Return what makes the item a control, if it is one."""
    if item.repeats is None:
        return {}
    return {"repeats": item.repeats, **({} if item.told is None else {"told": item.told, "words": item.told_words})}


def candidates_of(items: Sequence[HitItem]) -> dict[int, Candidate]:
    """Return the candidates on the items' cards, with their generators, by primary key."""
    pks = {pk for item in items for card in item.cards for pk in card.candidates}
    return Candidate.objects.select_related("generator").in_bulk(pks)


def as_line(values: dict[str, Any]) -> bytes:
    """Return the values as one line of JSON, always written the same way."""
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _candidate_entry(design: StudyDesign, candidate: Candidate) -> dict[str, str]:
    return {
        "generator": candidate.generator.name,
        "sha256": sha256(as_line({"text": candidate.text, "shown": design.shown(candidate.display_text)})),
    }


def _hash_of_dialog(design: StudyDesign, dialog: Dialog) -> str:
    shown_gold = design.shown(dialog.display_gold)
    return sha256(as_line({"turns": dialog.turns, "gold": dialog.gold, "shown_gold": shown_gold}))


def _first_hit_of_each_block(study: Study) -> Iterator[Hit]:
    last_block = None
    for hit in study.hits.frozen().order_by("block", "number").iterator():
        if hit.block != last_block:
            yield hit
        last_block = hit.block
