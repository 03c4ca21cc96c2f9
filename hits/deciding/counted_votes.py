"""Counts the kept votes on each pair of replies of an offering, and says which items need a fourth vote.

The rule is that of the results (hits.stats.counting_votes): two of the first three kept votes decide, and where all
three differ, the fourth does. This file needs no pandas, since every scheduled sync asks it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import QuerySet

from hits.models import HitItem, Offering, Rating, ScreeningRun
from hits.protocols import protocol_of

VOTES = 3  # decide by two of them
Votes = dict[int, list[str]]  # what was said of an item, in the order in which it was handed in


@dataclass(frozen=True)
class VoteState:
    """How far the verdicts of an offering are. Items are named by the primary keys of the frozen ones."""

    differing: frozenset[int] = frozenset()  # their first three kept votes all differ, on one question at least
    asked: frozenset[int] = frozenset()  # a HIT asks, or has asked, for their fourth vote
    returned: frozenset[int] = frozenset()  # their fourth vote came in, and is kept
    seen_by: dict[int, frozenset[str]] = field(default_factory=dict)  # who has voted on each of the differing ones

    @property
    def unasked(self) -> frozenset[int]:
        return self.differing - self.asked


def asks_fourth_votes(offering: Offering) -> bool:
    return protocol_of(offering.study.parsed_design).verdict_rule == "fourth vote"


def vote_state(offering: Offering) -> VoteState:
    """Return how far the verdicts are, by what the study's own rules keep: exploring other rules costs no money."""
    if not asks_fourth_votes(offering):
        return VoteState()
    own = ScreeningRun.objects.filter(offering=offering, undone_at=None, is_frozen_rules=True).first()
    kept = Rating.objects.confirmed(offering).kept(own)
    differing: set[int] = set()
    seen_by: dict[int, set[str]] = {}
    by_criterion: dict[str, Votes] = {}
    for criterion, item, worker_id, value in _votes(offering, own):
        by_criterion.setdefault(criterion, {}).setdefault(item, []).append(value)
        seen_by.setdefault(item, set()).add(worker_id)
    for votes in by_criterion.values():
        differing |= {item for item, said in votes.items() if len(said) == len(set(said)) == VOTES}
    copies = copies_asking(offering)
    return VoteState(
        frozenset(differing),
        _originals(copies),
        _originals(copies.filter(pk__in=kept.order_by().values("item"))),
        {item: frozenset(seen_by[item]) for item in differing},
    )


def copies_asking(offering: Offering) -> QuerySet[HitItem]:
    """Return the copies that ask for fourth votes. One that was saved counts, even if its HIT is not published yet."""
    return HitItem.objects.filter(fourth_vote_in=offering)


def _originals(copies: QuerySet[HitItem]) -> frozenset[int]:
    return frozenset(one for one in copies.values_list("copy_of", flat=True) if one is not None)


def _votes(offering: Offering, run: ScreeningRun | None) -> Iterator[tuple[str, int, str, str]]:
    """Yield each kept vote on a frozen item: the question, the item, the worker, and what was said.

    A card that stands for several models makes several ratings of one vote; the first one stands for them all.
    """
    frozen = Rating.objects.confirmed(offering).kept(run).filter(item__copy_of=None, item__is_checkpoint=False)
    compared = frozen.filter(candidate__isnull=False, opponent__isnull=False)
    rows = compared.order_by("submission", "item", "criterion", "candidate", "opponent")
    last = None
    for submission, item, criterion, worker_id, value in rows.values_list(
        *("submission", "item", "criterion", "submission__assignment__crowd_worker_id", "value")
    ).iterator():
        if (submission, item, criterion) != last:
            last = (submission, item, criterion)
            yield criterion, item, worker_id, value
