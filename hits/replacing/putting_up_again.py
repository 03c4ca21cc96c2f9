"""Publishes HITs again that nobody can work on any more: they were deleted, or lead to another server's address.

In: HITs that were deleted on the marketplace by hand, and HITs that lead workers to another address than this server's.
Out: new HITs for the same dialogs, with as many assignments as are still missing. Guaranteed: a HIT that is still there
is taken off the market first, or not put up again; work that was handed in stays and counts, and its workers are not
shown the same dialogs again; the old row is retired and the new one saved in one step before the call, so that the next
run resumes after a crash.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from evalplatform.wording import count_of
from hits.budgeting import budget_of, confirmed_places, submitted_counts, within_budget
from hits.collecting import find_hit
from hits.crowds import IN_THIS_THREAD, Cost, Market, MarketHit, Met, carry_out, fees_of
from hits.models import Event, Hit, Offering, Publication, Replacement
from hits.models.money import money
from hits.models.publication import PublicationQuerySet
from hits.publishing import PublishingPlan, check_funds, publish_hits
from hits.replacing.lost_work import Loss, losses


@dataclass
class PutUpAgain(Met):
    """What a run did, or what a dry run would do."""

    deleted: int = 0  # HITs
    elsewhere: int = 0  # HITs that lead to another address
    assignments: int = 0  # that these HITs still need
    cents: int = 0  # at most, with fees
    published: int = 0


@dataclass(frozen=True)
class Wanted:
    """A HIT to put up again, with as many assignments (`places`) as it still needs."""

    publication: Publication
    places: int


def put_up_again(
    offering: Offering,
    market: Market,
    page_url: str,
    now: Callable[[], datetime],
    by: User | None = None,
    budget_cents: int | None = None,
    is_dry_run: bool = False,
    elsewhere: bool = False,
) -> PutUpAgain:
    """Put HITs up again that were deleted or, with `elsewhere`, those that lead to another address than `page_url`.

    `page_url` is where workers find this server's page. Nothing is put up if it would exceed the budget. A dry run only
    counts.
    """
    result = PutUpAgain()
    known = hits_elsewhere(offering, page_url) if elsewhere else deleted_hits(offering)
    wanted = [one for one in known if elsewhere or _is_gone(market, one.publication)]
    interrupted = list(_interrupted_hits(offering))
    plan = _plan_publishing(offering, [*wanted, *interrupted])
    result.deleted, result.elsewhere = (0, len(wanted)) if elsewhere else (len(wanted), 0)
    result.assignments, result.cents = plan.cost.assignment_count, plan.cost.total_cents
    if is_dry_run or not plan.hits:
        return result
    check_funds(plan, market, budget_cents)
    taken: dict[int, int] = {}
    if elsewhere:
        taken = _take_off(market, wanted, now, result)
        wanted = [one for one in wanted if one.publication.pk in taken]
        plan = _plan_publishing(offering, [*wanted, *interrupted])
        result.assignments, result.cents = plan.cost.assignment_count, plan.cost.total_cents
        if result.stopped_by or not plan.hits:
            return result
    what, instead = (
        f"With what workers still hold of the old HITs, putting {count_of(len(plan.hits), 'HIT')} up again",
        "They are off the market: run it again when a sync has found those done, or raise the budget.",
    )
    with within_budget(offering, what, instead, budget_cents):
        _save_intents(offering, wanted, taken, now())
    published = publish_hits(plan, market, page_url, now)
    result.published = published.published + published.adopted
    result.note_all_of(published)
    hits = count_of(result.published, "HIT")
    text = f"put {hits} up again on the {offering.marketplace} market, at most {money(result.cents, offering.currency)}"
    Event.objects.create(study=offering.study, at=now(), actor=by, text=text)
    return result


def deleted_hits(offering: Offering) -> list[Wanted]:
    """List the HITs that were deleted as far as we know, with how many assignments each still needs."""
    current = Publication.objects.filter(offering=offering).confirmed().current()
    return _wanted_of(offering, current.exclude(gone_at=None))


def hits_elsewhere(offering: Offering, page_url: str) -> list[Wanted]:
    """List the HITs that lead workers to another address than `page_url`, as far as we know."""
    there = Publication.objects.filter(offering=offering).there().current()
    return _wanted_of(offering, there.exclude(page_url__in=["", page_url]))


def _wanted_of(offering: Offering, publications: PublicationQuerySet) -> list[Wanted]:
    rows = publications.select_related("hit").order_by("hit__number")
    if not rows:
        return []
    lost, submitted = losses(offering), submitted_counts(offering)
    wanted = []
    for one in rows:
        kept = submitted.get(one.hit_id, 0) - lost.get(one.hit_id, Loss()).count
        places = min(one.hit.assignments - kept, fees_of(offering).most_assignments)
        if places > 0:
            wanted.append(Wanted(one, places))
    return wanted


def put_up_cents(offering: Offering, wanted: Iterable[Wanted]) -> int:
    """Return what these HITs may cost at most, with bonuses and fees."""
    return _cost(offering, wanted).total_cents


def _cost(offering: Offering, wanted: Iterable[Wanted]) -> Cost:
    counts: dict[int, int] = {}
    for one in wanted:
        counts[one.places] = counts.get(one.places, 0) + 1
    pay = offering.study.parsed_design.pay
    return fees_of(offering).worst_case_cost(pay.reward_cents, pay.bonus_cents, counts)


def _is_gone(market: Market, publication: Publication) -> bool:
    """Ask the marketplace once more, before we hold money for another HIT: whoever looked last may have used the
    credentials of another account, which does not see our HITs."""
    if find_hit(market, publication.crowd_hit_id) is None:
        return True
    Publication.objects.filter(pk=publication.pk).update(gone_at=None, closed_at=None)
    return False


def _take_off(
    market: Market, wanted: Iterable[Wanted], now: Callable[[], datetime], result: PutUpAgain
) -> dict[int, int]:
    """Take HITs off the market. Return by row how many assignments of each were, or can still be, handed in: workers
    may finish what they have accepted, and are paid for it. A HIT that the marketplace refuses to take off is missing.
    """
    taken: dict[int, int] = {}

    def take_off(publication: Publication) -> MarketHit | None:
        market.expire_hit(publication.crowd_hit_id)
        return find_hit(market, publication.crowd_hit_id)

    def save(publication: Publication, there: MarketHit | None) -> None:
        this = Publication.objects.filter(pk=publication.pk)
        this.filter(stopped_at=None).update(stopped_at=now())
        if there is None or not there.is_open:
            this.filter(closed_at=None).update(closed_at=now())
        taken[publication.pk] = there.max_assignments - there.available_count if there else 0

    publications = [one.publication for one in wanted]
    # A crowd that knows a study only as a whole finds a HIT in our own rows.
    for _ in carry_out(publications, take_off, save, result, IN_THIS_THREAD):
        pass
    return taken


def _interrupted_hits(offering: Offering) -> Iterable[Wanted]:
    """Yield HITs that an earlier run began to put up again, but was killed or refused."""
    begun = Publication.objects.filter(offering=offering, round__gt=0).unconfirmed()
    for one in begun.select_related("hit").order_by("hit__number"):
        yield Wanted(one, one.places or one.hit.assignments)


def _plan_publishing(offering: Offering, wanted: list[Wanted]) -> PublishingPlan:
    design = offering.study.parsed_design
    hits: list[Hit] = [one.publication.hit for one in wanted]
    return PublishingPlan(
        offering=offering,
        design=design,
        hits=hits,
        begun_count=len(hits),
        cost=_cost(offering, wanted),
        budget=budget_of(offering, {hit.pk for hit in hits}),
        wave=1,  # each row has its own
    )


def _save_intents(offering: Offering, wanted: Iterable[Wanted], taken: Mapping[int, int], now: datetime) -> None:
    """Retire each old row and begin the new one together. Of two runs at once, the second finds it done.

    `taken` says by row how many assignments of an old HIT count for good; for a deleted HIT, nobody knows.
    """
    known, submitted = confirmed_places(offering), submitted_counts(offering)
    for one in wanted:
        old = one.publication
        retired = {"retired_at": now, "places": taken.get(old.pk, old.places)}
        if not Publication.objects.filter(pk=old.pk, retired_at=None).update(**retired):
            continue
        Publication.objects.create(
            hit=old.hit,
            offering=offering,
            wave=old.wave,
            intended_at=now,
            round=old.round + 1,
            places=one.places,
            dropped_models=old.dropped_models,  # the same dialogs with the same cards
        )
        total = submitted.get(old.hit_id, 0) + one.places
        if total > known[old.hit_id]:  # some of its lost assignments had not been replaced yet
            Replacement.objects.get_or_create(
                hit=old.hit,
                offering=offering,
                places=total,
                added=total - known[old.hit_id],
                defaults={"reopened": 0, "intended_at": now},
            )


def describe_put_up_again(done: PutUpAgain, currency: str) -> list[str]:
    """Say what was done, or what would be done."""
    if not done.assignments:
        return ["There is nothing to put up again."]
    parts = [
        f"{count_of(count, 'HIT')} {what}"
        for count, what in [
            (done.deleted, "deleted on the marketplace"),
            (done.elsewhere, "leading to another address than this server's"),
        ]
        if count
    ]
    found = " and ".join(parts) or "HITs that an earlier run left unfinished"
    return [f"{found}: {done.assignments:,} assignments, at most {money(done.cents, currency)}."]
