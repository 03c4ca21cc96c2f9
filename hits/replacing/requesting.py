"""Decides how many lost assignments are replaced, and requests them on the marketplace.

In: HITs with submissions that the study's own rules leave out, that were rejected by hand or came without answers, and
HITs that expired before they were full. Out: Replacement rows, and as many assignments on offer. Guaranteed: each loss
is requested once, even if a run is killed or two run at once, because we compare with the marketplace's own number of
assignments; no HIT gets more than its crowd allows, nothing is requested beyond the budget, and a HIT that was
stopped by hand stays stopped. Work without answers that nobody has decided about is replaced only up to a share of the
study.
Assignments that were returned or abandoned are no loss: the marketplace offers them again by itself.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import (
    IN_FLIGHT,
    Budget,
    budget_of,
    former_counts,
    note_places,
    open_places,
    spending,
)
from hits.collecting import our_hits, our_publications
from hits.crowds import Market, MarketHit, Met, carry_out, crowd_of, fees_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Hit, Offering, Publication, Replacement
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.models.publication import PublicationQuerySet
from hits.publishing import settle_offering
from hits.replacing.lost_work import Loss, losses

FEWEST_DAYS_LEFT = timedelta(days=1)  # a HIT with new assignments stays on offer for at least this long
NOT_ASKED = "The request never reached the marketplace."


@dataclass
class Request:
    """The assignments to request for one HIT. `former` ones were handed in on an earlier HIT for the same dialogs."""

    replacement: Replacement
    market_hit: MarketHit
    former: int

    @property
    def count(self) -> int:
        return self.replacement.added + self.replacement.reopened

    @property
    def unfilled_then(self) -> int:
        return self.market_hit.pending_count + self.market_hit.available_count + self.replacement.added


@dataclass
class Replaced(Met):
    """What a run requested, or a dry run would request, and what it could not."""

    added: int = 0
    reopened: int = 0
    cents: int = 0  # at most, with fees
    beyond_most: int = 0  # would be more than a HIT can have
    most_per_hit: int = field(default=0, compare=False)  # assignments, on this crowd
    beyond_budget: int = 0
    stopped: int = 0  # lost by HITs that were stopped by hand
    beyond_share: int = 0  # undecided work without answers, beyond the share that the study lets us replace


def replace_lost_assignments(
    offering: Offering,
    market: Market,
    now: Callable[[], datetime],
    by: User | None = None,
    budget_cents: int | None = None,
    is_dry_run: bool = False,
) -> Replaced:
    """Request as many assignments as the budget allows, in the order of the HITs. A dry run only counts them."""
    if not crowd_of(offering).abilities.can_reopen:
        raise EvalPlatformError(f"No assignments can be added to HITs that stand on {offering.marketplace}.")
    design = offering.study.parsed_design
    result = Replaced(most_per_hit=fees_of(offering).most_assignments)
    wanted = _find_requests(offering, market, now(), result)
    with spending(offering.study):
        budget, counted = budget_of(offering), _counted_places(offering)
        requests = list(_within_budget(design, budget, counted, wanted, budget_cents, result))
        if not is_dry_run:
            requests = [request for request in requests if _save_intent(request.replacement, by)]
    if is_dry_run:
        for request in requests:
            _count_request(design, request, result)
        return result
    expires_at = now() + timedelta(days=design.crowd.lifetime_days)

    def ask(request: Request) -> None:
        _request_on_market(market, request, now(), expires_at)

    def save(request: Request, _: None) -> None:
        wanted = request.replacement
        Replacement.objects.filter(pk=wanted.pk).update(confirmed_at=now(), refusal="")
        _current_publication(wanted).update(closed_at=None, reopening_at=None)
        _count_request(design, request, result)

    for _ in carry_out(requests, ask, save, result, crowd_of(offering).abilities.calls_at_once, _save_refusal):
        pass
    try:
        settle_offering(offering, market)
    except (MarketRefused, MarketUnavailable) as error:
        result.note(error)  # the rows are saved, and the next sync settles it
    if result.added or result.reopened:
        text = f"asked for {result.added:,} more assignments and reopened {result.reopened:,}"
        Event.objects.create(
            study=offering.study, at=now(), actor=by, text=f"{text}: at most {money(result.cents, offering.currency)}"
        )
    return result


# --- What to ask for -------------------------------------------------------------------------------------------------


def _find_requests(offering: Offering, market: Market, now: datetime, result: Replaced) -> list[Request]:
    publications = our_publications(offering)
    listed = list(our_hits(market, publications))
    note_places(offering, listed, publications, now)
    _settle_intents(offering, listed, publications, now)
    lost, hits = losses(offering), offering.study.hits.select_related("study").in_bulk()
    former = former_counts(offering)
    result.beyond_share = sum(one.beyond_share for one in lost.values())
    requests: list[Request] = []
    for market_hit in listed:
        publication = publications[market_hit.crowd_hit_id]
        if publication.retired_at is not None:
            continue
        hit = hits[publication.hit_id]
        loss = lost.get(hit.pk, Loss())
        request = _request_for_hit(hit, offering, market_hit, loss, former.get(hit.pk, 0), now, result)
        if request and publication.stopped_at:
            result.stopped += request.count
        elif request:
            requests.append(request)
    return sorted(requests, key=lambda one: one.replacement.hit.number)


def _settle_intents(
    offering: Offering, listed: list[MarketHit], publications: dict[str, Publication], now: datetime
) -> None:
    """Settle what killed runs intended. If the marketplace doesn't show it, it was not done, and may be requested anew.

    A recent intent is left alone, and counts: its run may be about to make the call.
    """
    unconfirmed = Replacement.objects.unconfirmed().filter(offering=offering)
    if unconfirmed.exists():
        on_offer = [publications[one.crowd_hit_id].hit_id for one in listed if one.is_open]
        unconfirmed.filter(added=0, hit__in=on_offer).update(confirmed_at=now)
        unconfirmed.filter(intended_at__lt=now - IN_FLIGHT).update(refusal=NOT_ASKED)


def _request_for_hit(
    hit: Hit, offering: Offering, market_hit: MarketHit, lost: Loss, former: int, now: datetime, result: Replaced
) -> Request | None:
    """Return what to request for a HIT, if anything: it needs as many assignments as it was made with, and one more for
    each that was lost. `former` ones were handed in on an earlier HIT, before it was put up again."""
    is_closed = not market_hit.is_open
    places = former + market_hit.max_assignments
    missing = max(0, hit.assignments + lost.count - places)
    most = fees_of(offering).most_assignments - market_hit.max_assignments
    added = max(0, min(missing, most))
    result.beyond_most += missing - added
    unfilled = market_hit.pending_count + market_hit.available_count
    is_short = places - unfilled - lost.count < hit.assignments
    reopened = market_hit.available_count if is_closed and is_short else 0
    if not added and not reopened:
        return None
    replacement = Replacement(
        hit=hit,
        offering=offering,
        places=places + added,
        added=added,
        reopened=reopened,
        excluded=lost.excluded,
        rejected=lost.rejected,
        intended_at=now,
    )
    return Request(replacement, market_hit, former)


def _within_budget(
    design: StudyDesign,
    budget: Budget,
    counted: dict[int, int],
    requests: Iterable[Request],
    given_cents: int | None,
    result: Replaced,
) -> Iterator[Request]:
    """Yield the requests that fit into the budget. A HIT is requested whole or not at all, since an expired HIT can
    only be reopened as a whole. The budget already holds money for the `counted` assignments of runs that were killed.
    """
    caps = [cap for cap in (given_cents, budget.cap_cents) if cap is not None]
    left = min(caps) - budget.committed_cents if caps else None
    for request in requests:
        more = request.unfilled_then - counted.get(request.replacement.hit_id, 0)
        cents = max(0, more) * _cents_each(design, request)
        if left is not None and cents > left:
            result.beyond_budget += request.count
        else:
            left = left and left - cents
            yield request


def _counted_places(offering: Offering) -> dict[int, int]:
    """Return for how many unfilled assignments of each HIT the budget holds money."""
    return {one.hit_id: one.count for one in open_places(offering) if not one.is_retired}


def _cents_each(design: StudyDesign, request: Request) -> int:
    pay, wanted = design.pay, request.replacement
    return fees_of(wanted.offering).cents_per_assignment(pay.reward_cents, pay.bonus_cents, wanted.hit.assignments)


# --- Intent, call, outcome -------------------------------------------------------------------------------------------


def _save_intent(wanted: Replacement, by: User | None) -> bool:
    """Save the intent, and return False if another run has done it. There is one row for a HIT and its new number of
    assignments, even if that was refused before."""
    wanted.asked_by = by
    same = Replacement.objects.filter(hit=wanted.hit, offering=wanted.offering_id, places=wanted.places)
    known = (same.filter(added__gt=0) if wanted.added else same.filter(added=0).unconfirmed()).first()
    if known is None:
        wanted.save()
    elif known.confirmed_at is not None:
        return False  # another run was faster
    else:
        wanted.pk = known.pk
        same.filter(pk=known.pk).update(refusal="", reopened=wanted.reopened, intended_at=wanted.intended_at)
    # A closed HIT holds no money in the budget. From now on it may be on offer again, so it must.
    _current_publication(wanted).update(reopening_at=wanted.intended_at)
    return True


def _current_publication(wanted: Replacement) -> PublicationQuerySet:
    return Publication.objects.current().filter(hit=wanted.hit, offering=wanted.offering_id)


def _request_on_market(market: Market, request: Request, now: datetime, expires_at: datetime) -> None:
    wanted, crowd_hit_id = request.replacement, request.market_hit.crowd_hit_id
    if wanted.reopened or request.market_hit.expires_at < now + FEWEST_DAYS_LEFT:
        market.extend_hit(crowd_hit_id, expires_at)
    if not wanted.added:
        return
    try:
        market.add_assignments(crowd_hit_id, wanted.added, wanted.token)
    except MarketRefused:
        # Usually another run has used the token; then the marketplace already has as many as we want.
        if market.get_hit(crowd_hit_id).max_assignments + request.former < wanted.places:
            raise


def _save_refusal(request: Request, refused: MarketRefused) -> None:
    unconfirmed = Replacement.objects.filter(pk=request.replacement.pk, confirmed_at=None)
    unconfirmed.update(refusal=str(refused))


def _count_request(design: StudyDesign, request: Request, result: Replaced) -> None:
    result.added += request.replacement.added
    result.reopened += request.replacement.reopened
    result.cents += request.count * _cents_each(design, request)


def describe_replaced(replaced: Replaced, currency: str) -> list[str]:
    """Say what was requested, or what would be."""
    lines = [
        f"{count_of(replaced.added, 'assignment')} added and {replaced.reopened:,} reopened, "
        f"at most {money(replaced.cents, currency)}."
    ]
    if replaced.beyond_budget:
        lines.append(f"{replaced.beyond_budget:,} more would exceed the budget.")
    if replaced.beyond_most:
        lines.append(
            f"{replaced.beyond_most:,} can't be replaced: a HIT there has at most {replaced.most_per_hit} assignments."
        )
    if replaced.beyond_share:
        lines.append(
            f"{replaced.beyond_share:,} came without answers and are not replaced until somebody decides about them: "
            "approve or reject them first."
        )
    if replaced.stopped:
        lines.append(f"{replaced.stopped:,} belong to HITs that were stopped: resume the study first.")
    return lines
