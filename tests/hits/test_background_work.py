"""Work for background processes: asked for at the same moment it is sent once, and it can be asked for again once its
process is dead. The races are between two real connections, on SQLite and on PostgreSQL."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.db import InterfaceError, connection
from django.db import OperationalError as OperationalErrorOfDatabase
from django.utils import timezone
from kombu.exceptions import OperationalError
from pytest_django import Settings

from evalplatform.background_work import QUIET_AFTER, SEE_LOG, at_work, send_task, showing_life
from evalplatform.errors import EvalPlatformError
from generation.models import Dataset, StyleCheck
from generation.style_check import carry_out_style_check, request_style_check
from hits.analysing import compute_results, refresh_results
from hits.background import send, send_once
from hits.exporting.making_bundles import make_bundle
from hits.exporting.stored_bundles import bundle_file, request_bundle
from hits.models import BackgroundJob, Offering, PublishingRun, Scope, Study, StudyBundle, StudyResults, offering_for
from hits.publishing import request_again, request_run, send_run
from hits.tasks import plan_size_of_study
from tests.hits.rated import rate
from tests.processes import wait_until

ASKING = 8
LONG_AGO = QUIET_AFTER + timedelta(seconds=1)


class Recorder:
    """A task that remembers what was sent, or a broker that is away."""

    def __init__(self, name: str = "hits.tasks.write_manifest_of_study", is_away: bool = False) -> None:
        self.name, self.is_away = name, is_away
        self.sent: list[tuple[Any, ...]] = []

    def apply_async(self, arguments: tuple[Any, ...], task_id: str | None = None) -> None:
        if self.is_away:
            raise OperationalError("nobody there")
        self.sent.append((*arguments, task_id))

    def __call__(self, about: Any) -> None:
        send_task(self, about.pk)


def at_once(act: Callable[[], object]) -> None:
    """Do it in several threads at the same moment, each with its own connection."""
    barrier = Barrier(ASKING)

    def run(_: int) -> None:
        try:
            connection.ensure_connection()
            barrier.wait()
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(ASKING) as threads:
        list(threads.map(run, range(ASKING)))


@pytest.mark.django_db(transaction=True)
def test_many_who_look_at_once_send_one_task_and_one_more_when_it_is_quiet(demo_study: Study) -> None:
    rate(demo_study, hits=1)
    offering, task = offering_for(demo_study, "local"), Recorder("computing")

    at_once(lambda: refresh_results(offering, task, timezone.now()))
    assert len(task.sent) == 1

    StudyResults.objects.update(requested_at=timezone.now() - LONG_AGO)
    at_once(lambda: refresh_results(offering, task, timezone.now()))
    assert len(task.sent) == 2


@pytest.mark.django_db(transaction=True)
def test_jobs_with_a_row_for_each_request_are_sent_once_too(demo_study: Study) -> None:
    task = Recorder()

    at_once(lambda: send_once(task, demo_study))
    assert (len(task.sent), BackgroundJob.objects.count()) == (1, 1)

    BackgroundJob.objects.update(started_at=timezone.now() - LONG_AGO, seen_at=timezone.now() - LONG_AGO)
    at_once(lambda: send_once(task, demo_study))
    assert (len(task.sent), BackgroundJob.objects.count()) == (2, 1)

    BackgroundJob.objects.update(finished_at=timezone.now())
    at_once(lambda: send_once(task, demo_study))
    assert (len(task.sent), BackgroundJob.objects.count()) == (3, 2)


@pytest.mark.django_db(transaction=True)
def test_a_style_check_is_sent_once_and_a_failure_ends_the_waiting() -> None:
    dataset, sent = Dataset.objects.create(name="small"), Recorder("checking")

    at_once(lambda: request_style_check(dataset, sent, timezone.now()))
    assert len(sent.sent) == 1

    carry_out_style_check(dataset, timezone.now)
    assert not StyleCheck.objects.get().is_under_way
    request_style_check(dataset, sent, timezone.now())
    assert len(sent.sent) == 2


def test_a_broker_that_is_away_leaves_no_row_that_waits(demo_study: Study) -> None:
    rate(demo_study, hits=1)
    offering, away = offering_for(demo_study, "local"), Recorder(is_away=True)
    run = request_run(offering, 1, None, None, timezone.now())
    attempts: list[Callable[[], object]] = [
        lambda: send(away, demo_study),
        lambda: send_once(away, demo_study),
        lambda: refresh_results(offering, away, timezone.now()),
        lambda: send_run(run, away, timezone.now()),
        lambda: request_style_check(Dataset.objects.all()[0], away, timezone.now()),
    ]

    for attempt in attempts:
        with pytest.raises(EvalPlatformError, match="the broker does not answer"):
            attempt()

    assert not BackgroundJob.objects.exists()
    assert not StudyResults.objects.get().is_under_way
    assert not StyleCheck.objects.get().is_under_way
    run.refresh_from_db()
    assert (run.is_under_way, "the broker does not answer" in run.outcome) == (False, True)


def test_a_request_that_can_t_be_sent_leaves_a_later_one_of_someone_else(demo_study: Study) -> None:
    rate(demo_study, hits=1)
    offering, other, asked_at = offering_for(demo_study, "local"), Recorder("computing"), timezone.now()

    def send_slowly(about: Scope) -> None:
        """Hang until someone else has asked again, then give up."""
        refresh_results(offering, other, asked_at + LONG_AGO)
        send_task(Recorder(is_away=True), about.pk)

    with pytest.raises(EvalPlatformError, match="the broker does not answer"):
        refresh_results(offering, send_slowly, asked_at)

    assert len(other.sent) == 1
    assert StudyResults.objects.get().requested_at == asked_at + LONG_AGO


def test_a_run_that_was_sent_again_meanwhile_is_not_ended_by_the_first_failure(demo_study: Study) -> None:
    offering, other, asked_at = offering_for(demo_study, "local"), Recorder("publishing"), timezone.now()
    run = request_run(offering, 1, None, None, asked_at)

    def send_slowly(about: PublishingRun) -> None:
        request_again(offering, other, asked_at + LONG_AGO)
        send_task(Recorder(is_away=True), about.pk)

    with pytest.raises(EvalPlatformError, match="the broker does not answer"):
        send_run(run, send_slowly, asked_at)

    assert len(other.sent) == 1
    assert PublishingRun.objects.get().is_under_way


def test_work_that_is_dated_in_the_future_can_be_asked_for_again(demo_study: Study) -> None:
    rate(demo_study, hits=1)
    offering, task, today = offering_for(demo_study, "local"), Recorder("computing"), timezone.now()
    refresh_results(offering, task, today + timedelta(days=3650))
    row = StudyResults.objects.get()

    assert row.is_quiet(today)
    assert StudyResults.objects.quiet(today).exists()
    refresh_results(offering, task, today)
    refresh_results(offering, task, today)

    assert len(task.sent) == 2
    assert StudyResults.objects.get().requested_at == today


def test_a_quiet_run_is_sent_again_and_a_living_one_is_not(demo_study: Study) -> None:
    offering, task = offering_for(demo_study, "local"), Recorder("hits.tasks.publish_hits_of_run")
    run = request_run(offering, 1, None, None, timezone.now())

    request_again(offering, task, timezone.now())
    assert task.sent == []

    request_again(offering, task, timezone.now() + LONG_AGO)
    assert [arguments[0] for arguments in task.sent] == [run.pk]


@pytest.mark.django_db(transaction=True)
def test_a_process_shows_that_it_lives_while_it_works_and_then_no_more(demo_study: Study) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    row = StudyResults.objects.filter(offering=offering_for(demo_study, "local"))
    StudyResults.objects.create(offering=Offering.objects.get(), requested_at=long_ago, started_at=long_ago)
    assert row.quiet(timezone.now()).exists()

    with showing_life(row, timezone.now, every=timedelta(milliseconds=10)):
        wait_until(lambda: not row.quiet(timezone.now()).exists(), "a sign of life")
    row.note_end(timezone.now())
    row.note_life(timezone.now() + timedelta(days=1))

    found = row.get()
    assert found.seen_at is not None
    assert found.finished_at is not None
    assert found.seen_at <= found.finished_at


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [OperationalErrorOfDatabase, InterfaceError])
def test_signs_of_life_go_on_after_the_database_was_away(demo_study: Study, error: type[Exception]) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    row = StudyResults.objects.filter(offering=offering_for(demo_study, "local"))
    StudyResults.objects.create(offering=Offering.objects.get(), requested_at=long_ago, started_at=long_ago)
    errors = [error("connection already closed")]

    def now() -> datetime:
        if errors:
            raise errors.pop()
        return timezone.now()

    with showing_life(row, now, every=timedelta(milliseconds=10)):
        wait_until(lambda: not row.quiet(timezone.now()).exists(), "a sign of life")

    assert not errors


def test_a_message_that_arrives_after_its_job_is_done_does_nothing(demo_study: Study) -> None:
    job = send_once(Recorder("hits.tasks.plan_size_of_study"), demo_study, "", question="what if?")
    BackgroundJob.objects.update(finished_at=timezone.now(), answer={"known": True})

    plan_size_of_study.apply([demo_study.pk, ""], task_id=str(job.task_id))

    assert BackgroundJob.objects.get().answer == {"known": True}


@pytest.mark.parametrize("fails", [False, True])
def test_who_was_given_up_does_not_end_the_request_that_was_made_since(demo_study: Study, fails: bool) -> None:
    offering, task, now = offering_for(demo_study, "local"), Recorder("computing"), timezone.now()
    rows = StudyResults.objects.filter(offering=offering)
    StudyResults.objects.create(offering=offering)
    rows.request_once(lambda: task(offering), now)
    rows.note_start_unless_done(now)

    with at_work(rows, timezone.now, "The computation failed.") as outcome:
        outcome["source"] = "what the first one read"
        rows.request_once(lambda: task(offering), now + LONG_AGO)  # it was quiet for long
        if fails:
            raise EvalPlatformError("The disk is full.")

    row = rows.get()
    assert (row.is_under_way, row.requested_at, row.problem) == (True, now + LONG_AGO, "")
    assert row.source == ("" if fails else "what the first one read")


def test_work_that_fails_ends_and_says_why_and_what_nobody_foresaw_is_raised(demo_study: Study) -> None:
    offering, now = offering_for(demo_study, "local"), timezone.now()
    rows = StudyResults.objects.filter(offering=offering)
    for error in (EvalPlatformError("Two models are needed."), KeyError("boom")):
        StudyResults.objects.update_or_create(offering=offering, defaults={"requested_at": now, "finished_at": None})
        with contextlib.suppress(KeyError), at_work(rows, timezone.now, "The computation failed."):
            raise error
        row = rows.get()
        assert not row.is_under_way
        told = str(error) if isinstance(error, EvalPlatformError) else f"The computation failed. {SEE_LOG}"
        assert row.problem == told

    with pytest.raises(KeyError), at_work(rows, timezone.now, "The computation failed."):
        raise KeyError("boom")


def test_a_second_message_for_results_or_a_bundle_that_are_done_does_nothing(
    demo_study: Study, settings: Settings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    rate(demo_study, hits=1)
    offering, asked_at = offering_for(demo_study, "local"), timezone.now()
    refresh_results(offering, Recorder("computing"), asked_at)
    request_bundle(offering, Recorder("bundling"), None, asked_at)
    for rows in (StudyResults.objects.all(), StudyBundle.objects.all()):
        rows.note_end(asked_at)

    compute_results(offering, timezone.now)
    make_bundle(offering, timezone.now)

    results, bundle = StudyResults.objects.get(), StudyBundle.objects.get()
    assert (results.finished_at, results.computed_at) == (asked_at, None)
    assert (bundle.finished_at, bundle.made_at) == (asked_at, None)
    assert not bundle_file(offering).exists()
