"""Runs rooms in background processes, tries again while the marketplace is away, and logs outcomes for researchers.

Messages carry ids, never rows.
"""

import structlog
from celery import Task, shared_task
from django.contrib.auth.models import User
from django.utils import timezone
from kombu.exceptions import OperationalError

from evalplatform.errors import EvalPlatformError
from hits.background import JobTask, note_scheduler, send
from hits.batching import build_hits, has_large_manifest, write_manifest
from hits.collecting import WAKES_EVERY
from hits.crowds import Market, check_may_change, enter_market, open_crowd
from hits.deciding import rule_of
from hits.designing import plan_as_json, plan_study_size
from hits.errors import MarketUnavailable
from hits.models import BackgroundJob, Event, Offering, PublishingRun, Study
from hits.publishing import carry_out_run, check_worker_page, finish_run, resume_study, stop_study
from hits.replacing import put_up_again, replace_lost_assignments
from hits.syncing import describe_sync, sync, unsettled_offerings

log = structlog.get_logger("hits.tasks")

TRY_AGAIN_SECONDS = 60
MOST_RETRIES = 10


@shared_task(base=JobTask)
def build_hits_of_study(study_id: int) -> None:
    study = Study.objects.get(pk=study_id)
    build_hits(study)
    study.refresh_from_db()
    if has_large_manifest(study):
        write_manifest(study)


@shared_task(bind=True, max_retries=MOST_RETRIES)
def publish_hits_of_run(self: Task, run_id: int) -> None:
    run = PublishingRun.objects.get(pk=run_id)
    try:
        carry_out_run(run, enter_market, timezone.now)
    except MarketUnavailable as unavailable:
        if self.request.retries >= MOST_RETRIES:
            finish_run(run, f"Given up: {unavailable}", timezone.now())
            return
        raise self.retry(countdown=TRY_AGAIN_SECONDS) from unavailable


@shared_task
def sync_published_studies() -> None:
    """Start a sync for each offering with unsettled work. Celery's beat runs this every few minutes."""
    for offering in unsettled_offerings():
        _start_sync(offering)


def _start_sync(offering: Offering) -> None:
    try:
        check_may_change(offering)
    except EvalPlatformError as error:
        log.info("not synced", study=offering.study.name, environment=offering.place, reason=str(error))
    else:
        sync_hits_of_offering.delay(offering.pk)


@shared_task
def sync_offerings_of_crowd(crowd: str) -> None:
    """Start a sync for each unsettled offering of the crowd, because the crowd said that there is news."""
    for offering in unsettled_offerings():
        if offering.crowd == crowd:
            _start_sync(offering)


def look_at_crowd_soon(crowd: str) -> None:
    """Plan a look at the crowd, late enough to cover what else it says meanwhile."""
    try:
        sync_offerings_of_crowd.apply_async((crowd,), countdown=WAKES_EVERY.total_seconds(), expires=3600)
    except OperationalError as error:
        log.warning("no look planned, so the next scheduled sync finds it", crowd=crowd, error=str(error))


@shared_task
def note_that_scheduler_runs() -> None:
    """Note that the scheduler runs. Celery's beat runs this every half minute, and the monitor warns if it stops."""
    note_scheduler(timezone.now())


@shared_task(bind=True, base=JobTask)
def plan_size_of_study(self: Task, study_id: int, difference: str) -> None:
    """Plan a study that is too large to be simulated while a page waits. The answer is stored with the question."""
    study = Study.objects.get(pk=study_id)
    answer = plan_as_json(plan_study_size(study, difference), study.currency)
    BackgroundJob.objects.filter(task_id=self.request.id).update(answer=answer)


@shared_task(base=JobTask)
def write_manifest_of_study(study_id: int) -> None:
    write_manifest(Study.objects.get(pk=study_id))


@shared_task(base=JobTask)
def sync_hits_of_offering(offering_id: int, user_id: int | None = None) -> None:
    """Sync the offering. `user_id` is the user who asked for it in the pages; they find the outcome in the event
    log."""
    offering = _get_offering(offering_id)
    try:
        market = open_crowd(offering)
        synced = sync(offering, market, timezone.now, is_asked_for=user_id is not None)
    except EvalPlatformError as error:
        _note_outcome(offering, user_id, f"the sync on {offering.place} ended early: {error}")
        raise
    _follow_rule(offering, market)
    _note_outcome(offering, user_id, f"synced on {offering.place}: {describe_sync(synced, offering.currency)}")
    log.info(
        "synced",
        study=offering.study.name,
        environment=offering.place,
        new=synced.collected.new,
        paid_cents=synced.paid.cents,
    )


@shared_task(base=JobTask)
def replace_assignments_of_offering(offering_id: int, budget_cents: int | None, user_id: int | None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)
    market = open_crowd(offering)
    replaced = replace_lost_assignments(offering, market, timezone.now, by, budget_cents)
    troubles = [str(replaced.stopped_by)] if replaced.stopped_by else [*replaced.refused]
    for trouble in troubles:
        _note_outcome(
            offering,
            user_id,
            f"asked for replacements on {offering.place}, but did not get all of them: {trouble}",
        )


@shared_task
def put_hits_up_again(offering_id: int, elsewhere: bool, user_id: int | None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)
    try:
        market, page_url = enter_market(offering)
        check_worker_page(offering, page_url)
        done = put_up_again(offering, market, page_url, timezone.now, by, elsewhere=elsewhere)
    except EvalPlatformError as error:
        _note_outcome(offering, user_id, f"put no HITs up again on {offering.place}: {error}")
        raise
    troubles = [str(done.stopped_by)] if done.stopped_by else [*done.refused]
    for trouble in troubles:
        _note_outcome(offering, user_id, f"put HITs up again on {offering.place}, but not all of them: {trouble}")


@shared_task(base=JobTask)
def screen_work_of_offering(offering_id: int, user_id: int | None = None) -> None:
    from hits.screening import screen  # it imports pandas, which web processes must not load

    offering = _get_offering(offering_id)
    try:
        screened = screen(offering, timezone.now(), by=_get_user(user_id))
    except EvalPlatformError as error:
        _note_outcome(offering, user_id, f"the work on {offering.place} was not screened: {error}")
        raise
    if not screened.is_new:
        _note_outcome(offering, user_id, f"screened the work on {offering.place} again: nothing has changed")


@shared_task(base=JobTask)
def undo_screening_of_offering(offering_id: int, user_id: int | None = None) -> None:
    from hits.screening import undo_screening

    offering = _get_offering(offering_id)
    try:
        undo_screening(offering, timezone.now(), _get_user(user_id))
    except EvalPlatformError as error:
        _note_outcome(offering, user_id, f"wanted to undo a screening: {error}")


@shared_task
def compute_results_of_offering(offering_id: int) -> None:
    from hits.analysing import compute_results

    compute_results(_get_offering(offering_id), timezone.now)


@shared_task
def make_bundle_of_offering(offering_id: int) -> None:
    from hits.exporting import make_bundle

    make_bundle(_get_offering(offering_id), timezone.now)


@shared_task
def analyse_ratings_upload(upload_id: int) -> None:
    from hits.exporting import compute_upload

    compute_upload(upload_id, timezone.now)


@shared_task(base=JobTask)
def stop_hits_of_offering(offering_id: int, user_id: int | None = None) -> None:
    offering = _get_offering(offering_id)
    stop_study(offering, open_crowd(offering), timezone.now, _get_user(user_id))


@shared_task(base=JobTask)
def resume_hits_of_offering(offering_id: int, user_id: int | None = None) -> None:
    offering = _get_offering(offering_id)
    resume_study(offering, open_crowd(offering), timezone.now, _get_user(user_id))


def _follow_rule(offering: Offering, market: Market) -> None:
    if rule_of(offering) is None:
        return
    from hits.deciding import follow_rule  # it imports pandas, which web processes must not load

    follow_rule(offering, market, timezone.now, lambda run: send(publish_hits_of_run, run))


def _get_offering(offering_id: int) -> Offering:
    return Offering.objects.select_related("study").get(pk=offering_id)


def _get_user(user_id: int | None) -> User | None:
    return None if user_id is None else User.objects.filter(pk=user_id).first()


def _note_outcome(offering: Offering, user_id: int | None, text: str) -> None:
    if user_id is not None:
        Event.objects.create(study=offering.study, at=timezone.now(), actor=_get_user(user_id), text=text)
