"""Chooses a HIT for a worker whom the crowd sends to the study: the least filled one with dialogs that they don't know.

In: an offering and a worker. Out: a HIT, or a refusal if nothing is free for them. Guaranteed: called under the study's
lock, so that no two workers get the same last place. Whoever holds an assignment fills a place until they hand it in or
their time is over.
"""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db.models import Max, Q

from hits.models import Assignment, Hit, Offering, Publication, Replacement
from hits.serving.frozen import FrozenHit, FrozenStudy, frozen_hit
from hits.serving.work_refusals import Refusal, WorkRefused


def choose_hit(study: FrozenStudy, offering: Offering, seen: Collection[int], held_after: datetime) -> FrozenHit:
    """Return the HIT with the fewest places taken, of those with a free one. The first HITs come first.

    `seen` are the HITs that the worker has opened before; no HIT with the same dialogs is chosen.
    """
    on_offer = Publication.objects.filter(offering=offering).open()
    rows = on_offer.values_list("hit", "hit__number", "hit__block", "hit__assignments")
    known_blocks = set(Hit.objects.filter(pk__in=seen).values_list("block", flat=True)) if seen else set()
    taken = _count_taken(offering, held_after)
    more = dict(_with_replacements(offering))
    free = [
        (taken[pk], number)
        for pk, number, block, made in rows
        if block not in known_blocks and taken[pk] < max(made, more.get(pk, 0))
    ]
    if not free:
        raise WorkRefused(Refusal.NOTHING_FREE)
    return frozen_hit(study.key, min(free)[1], offering.place)


def _count_taken(offering: Offering, held_after: datetime) -> Counter[int]:
    """Count each HIT's work that is in hand or handed in, whether or not the crowd has confirmed it yet."""
    in_hand = Q(submitted_at=None, taken_over_at=None, held_at__gt=held_after)
    ours = Assignment.objects.filter(Q(submitted_at__isnull=False, ended_as="") | in_hand, offering=offering)
    return Counter(ours.values_list("hit", flat=True))


def _with_replacements(offering: Offering) -> list[tuple[int, int]]:
    standing = Replacement.objects.standing().filter(offering=offering).order_by().values("hit")
    return list(standing.annotate(most=Max("places")).values_list("hit", "most"))
