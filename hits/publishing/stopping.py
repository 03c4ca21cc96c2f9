"""Taking a study's HITs off the market, and putting them back. Workers who hold an assignment may still submit it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.wording import count_of
from hits.budgeting.spending import within_budget
from hits.crowds.calling import THREADS, call_in_threads
from hits.crowds.mturk.client import Market
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Publication, PublishingRun, Study
from hits.models.design import StudyDesign
from hits.publishing.creating import adopt_orphans
from hits.publishing.publishing_plan import refuse_draft


@dataclass
class StoppingResult:
    """Of stopping as of resuming. Who was `refused` is left as it was; it may have been deleted elsewhere."""

    changed: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    stopped_by: MarketUnavailable | None = None


def stop_study(
    study: Study, environment: str, market: Market, now: Callable[[], datetime], by: User | None = None
) -> StoppingResult:
    """Expires every open HIT at once, those too whose publishing was interrupted. A run that publishes now ends."""
    refuse_draft(study)
    _end_runs(study, environment, now())
    ours = Publication.objects.filter(hit__study=study, environment=environment)
    if ours.unconfirmed().exists():
        adopt_orphans(study, environment, market, now())
    result = _change(ours.open(), lambda one: market.expire_hit(one.mturk_hit_id), lambda: {"stopped_at": now()})
    _note(study, by, now(), result.changed, f"took {count_of(result.changed, 'HIT')} off the {environment} market")
    return result


def resume_study(
    study: Study, environment: str, market: Market, now: Callable[[], datetime], by: User | None = None
) -> StoppingResult:
    """Puts stopped HITs on offer again, for the study's lifetime from now on. Refused above the study's budget."""
    refuse_draft(study)
    design = StudyDesign.model_validate(study.design)
    lifetime = timedelta(days=design.crowd.lifetime_days)
    what, instead = "Putting the HITs back on offer", "Leave them, or raise the budget first."
    with within_budget(study, environment, what, instead):
        stopped = list(Publication.objects.filter(hit__study=study, environment=environment).stopped())
        # Saved before the calls: should this process be killed after one, the HIT is on offer, and counts.
        Publication.objects.filter(pk__in=[one.pk for one in stopped]).update(reopening_at=now())
    result = _change(
        stopped,
        lambda one: market.extend_hit(one.mturk_hit_id, now() + lifetime),
        lambda: {"stopped_at": None, "closed_at": None, "reopening_at": None},
        if_refused={"reopening_at": None},
    )
    _note(study, by, now(), result.changed, f"put {count_of(result.changed, 'HIT')} back on the {environment} market")
    return result


def _note(study: Study, by: User | None, now: datetime, count: int, text: str) -> None:
    if count:
        Event.objects.create(study=study, at=now, actor=by, text=text)


def _change(
    publications: Iterable[Publication],
    call: Callable[[Publication], None],
    fields: Callable[[], dict[str, datetime | None]],
    if_refused: dict[str, None] | None = None,
) -> StoppingResult:
    result = StoppingResult()
    for outcomes in call_in_threads(call, list(publications), THREADS, lambda: not result.stopped_by):
        changed, unchanged = [], []
        for publication, outcome in outcomes:
            try:
                outcome.result()
            except MarketRefused as refused:
                result.refused[str(refused)] = result.refused.get(str(refused), 0) + 1
                unchanged.append(publication.pk)
            except MarketUnavailable as unavailable:
                result.stopped_by = unavailable
            else:
                changed.append(publication.pk)
        result.changed += Publication.objects.filter(pk__in=changed).update(**fields())
        if if_refused:
            Publication.objects.filter(pk__in=unchanged).update(**if_refused)
    return result


@transaction.atomic
def _end_runs(study: Study, environment: str, now: datetime) -> None:
    """A living worker sees the wish and ends by itself; what nobody works on ends here."""
    runs = PublishingRun.objects.select_for_update().unfinished().filter(study=study, environment=environment)
    for run in runs:
        run.stop_requested_at = now
        if run.started_at is None or run.is_quiet(now):
            run.finished_at, run.outcome = now, "Stopped before it was done."
        run.save(update_fields=["stop_requested_at", "finished_at", "outcome"])
