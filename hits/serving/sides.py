"""Decides which pairs of a HIT change sides, so that a worker sees each model of a pair on each side equally often.

In: a HIT of pairs, the worker's rotation, what this worker and the HIT's other workers were shown. Out: the positions
of items that are turned. Guaranteed: over all HITs of a worker in an offering, the two sides of each pair of models
differ by at most one item; among what that leaves, each item is shown the way round that fewer of its workers have had.
Rotations alone balance each item, but not a worker. A checkpoint is never turned: whoever knows where the human reply
stood so far could tell from a balance where it stands now, and earn the bonus without reading.

Only work counts that the crowd confirms, or that has a place: visits that may be forged turn nobody's cards.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from django.db.models import Q

from generation.models import Candidate
from hits.batching import secret_number
from hits.models import Assignment, Offering
from hits.models.assignment import IS_CONFIRMED, AssignmentQuerySet
from hits.serving.frozen import FrozenHit, FrozenItem, frozen_hit

SEEN = ["held", "filled", "extra"]
Pair = frozenset[int]  # of generators


def choose_turned(hit: FrozenHit, offering: Offering, worker_id: str, rotation: int) -> list[int]:
    """Return the positions to turn. Called under the study's lock, so that of two arrivals each sees the other."""
    if not hit.study.protocol.balances_sides:
        return []
    seen = Assignment.objects.filter(offering=offering, ended_as="", taken_over_at=None)
    seen = seen.filter(Q(place__in=SEEN) | IS_CONFIRMED)
    of_items: Counter[int] = Counter()
    others = seen.filter(hit__in=hit.block_hits).exclude(crowd_worker_id=worker_id)
    for rotation_of_other, turned_of_other in others.values_list("rotation", "turned"):
        for item in hit.items:
            of_items[item.position] += _side(item, rotation_of_other, turned_of_other)
    balance = _balance_of(hit, offering, seen.filter(crowd_worker_id=worker_id))
    turned = []
    for pair, items in _by_pair(hit.items).items():
        wanted = _choose_sides(hit, items, balance[pair], of_items, rotation)
        turned += [item.position for item in items if _side(item, rotation) != wanted[item.position]]
    return sorted(turned)


def _choose_sides(
    hit: FrozenHit, items: Sequence[FrozenItem], balance: int, of_items: Counter[int], rotation: int
) -> dict[int, int]:
    """Return the side of each item's first card: 1 for the left, -1 for the right. `balance` is the sum of those that
    the worker has seen of this pair; with these, it becomes 0, or 1 either way if their number is odd."""

    def wish(item: FrozenItem) -> tuple[int, int, int]:
        # First those whose first card fewer have had on the left; then as the rotation has them; then by lot.
        lot = secret_number(hit.study.order_secret, "side", item.dataset, item.external_id, rotation)
        return of_items[item.position], -_side(item, rotation), lot

    in_order = sorted(items, key=wish)
    on_left = sum(of_items[item.position] < 0 or (not of_items[item.position] and wish(item)[1] < 0) for item in items)
    least, odd = divmod(len(items) - balance, 2)
    count = min(max(on_left, least), least + odd)
    return {item.position: 1 if rank < count else -1 for rank, item in enumerate(in_order)}


def _balance_of(hit: FrozenHit, offering: Offering, work: AssignmentQuerySet) -> Counter[Pair]:
    """Sum up, for each pair of models, on which side its first model stood in this work."""
    found: Counter[Pair] = Counter()
    for number, rotation, turned in work.values_list("hit__number", "rotation", "turned"):
        for pair, items in _by_pair(frozen_hit(hit.study.key, number, offering).items).items():
            found[pair] += sum(_side(item, rotation, turned) for item in items)
    return found


def _by_pair(items: Sequence[FrozenItem]) -> dict[Pair, list[FrozenItem]]:
    """Return the items of each pair of models. A control shows another item again."""
    compared = [item for item in items if item.card_count == 2 and item.repeats is None and item.gold_card is None]
    pks = {pk for item in compared for card in item.cards for pk in card.candidates}
    generators = dict(Candidate.objects.filter(pk__in=pks).values_list("pk", "generator_id"))
    found: dict[Pair, list[FrozenItem]] = defaultdict(list)
    for item in compared:
        found[frozenset(generators[pk] for card in item.cards for pk in card.candidates)].append(item)
    return found


def _side(item: FrozenItem, rotation: int, turned: Collection[int] = ()) -> int:
    """Return 1 if the first card stands on the left, and -1 if it stands on the right."""
    if item.card_count != 2:
        return 0
    order = item.order(rotation, turned)
    return 1 if order[0] == min(order) else -1
