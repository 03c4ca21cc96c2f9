"""Finds the dialogs that a study has planned to test: the first ones in the frozen order of its HITs.

In: a frozen study. Out: where its planned dialogs end. Guaranteed: which dialogs are tested follows from the frozen
design and the order of HITs alone, so that ratings that come in later change no verdict. This file needs no pandas.
"""

from django.db.models import Count, Q

from hits.models import HitItem, Study
from hits.protocols import protocol_of


def planned_until(study: Study) -> tuple[int, int] | None:
    """Return (block, position): planned are all earlier blocks, and of this one what stands before this position. None
    if all dialogs are planned, or if the study has a stopping rule: then sequences decide, which hold however much
    comes in.

    15 planned dialogs, in HITs of 10, are those of block 0 and the first five of block 1: (1, 5), or more if a control
    stands among them. A dialog that is shown with several pairs counts each time.
    """
    analysis = study.parsed_design.analysis
    left = analysis.planned_dialogs * protocol_of(study.parsed_design).showings
    if not 0 < left < int((study.manifest or {}).get("dialogs", 0)) or analysis.has_rule:
        return None
    items = HitItem.objects.filter(hit__study=study, repeats=None)
    blocks = items.order_by("hit__block").values("hit__block")
    for row in blocks.annotate(dialogs=Count("dialog", distinct=True)):
        if left <= row["dialogs"]:
            of_block = items.filter(hit__block=row["hit__block"]).order_by("position")
            return row["hit__block"], of_block.values_list("position", flat=True).distinct()[left - 1] + 1
        left -= row["dialogs"]
    return None


def planned_hits(study: Study, prefix: str = "") -> Q:
    """Return the condition that a HIT has planned dialogs; `prefix` leads to the HIT."""
    until = planned_until(study)
    return Q() if until is None else Q(**{f"{prefix}block__lte": until[0]})
