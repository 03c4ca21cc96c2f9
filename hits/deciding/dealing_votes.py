"""Deals items that need a fourth vote into further HITs, and writes these HITs.

In: frozen items whose three votes differ. Out: HITs of one assignment, with copies of these items and as many copied
checkpoints as the study's other HITs have, so that page, pay and bonus are the same. Guaranteed: an item is copied once
per offering, whatever runs at once; no HIT shows a dialog twice; each HIT is known to share its items with the HITs
that they come from, so that nobody who has seen one is asked again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy

from django.db.models import Max
from django.db.models.base import ModelState

from hits.designing import fourth_vote_room, order_key
from hits.models import Hit, HitItem, Offering, SharedBlock
from hits.models.design import StudyDesign

Hand = list[HitItem]


def deal_hands(design: StudyDesign, items: Iterable[HitItem], seen_by: Mapping[int, Collection[str]]) -> list[Hand]:
    """Deal the items into hands, each as many as a HIT has beside its checkpoints; the last ones may have fewer.

    Items that the same people have seen come together: the fewer people have seen some item of a HIT, the more are left
    who may have it.
    """
    room = fourth_vote_room(design)
    hands: list[Hand] = []
    for one in sorted(items, key=lambda item: (sorted(seen_by.get(item.pk, ())), item.hit.number, item.position)):
        fitting = (hand for hand in hands if len(hand) < room and one.dialog_id not in _dialogs(hand))
        hand = next(fitting, None)
        if hand is None:
            hands.append(hand := [])
        hand.append(one)
    return hands


def write_hits(offering: Offering, hands: Sequence[Hand]) -> list[Hit]:
    """Write a HIT for each hand. Called under the study's lock."""
    last = offering.study.hits.aggregate(number=Max("number"), block=Max("block"))
    design = offering.study.parsed_design
    hits = []
    for index, hand in enumerate(hands, start=1):
        hit = Hit(
            study=offering.study,
            number=last["number"] + index,
            block=last["block"] + index,
            assignments=1,
            added_for=offering,
        )
        hit.save()
        checkpoints = _choose_checkpoints(design, hand)
        shown = sorted([*hand, *checkpoints], key=lambda one: order_key(design.seed, "fourth vote", one.content_hash))
        asking = {one.pk for one in hand}
        HitItem.objects.bulk_create(
            _copy(one, hit, position, offering if one.pk in asking else None) for position, one in enumerate(shown)
        )
        _note_shared_blocks(hit, {one.hit.block for one in shown})
        hits.append(hit)
    return hits


def _choose_checkpoints(design: StudyDesign, hand: Hand) -> list[HitItem]:
    """Choose from the HITs that the hand comes from: their workers are kept out already. The HITs take turns."""
    numbers: dict[int, int] = {}
    ranked = []
    found = HitItem.objects.filter(hit__in={one.hit_id for one in hand}, is_checkpoint=True).select_related("hit")
    for one in found.order_by("hit__number", "position"):
        numbers[one.hit_id] = numbers.get(one.hit_id, 0) + 1
        ranked.append((numbers[one.hit_id], one))
    chosen: list[HitItem] = []
    for _, one in sorted(ranked, key=lambda pair: (pair[0], pair[1].hit.number)):
        if len(chosen) < design.checkpoints.per_hit and one.dialog_id not in _dialogs([*hand, *chosen]):
            chosen.append(one)
    return chosen


def _dialogs(items: Iterable[HitItem]) -> set[int]:
    return {one.dialog_id for one in items}


def _copy(original: HitItem, hit: Hit, position: int, asked_in: Offering | None) -> HitItem:
    made = copy(original)
    made.pk, made._state = None, ModelState()  # its own, or the original would change its HIT as well
    made.hit, made.position, made.copy_of, made.fourth_vote_in = hit, position, original, asked_in
    return made


def _note_shared_blocks(hit: Hit, sources: Collection[int]) -> None:
    """Note the frozen blocks that the HIT's items come from, and the added ones that have items of the same blocks."""
    added = SharedBlock.objects.filter(study=hit.study_id, block__in=sources).values_list("other", flat=True)
    others = {*sources, *added}
    SharedBlock.objects.bulk_create(
        SharedBlock(study=hit.study, block=one, other=other)
        for block in others
        for one, other in [(hit.block, block), (block, hit.block)]
    )
