"""Takes a study's HITs off the market, and puts them back. Workers who hold an assignment may still submit it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import within_budget
from hits.crowds import Market, Met, carry_out, crowd_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Offering, Publication, PublishingRun, Study
from hits.publishing.creating import adopt_orphans
from hits.publishing.publishing_plan import refuse_decided, refuse_draft
from hits.publishing.settling import settle_offering


@dataclass
class StoppingResult(Met):
    """What stopping or resuming has changed. HITs that were `refused` stay as they were; they may have been deleted."""

    changed: int = 0


def stop_study(
    offering: Offering, market: Market, now: Callable[[], datetime], by: User | None = None
) -> StoppingResult:
    """Expire every open HIT, including those whose publishing was interrupted. A run that is publishing ends."""
    refuse_draft(offering.study)
    _end_runs(offering, now())
    ours = Publication.objects.filter(offering=offering)
    if ours.unconfirmed().exists():
        adopt_orphans(offering, market, now())
    result = _change_publications(
        offering, market, ours.open(), lambda one: market.expire_hit(one.crowd_hit_id), lambda: {"stopped_at": now()}
    )
    _note_event(
        offering.study,
        by,
        now(),
        result.changed,
        f"took {count_of(result.changed, 'HIT')} off the {offering.marketplace} market",
    )
    return result


def resume_study(
    offering: Offering, market: Market, now: Callable[[], datetime], by: User | None = None
) -> StoppingResult:
    """Put stopped HITs on offer again, for the study's lifetime from now on. Refused above the study's budget."""
    refuse_draft(offering.study)
    if not crowd_of(offering).abilities.can_reopen:
        raise EvalPlatformError(f"HITs that were taken off {offering.marketplace} can't be put back there.")
    refuse_decided(offering)
    design = offering.study.parsed_design
    lifetime = timedelta(days=design.crowd.lifetime_days)
    what, instead = "Putting the HITs back on offer", "Leave them, or raise the budget first."
    with within_budget(offering, what, instead):
        stopped = list(Publication.objects.filter(offering=offering).stopped())
        # Saved before the calls: if this process is killed after one, that HIT is on offer and must count.
        Publication.objects.filter(pk__in=[one.pk for one in stopped]).update(reopening_at=now())
    result = _change_publications(
        offering,
        market,
        stopped,
        lambda one: market.extend_hit(one.crowd_hit_id, now() + lifetime),
        lambda: {"stopped_at": None, "closed_at": None, "reopening_at": None},
        if_refused={"reopening_at": None},
    )
    _note_event(
        offering.study,
        by,
        now(),
        result.changed,
        f"put {count_of(result.changed, 'HIT')} back on the {offering.marketplace} market",
    )
    return result


def _note_event(study: Study, by: User | None, now: datetime, count: int, text: str) -> None:
    if count:
        Event.objects.create(study=study, at=now, actor=by, text=text)


def _change_publications(
    offering: Offering,
    market: Market,
    publications: Iterable[Publication],
    call: Callable[[Publication], None],
    fields: Callable[[], dict[str, datetime | None]],
    if_refused: dict[str, None] | None = None,
) -> StoppingResult:
    result, threads = StoppingResult(), crowd_of(offering).abilities.calls_at_once

    def save(publication: Publication, _: None) -> None:
        result.changed += Publication.objects.filter(pk=publication.pk).update(**fields())

    def save_refusal(publication: Publication, _: MarketRefused) -> None:
        if if_refused:
            Publication.objects.filter(pk=publication.pk).update(**if_refused)

    for _ in carry_out(list(publications), call, save, result, threads, save_refusal):
        pass
    try:
        settle_offering(offering, market)
    except (MarketRefused, MarketUnavailable) as error:
        result.note(error)  # the rows are saved, and the next sync settles it
    return result


@transaction.atomic
def _end_runs(offering: Offering, now: datetime) -> None:
    """Ask running processes to end by themselves, and end the runs that no process works on."""
    runs = PublishingRun.objects.select_for_update().under_way().filter(offering=offering)
    for run in runs:
        run.stop_requested_at = now
        if run.started_at is None or run.is_quiet(now):
            run.finished_at, run.outcome = now, "Stopped before it was done."
        run.save(update_fields=["stop_requested_at", "finished_at", "outcome"])
