"""Runs rooms in background processes, and tells researchers what came of it, in the study's events and on the monitor.

Messages carry ids, never rows. While the marketplace is away, publishing and each `MarketTask` try again once a minute;
a sync does not, because the next one comes by itself.
"""

from collections.abc import Callable
from datetime import timedelta

import structlog
from celery import Task, shared_task
from django.contrib.auth.models import User
from django.utils import timezone
from kombu.exceptions import OperationalError

from evalplatform.errors import EvalPlatformError
from hits.background import JobTask, note_scheduler, send
from hits.batching import build_hits, has_large_manifest, write_manifest
from hits.collecting import WAKES_EVERY
from hits.crowds import (
    Market,
    Met,
    check_may_change,
    enter_market,
    make_waiting_calls,
    open_crowd,
    send_waiting_letters,
)
from hits.deciding import rule_of
from hits.designing import plan_as_json, plan_study_size
from hits.errors import MarketUnavailable
from hits.models import BackgroundJob, Event, Offering, Pool, PublishingRun, Study
from hits.publishing import carry_out_run, check_worker_page, finish_run, resume_study, stop_study
from hits.replacing import put_up_again, replace_lost_assignments
from hits.syncing import account_refusals, describe_sync, sync, unsettled_offerings

log = structlog.get_logger("hits.tasks")

TRY_AGAIN_SECONDS = 60
MOST_RETRIES = 10
ALL_ATTEMPTS = timedelta(seconds=2 * MOST_RETRIES * TRY_AGAIN_SECONDS)


class MarketTask(JobTask):
    """What a researcher asked for on a marketplace. If that is away, it waits and tries again; then its job fails."""

    autoretry_for = (MarketUnavailable,)
    default_retry_delay = TRY_AGAIN_SECONDS
    max_retries = MOST_RETRIES


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
        log.info("not synced", study=offering.study.name, environment=offering.marketplace, reason=str(error))
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
def make_server_calls() -> None:
    """Tell the services behind open links who has finished. Celery's beat runs this every minute."""
    make_waiting_calls(timezone.now(), check_may_change)


@shared_task
def send_letters() -> None:
    """Write to raters who were invited by name. Celery's beat runs this every minute, and a page when there is news."""
    send_waiting_letters(timezone.now(), check_may_change)


def send_letters_soon() -> None:
    """Have letters sent now. If no message can be sent, the scheduler does it within a minute."""
    try:
        send_letters.delay()
    except OperationalError as error:
        log.warning("letters wait for the scheduler", error=str(error))


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
    log. Of what the scheduler's syncs meet, they find there what concerns the account, once a day."""
    offering = _get_offering(offering_id)
    try:
        market = open_crowd(offering)
        synced = sync(offering, market, timezone.now, is_asked_for=user_id is not None)
    except EvalPlatformError as error:
        text = f"the sync on {offering.marketplace} ended early: {error}"
        if user_id is None and isinstance(error, MarketUnavailable):
            raise  # the next sync may find it there again
        _note_once(offering, user_id, text, timedelta() if user_id else timedelta(days=1))
        raise
    if user_id is None:
        for text in account_refusals(synced):
            _note_once(offering, None, f"a sync on {offering.marketplace} did not do all: {text}", timedelta(days=1))
    _follow_rule(offering, market)
    _note_outcome(offering, user_id, f"synced on {offering.marketplace}: {describe_sync(synced, offering.currency)}")
    log.info(
        "synced",
        study=offering.study.name,
        environment=offering.marketplace,
        new=synced.collected.new,
        paid_cents=synced.paid.cents,
    )


@shared_task(base=MarketTask)
def replace_assignments_of_offering(offering_id: int, budget_cents: int | None, user_id: int | None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)

    def replace() -> Met:
        return replace_lost_assignments(offering, open_crowd(offering), timezone.now, by, budget_cents)

    _carry_out(replace, offering, user_id, "asking for replacements")


@shared_task(base=MarketTask)
def put_hits_up_again(offering_id: int, elsewhere: bool, user_id: int | None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)

    def put_up() -> Met:
        market, page_url = enter_market(offering)
        check_worker_page(offering, page_url)
        return put_up_again(offering, market, page_url, timezone.now, by, elsewhere=elsewhere)

    _carry_out(put_up, offering, user_id, "putting HITs up again")


@shared_task(base=JobTask)
def screen_work_of_offering(offering_id: int, user_id: int | None = None) -> None:
    from hits.screening import screen  # it imports pandas, which web processes must not load

    offering = _get_offering(offering_id)
    try:
        screened = screen(offering, timezone.now(), by=_get_user(user_id))
    except EvalPlatformError as error:
        _note_outcome(offering, user_id, f"the work on {offering.marketplace} was not screened: {error}")
        raise
    if not screened.is_new:
        _note_outcome(offering, user_id, f"screened the work on {offering.marketplace} again: nothing has changed")


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
def compute_results_of_pool(pool_id: int) -> None:
    from hits.analysing import compute_results

    compute_results(_get_pool(pool_id), timezone.now)


@shared_task
def make_bundle_of_pool(pool_id: int) -> None:
    from hits.exporting import make_bundle

    make_bundle(_get_pool(pool_id), timezone.now)


@shared_task
def make_bundle_of_offering(offering_id: int) -> None:
    from hits.exporting import make_bundle

    make_bundle(_get_offering(offering_id), timezone.now)


@shared_task
def analyse_ratings_upload(upload_id: int) -> None:
    from hits.exporting import compute_upload

    compute_upload(upload_id, timezone.now)


@shared_task(base=MarketTask)
def stop_hits_of_offering(offering_id: int, user_id: int | None = None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)

    def stop() -> Met:
        return stop_study(offering, open_crowd(offering), timezone.now, by)

    _carry_out(stop, offering, user_id, "taking HITs off the market")


@shared_task(base=MarketTask)
def resume_hits_of_offering(offering_id: int, user_id: int | None = None) -> None:
    offering, by = _get_offering(offering_id), _get_user(user_id)

    def resume() -> Met:
        return resume_study(offering, open_crowd(offering), timezone.now, by)

    _carry_out(resume, offering, user_id, "putting HITs back on the market")


def _carry_out(act: Callable[[], Met], offering: Offering, user_id: int | None, what: str) -> None:
    """Do what a researcher asked for. What stood in its way becomes an event of the study. What ended it early is
    raised as well: then it is tried again, or the monitor shows that the job failed, and why."""
    try:
        met = act()
        for refusal in met.refusals:
            text = f"{what} on {offering.marketplace}, but not all of them: {refusal}"
            _note_once(offering, user_id, text, ALL_ATTEMPTS)
        if met.stopped_by is not None:
            raise met.stopped_by
    except EvalPlatformError as error:
        _note_once(offering, user_id, f"{what} on {offering.marketplace} ended early: {error}", ALL_ATTEMPTS)
        raise


def _follow_rule(offering: Offering, market: Market) -> None:
    if rule_of(offering) is None:
        return
    from hits.deciding import follow_rule  # it imports pandas, which web processes must not load

    follow_rule(offering, market, timezone.now, lambda run: send(publish_hits_of_run, run))


def _get_offering(offering_id: int) -> Offering:
    return Offering.objects.select_related("study").get(pk=offering_id)


def _get_pool(pool_id: int) -> Pool:
    return Pool.objects.select_related("study").get(pk=pool_id)


def _get_user(user_id: int | None) -> User | None:
    return None if user_id is None else User.objects.filter(pk=user_id).first()


def _note_outcome(offering: Offering, user_id: int | None, text: str) -> None:
    """Note it for the user who asked; nobody waits for what the clock has started."""
    if user_id is not None:
        Event.objects.create(study=offering.study, at=timezone.now(), actor=_get_user(user_id), text=text)


def _note_once(offering: Offering, user_id: int | None, text: str, within: timedelta) -> None:
    """Note it unless that was done lately: the next attempt may well meet the same."""
    now = timezone.now()
    if not Event.objects.filter(study=offering.study, text=text, at__gt=now - within).exists():
        Event.objects.create(study=offering.study, at=now, actor=_get_user(user_id), text=text)
