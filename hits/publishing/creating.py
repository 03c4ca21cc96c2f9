"""Intent, call, outcome: each HIT of a plan once on the marketplace."""

from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.db import transaction

from hits.budgeting.spending import within_budget
from hits.crowds.calling import THREADS, call_in_threads
from hits.crowds.mturk.client import ABOUT_THE_ACCOUNT, Market
from hits.crowds.mturk.qualifications import crowd_requirements
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Hit, Publication, PublishingRun, Study
from hits.models.design import StudyDesign
from hits.publishing.annotations import annotation_of, known_annotations, names_study, token_of
from hits.publishing.publishing_plan import PublishingPlan, without_confirmed, words_for_budget
from hits.publishing.stop_qualification import (
    find_stop_qualification,
    known_stop_qualification,
    note_stop_qualification,
)

log = structlog.get_logger("hits.publishing")

MOST_WALKS = 5  # through the list of HITs, until two of them agree

OnProgress = Callable[[int], None]


@dataclass
class PublishingResult:
    published: int = 0
    adopted: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    stopped_by: MarketRefused | MarketUnavailable | None = None


def publish_hits(
    plan: PublishingPlan,
    market: Market,
    page_url: str,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda count: None,
    goes_on: Callable[[], bool] = lambda: True,
    threads: int = THREADS,
) -> PublishingResult:
    """Publishes what the plan names. Whatever is on the marketplace already is adopted first.

    The budget is looked at once more, by whatever stands now: the plan may have waited for a person's word.
    `on_progress` hears how many HITs were dealt with, also when it were none for some seconds.
    """
    qualification_id = known_stop_qualification(plan.study, plan.environment)

    def prepare() -> tuple[str, str]:
        stop_id = qualification_id or find_stop_qualification(plan.study, market)
        return stop_id, market.create_hit_type(hit_type_of(plan.design, stop_id))

    with ThreadPoolExecutor(1) as pool:
        prepared = pool.submit(prepare)  # meanwhile
        result = PublishingResult(adopted=adopt_orphans(plan.study, plan.environment, market, now()))
        waiting = _save_intents(plan, now())
    stop_id, hit_type_id = prepared.result()
    note_stop_qualification(plan.study, plan.environment, stop_id, page_url)
    on_progress(len(plan.hits) - len(waiting))
    requests = {one.pk: _new_hit(plan, one, hit_type_id, page_url) for one in waiting}

    def create(publication: Publication) -> str:
        return market.create_hit(requests[publication.pk])

    for outcomes in call_in_threads(create, waiting, threads, lambda: not result.stopped_by and goes_on()):
        with transaction.atomic():
            for publication, outcome in outcomes:
                _save_outcome(publication, outcome, page_url, now(), result)
        on_progress(len(outcomes))
    return result


def settle_plan(plan: PublishingPlan, market: Market, now: datetime) -> PublishingPlan:
    """Looks first what an interrupted run left on the marketplace: it holds its money already, and needs no more."""
    if not plan.begun_count:
        return plan
    adopt_orphans(plan.study, plan.environment, market, now)
    return without_confirmed(plan)


def adopt_orphans(study: Study, environment: str, market: Market, now: datetime) -> int:
    """Finds HITs of this study that stand on the marketplace without our knowing their ids, and notes them.

    By our own mark in the annotation, since a token is forgotten after 24 hours. HITs of other projects are left alone,
    and so are those that name this study without our signature: someone has planted them, or SECRET_KEY was another.
    """
    ours = Publication.objects.filter(hit__study=study, environment=environment)
    known = set(ours.confirmed().current().values_list("hit__number", flat=True))
    retired = set(ours.exclude(retired_at=None).values_list("mturk_hit_id", flat=True))
    numbers = known_annotations(study, environment, study.hits.values_list("number", flat=True))
    orphans: dict[int, str] = {}
    strangers: set[str] = set()
    was_interrupted = ours.begun().exists()
    last: set[str] = set()
    for _ in range(MOST_WALKS):
        walk = set()
        for found in market.list_hits():
            walk.add(found.mturk_hit_id)
            number = numbers.get(found.annotation)
            is_former = found.mturk_hit_id in retired or found.status == "Disposed"
            if number is not None and number not in known and not is_former:
                orphans.setdefault(number, found.mturk_hit_id)
            elif number is None and names_study(found.annotation, study):
                strangers.add(found.mturk_hit_id)
        # Others may delete HITs while we read: then the pages shift, and one of ours slips through. A token protects us
        # for a day only; so, where something was left behind, the list is read until it holds still.
        if walk == last or not (orphans or was_interrupted):
            break
        last = walk
    with transaction.atomic():
        for hit in study.hits.filter(number__in=orphans):
            _adopt(hit, environment, orphans[hit.number], now)
    if strangers:
        _note_strangers(study, environment, strangers, now)
    return len(orphans)


def _note_strangers(study: Study, environment: str, mturk_hit_ids: Collection[str], now: datetime) -> None:
    """In the log each time, and in the study's events once."""
    ids = ", ".join(sorted(mturk_hit_ids)[:3]) + ("" if len(mturk_hit_ids) <= 3 else ", ...")
    text = f"left alone what names this study on the {environment} market without our signature: {ids}"
    log.warning("unsigned_hits_left_alone", study=study.name, environment=environment, hits=ids)
    if not Event.objects.filter(study=study, text=text).exists():
        Event.objects.create(study=study, at=now, actor=None, text=text)


def hit_type_of(design: StudyDesign, stop_qualification_id: str = "") -> HitTypeSpec:
    """Not for workers who have the study's stop qualification: they have done enough, or were asked to stop."""
    crowd = design.crowd
    return HitTypeSpec(
        title=design.task.title,
        description=design.task.description,
        keywords=design.task.keywords,
        reward_cents=design.pay.reward_cents,
        assignment_duration_seconds=crowd.time_limit_minutes * 60,
        auto_approval_delay_seconds=crowd.auto_approval_days * 86_400,
        requirements=crowd_requirements(
            crowd.countries, crowd.min_approved, crowd.min_approval_percent, stop_qualification_id
        ),
    )


def _save_intents(plan: PublishingPlan, now: datetime) -> list[Publication]:
    """Returns the publications that are not confirmed yet. Two runs at once make one row a HIT."""
    with within_budget(plan.study, plan.environment, *words_for_budget(plan)):
        return _save_publications(plan, now)


def _save_publications(plan: PublishingPlan, now: datetime) -> list[Publication]:
    Publication.objects.bulk_create(
        [
            Publication(hit=hit, environment=plan.environment, wave=plan.wave, run=plan.run, intended_at=now)
            for hit in plan.hits
        ],
        ignore_conflicts=True,
    )
    planned = {hit.pk for hit in plan.hits}
    unconfirmed = Publication.objects.filter(hit__study=plan.study, environment=plan.environment).unconfirmed()
    waiting = [one for one in unconfirmed.select_related("hit").order_by("hit__number") if one.hit_id in planned]
    # What was refused is asked for again, and may be there from now on.
    Publication.objects.filter(pk__in=[one.pk for one in waiting]).update(refusal="")
    if plan.run:
        _take_over([one for one in waiting if one.run_id != plan.run.pk], plan.run)
    return waiting


def _take_over(interrupted: list[Publication], run: PublishingRun) -> None:
    for publication in interrupted:
        publication.run = run
    Publication.objects.bulk_update(interrupted, ["run"], batch_size=500)


def _new_hit(plan: PublishingPlan, publication: Publication, hit_type_id: str, page_url: str) -> NewHit:
    number = publication.hit.number
    return NewHit(
        hit_type_id=hit_type_id,
        question_xml=external_question(f"{page_url}/{plan.study.key}/{number}/", plan.design.crowd.frame_height),
        max_assignments=publication.places or publication.hit.assignments,
        lifetime_seconds=plan.design.crowd.lifetime_days * 86_400,
        annotation=annotation_of(plan.study, plan.environment, number),
        token=token_of(plan.study, plan.environment, number, publication.round),
    )


def _save_outcome(
    publication: Publication, outcome: "Future[str]", page_url: str, now: datetime, result: PublishingResult
) -> None:
    this = Publication.objects.filter(pk=publication.pk)
    try:
        mturk_hit_id = outcome.result()
    except MarketRefused as refused:
        result.refused[str(refused)] = result.refused.get(str(refused), 0) + 1
        if refused.code in ABOUT_THE_ACCOUNT:
            result.stopped_by = refused  # that says nothing of the HIT, which waits as those after it
        else:
            this.unconfirmed().update(refusal=str(refused))
    except MarketUnavailable as unavailable:
        result.stopped_by = unavailable
    else:
        this.update(mturk_hit_id=mturk_hit_id, published_at=now, refusal="", page_url=page_url)
        result.published += 1


def _adopt(hit: Hit, environment: str, mturk_hit_id: str, now: datetime) -> None:
    found = {"mturk_hit_id": mturk_hit_id, "published_at": now, "refusal": ""}
    Publication.objects.update_or_create(
        hit=hit,
        environment=environment,
        retired_at=None,
        defaults=found,
        create_defaults={**found, "intended_at": now},
    )
