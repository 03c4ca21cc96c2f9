"""Asks a fourth person by itself where three said three different things, if the study's design wants that.

In: an offering whose design decides by a fourth vote, after a sync. Out: HITs for fourth votes on its crowd.
Guaranteed: each item is asked for once per offering (HITs, copied items and publications are saved in one step, under
the study's lock, before the crowd is called, and publishing makes each HIT once); nothing beyond the budget. A killed
run's HITs are published by the next sync. A fourth vote that is lost or screened out is replaced like any other work.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from evalplatform.wording import count_of
from hits.budgeting import OverBudget, budget_of, open_places, spending
from hits.crowds import Market, Met, fees_of
from hits.deciding.counted_votes import VoteState, asks_fourth_votes, vote_state
from hits.deciding.dealing_votes import Hand, deal_hands, write_hits
from hits.deciding.rule_state import has_stopped
from hits.designing import fourth_vote_room
from hits.models import Event, Hit, HitItem, Offering, Publication, Study
from hits.models.money import money
from hits.models.publication import PublicationQuerySet
from hits.publishing import plan_added_hits, publish_hits


@dataclass
class AskedVotes(Met):
    """What a run asked for, and what it could not."""

    items: int = 0
    hits: int = 0
    published: int = 0
    beyond_budget: int = 0  # items


@dataclass(frozen=True)
class Due:
    """The HITs that could be made now, as the budget allows."""

    hands: list[Hand]
    affordable: int  # so many of them
    cents_each: int

    @property
    def beyond_budget(self) -> int:
        return sum(len(hand) for hand in self.hands[self.affordable :])


def ask_fourth_votes(offering: Offering, market: Market, now: Callable[[], datetime]) -> AskedVotes:
    """Ask for the fourth votes that are due. It can run at any time, again, and twice at once."""
    result = AskedVotes()
    if not _may_ask(offering):
        return result
    if vote_state(offering).unasked:
        with spending(offering.study):
            # Once more, now that the study's row is locked: of two syncs at once, the second finds what the first has
            # saved; and while votes were counted, somebody may have stopped the study, or made a bundle of it.
            if not _may_ask(offering):
                return result
            save_intents(offering, due_fourth_votes(offering, vote_state(offering)), now(), result)
    _publish(offering, market, now, result)
    return result


def are_fourth_votes_due(offering: Offering) -> bool:
    """Return whether a scheduled sync must visit the offering for its fourth votes."""
    if not _may_ask(offering):
        return False
    return _unpublished(offering).exists() or due_fourth_votes(offering, vote_state(offering)).affordable > 0


def due_fourth_votes(offering: Offering, state: VoteState) -> Due:
    """Deal what nobody was asked for yet. Whole HITs are due at once; what would not fill one waits until no other vote
    is to come, since each HIT is paid as a whole."""
    design = offering.study.parsed_design
    unasked = HitItem.objects.filter(pk__in=state.unasked).select_related("hit")
    hands, room = deal_hands(design, unasked, state.seen_by), fourth_vote_room(design)
    if any(len(hand) < room for hand in hands) and _may_more_votes_come(offering):
        hands = [hand for hand in hands if len(hand) == room]
    each = fees_of(offering).cents_per_assignment(design.pay.reward_cents, design.pay.bonus_cents, 1)
    left = budget_of(offering).left_cents if hands else None
    affordable = len(hands) if left is None or not each else min(len(hands), max(0, left) // each)
    return Due(hands, affordable, each)


def _may_ask(offering: Offering) -> bool:
    """Return whether the study asks by itself now: not once it has stopped by its own rule, was taken off the market by
    hand, or has its card orders in public."""
    if not asks_fourth_votes(offering) or has_stopped(offering):
        return False
    if Publication.objects.filter(offering=offering).current().stopped().exists():
        return False
    return Study.objects.filter(pk=offering.study_id, orders_revealed_at=None).exists()


def _may_more_votes_come(offering: Offering) -> bool:
    """Return whether frozen HITs are still to be handed in, or are to be published by themselves."""
    if Hit.objects.frozen().filter(pk__in={one.hit_id for one in open_places(offering)}).exists():
        return True
    if not offering.study.parsed_design.analysis.wave_hits:
        return False
    published = Publication.objects.filter(offering=offering)
    return offering.study.hits.frozen().exclude(publications__in=published).exists()


def save_intents(offering: Offering, due: Due, now: datetime, result: AskedVotes) -> None:
    """Write the HITs that the budget allows, with their publications. Called under the study's lock."""
    result.beyond_budget = due.beyond_budget
    hits = write_hits(offering, due.hands[: due.affordable])
    if not hits:
        return
    wave = Publication.objects.filter(offering=offering).aggregate(last=Max("wave"))["last"]
    Publication.objects.bulk_create(Publication(hit=hit, offering=offering, wave=wave, intended_at=now) for hit in hits)
    result.hits, result.items = len(hits), sum(map(len, due.hands[: due.affordable]))
    most = money(due.cents_each * len(hits), offering.currency)
    text = (
        f"asked for a fourth vote on {count_of(result.items, 'item')} whose three votes all differ, in "
        f"{count_of(len(hits), 'HIT')} on the {offering.marketplace} market, at most {most}"
    )
    Event.objects.create(study=offering.study, at=now, actor=None, text=text)


def _unpublished(offering: Offering) -> PublicationQuerySet:
    return Publication.objects.filter(offering=offering, hit__added_for=offering).current().unconfirmed()


def _publish(offering: Offering, market: Market, now: Callable[[], datetime], result: AskedVotes) -> None:
    """Publish what this run, or one that was killed, has saved."""
    if not _unpublished(offering).exists():
        return
    page_url = Offering.objects.values_list("page_url", flat=True).get(pk=offering.pk)
    try:
        done = publish_hits(plan_added_hits(offering), market, page_url, now)
    except OverBudget:  # it was lowered since the HITs were saved
        result.beyond_budget += HitItem.objects.filter(
            fourth_vote_in=offering, hit__publications__in=_unpublished(offering)
        ).count()
        return
    result.published = done.published + done.adopted
    result.note_all_of(done)
