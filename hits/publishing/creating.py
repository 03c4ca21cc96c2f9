"""Creates each HIT of a plan once on the marketplace, and adopts those that an interrupted run left there."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction

from hits.budgeting import within_budget
from hits.crowds import HitToOffer, Market, Met, carry_out, crowd_notes, crowd_of, note_of_crowd
from hits.errors import MarketRefused
from hits.models import Event, Hit, Offering, Publication, PublishingRun, RuleStop
from hits.publishing.publishing_plan import (
    PublishingPlan,
    refuse_decided,
    refuse_unmet_wishes,
    without_confirmed,
    words_for_budget,
)
from hits.publishing.settling import settle_offering

log = structlog.get_logger("hits.publishing")

MOST_WALKS = 5  # read the list of HITs at most so often, until it is the same twice

OnProgress = Callable[[int], None]


@dataclass
class PublishingResult(Met):
    """How many HITs were published, and how many were adopted because they were there already."""

    published: int = 0
    adopted: int = 0


def publish_hits(
    plan: PublishingPlan,
    market: Market,
    page_url: str,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda count: None,
    goes_on: Callable[[], bool] = lambda: True,
) -> PublishingResult:
    """Publish what the plan names. HITs that are on the marketplace already are adopted first.

    The budget is checked once more, by what holds now, because the plan may have waited for a person's decision.
    `on_progress` hears how many HITs were dealt with, which may be none for some seconds.
    """
    offering = plan.offering
    refuse_unmet_wishes(offering)
    known = crowd_notes(offering)
    with ThreadPoolExecutor(1) as pool:
        preparing = pool.submit(market.prepare, offering, known)  # runs while we read the list of HITs
        result = PublishingResult(adopted=adopt_orphans(offering, market, now()))
        waiting = _save_intents(plan, now())
    notes = preparing.result()
    note_of_crowd(offering, notes)
    # Note which server publishes the study, before its first HIT. This never changes.
    Offering.objects.filter(pk=offering.pk, page_url="").update(page_url=page_url)
    on_progress(len(plan.hits) - len(waiting))

    def create(publication: Publication) -> str:
        hit = publication.hit
        places = publication.places or hit.assignments
        address = f"{page_url}/{offering.study.key}/{hit.number}/"
        return market.offer_hit(offering, notes, HitToOffer(hit.number, places, publication.round, address))

    def save(publication: Publication, crowd_hit_id: str) -> None:
        this = Publication.objects.filter(pk=publication.pk)
        this.update(crowd_hit_id=crowd_hit_id, published_at=now(), refusal="", page_url=page_url)
        result.published += 1

    def save_refusal(publication: Publication, refused: MarketRefused) -> None:
        if not refused.is_about_account:  # if it is, it says nothing about this HIT, which stays an intent
            Publication.objects.filter(pk=publication.pk).unconfirmed().update(refusal=str(refused))

    threads = crowd_of(offering).abilities.calls_at_once
    for count in carry_out(waiting, create, save, result, threads, save_refusal, goes_on):
        on_progress(count)
    if not result.stopped_by:
        settle_offering(offering, market)
    return result


def settle_plan(plan: PublishingPlan, market: Market, now: datetime) -> PublishingPlan:
    """Look first for what an interrupted run left on the marketplace: those HITs are paid for already, and cost
    nothing more."""
    if not plan.begun_count:
        return plan
    adopt_orphans(plan.offering, market, now)
    return without_confirmed(plan)


def adopt_orphans(offering: Offering, market: Market, now: datetime) -> int:
    """Find HITs of this study on the marketplace whose ids we do not know, note them, and return their number.

    We recognise them by our mark in the annotation, since MTurk forgets a token after 24 hours. HITs of other projects
    are left alone. So are HITs that name this study without our signature: somebody planted them, or SECRET_KEY has
    changed.
    """
    ours = Publication.objects.filter(offering=offering)
    known = set(ours.confirmed().current().values_list("hit__number", flat=True))
    retired = set(ours.exclude(retired_at=None).values_list("crowd_hit_id", flat=True))
    crowd = crowd_of(offering)
    numbers = crowd.marks(offering, list(offering.study.hits.values_list("number", flat=True)))
    orphans: dict[int, str] = {}
    strangers: set[str] = set()
    was_interrupted = ours.begun().exists()
    last: set[str] = set()
    for _ in range(MOST_WALKS):
        walk = set()
        for found in market.list_hits():
            walk.add(found.crowd_hit_id)
            number = numbers.get(found.mark)
            is_former = found.crowd_hit_id in retired or found.is_deleted
            if number is not None and number not in known and not is_former:
                orphans.setdefault(number, found.crowd_hit_id)
            elif number is None and crowd.names_study(found.mark, offering):
                strangers.add(found.crowd_hit_id)
        # If others delete HITs while we read, the pages of the list shift, and we may miss one of ours. A token
        # protects us for a day only. So if anything was left behind, we read the list until it is the same twice.
        if walk == last or not (orphans or was_interrupted):
            break
        last = walk
    with transaction.atomic():
        for hit in offering.study.hits.filter(number__in=orphans):
            _adopt(hit, offering, orphans[hit.number], now)
    if strangers:
        _note_strangers(offering, strangers, now)
    return len(orphans)


def _note_strangers(offering: Offering, crowd_hit_ids: Collection[str], now: datetime) -> None:
    """Write it to the log each time, and to the study's events once."""
    ids = ", ".join(sorted(crowd_hit_ids)[:3]) + ("" if len(crowd_hit_ids) <= 3 else ", ...")
    text = f"left alone what names this study on the {offering.marketplace} market without our signature: {ids}"
    log.warning("unsigned_hits_left_alone", study=offering.study.name, environment=offering.marketplace, hits=ids)
    if not Event.objects.filter(study=offering.study, text=text).exists():
        Event.objects.create(study=offering.study, at=now, actor=None, text=text)


def _save_intents(plan: PublishingPlan, now: datetime) -> list[Publication]:
    """Save and return the publications that are not confirmed yet. Two runs at once create one row per HIT."""
    with within_budget(plan.offering, *words_for_budget(plan)):
        return _save_publications(plan, now)


def _save_publications(plan: PublishingPlan, now: datetime) -> list[Publication]:
    # Once more, now that the study's row is locked: its rule may have stopped it, or dropped a model, since the plan.
    refuse_decided(plan.offering)
    dropped_models = list(plan.offering.dropped_models.order_by("generator").values_list("generator", flat=True))
    RuleStop.objects.standing().filter(offering=plan.offering, kind=RuleStop.Kind.BUDGET).update(lifted_at=now)
    Publication.objects.bulk_create(
        [
            Publication(
                hit=hit,
                offering=plan.offering,
                wave=plan.wave,
                run=plan.run,
                intended_at=now,
                dropped_models=dropped_models,
            )
            for hit in plan.hits
        ],
        ignore_conflicts=True,
    )
    planned = {hit.pk for hit in plan.hits}
    unconfirmed = Publication.objects.filter(offering=plan.offering).unconfirmed()
    waiting = [one for one in unconfirmed.select_related("hit").order_by("hit__number") if one.hit_id in planned]
    # Refused ones are requested again, so from now on they may exist.
    Publication.objects.filter(pk__in=[one.pk for one in waiting]).update(refusal="")
    if plan.run:
        _take_over([one for one in waiting if one.run_id != plan.run.pk], plan.run)
    return waiting


def _take_over(interrupted: list[Publication], run: PublishingRun) -> None:
    for publication in interrupted:
        publication.run = run
    Publication.objects.bulk_update(interrupted, ["run"], batch_size=500)


def _adopt(hit: Hit, offering: Offering, crowd_hit_id: str, now: datetime) -> None:
    found = {"crowd_hit_id": crowd_hit_id, "published_at": now, "refusal": ""}
    Publication.objects.update_or_create(
        hit=hit,
        offering=offering,
        retired_at=None,
        defaults=found,
        create_defaults={**found, "intended_at": now},
    )
