"""Sends tasks to background processes; records for pages when each began, ended or failed.

What comes in: a task and the ids it takes. What goes out: a `BackgroundJob`, which pages show until it is finished.
What is guaranteed: pages show every request as waiting, whether or not a background process runs; a job that failed
says why. Celery's signals write the rows, so that tasks do not have to.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from celery import Task
from celery.signals import task_failure, task_postrun, task_prerun
from django.db import transaction
from django.utils import timezone

from evalplatform.background_work import BROKER_IS_AWAY, SEE_LOG, send_task, showing_life
from evalplatform.errors import EvalPlatformError, in_one_line
from hits.models import BackgroundJob, Offering, Pool, PublishingRun, SchedulerBeat, Study
from hits.models.background_job import BackgroundJobQuerySet

# What pages say about each task while somebody waits for it.
JOBS = {
    "hits.tasks.build_hits_of_study": "Building the HITs",
    "hits.tasks.sync_hits_of_offering": "Collecting and paying",
    "hits.tasks.replace_assignments_of_offering": "Asking for replacements",
    "hits.tasks.put_hits_up_again": "Putting HITs up again",
    "hits.tasks.screen_work_of_offering": "Screening the work",
    "hits.tasks.undo_screening_of_offering": "Undoing the screening",
    "hits.tasks.stop_hits_of_offering": "Taking the HITs off the market",
    "hits.tasks.resume_hits_of_offering": "Putting the HITs back on the market",
    "hits.tasks.plan_size_of_study": "Simulating the study",
    "hits.tasks.write_manifest_of_study": "Writing the manifest",
}
# Their rows are others: a run of publishing, results, a bundle, an upload.
WITH_ROWS_OF_THEIR_OWN = {
    "hits.tasks.publish_hits_of_run",
    "hits.tasks.compute_results_of_offering",
    "hits.tasks.make_bundle_of_offering",
    "hits.tasks.compute_results_of_pool",
    "hits.tasks.make_bundle_of_pool",
    "hits.tasks.analyse_ratings_upload",
}
SHOWN_AFTER_FAILURE = timedelta(minutes=10)
SCHEDULER_IS_LATE = timedelta(minutes=3)
UNFINISHED_FOR = timedelta(days=2)  # older ones were lost together with the broker's messages


def send(task: Any, about: Study | Offering | Pool | PublishingRun, *more: Any) -> None:
    """Ask a background process to run the task. The task gets the primary key of what it is about, and `more`."""
    if task.name in WITH_ROWS_OF_THEIR_OWN:
        send_task(task, about.pk, *more)
        return
    study, offering = _study_and_offering(about)
    task_id, now = uuid.uuid4(), timezone.now()
    BackgroundJob.objects.create(
        task_id=task_id, study=study, offering=offering, what=JOBS[task.name], requested_at=now
    )
    BackgroundJob.objects.filter(task_id=task_id).send_requested(
        lambda: send_task(task, about.pk, *more, task_id=str(task_id)), now, requested_at=now
    )


def send_once(task: Any, study: Study, *more: Any, question: str = "") -> BackgroundJob:
    """Ask for the task unless somebody already has, and return the job that is under way.

    If nobody has heard from it for a while, its message is sent again; a process that finds the job finished does
    nothing.
    """
    with transaction.atomic():
        Study.objects.select_for_update().get(
            pk=study.pk
        )  # a second request waits here, then finds the first one's job
        same = BackgroundJob.objects.filter(study=study, offering=None, what=JOBS[task.name], question=question)
        job = same.filter(finished_at=None).first() or BackgroundJob.objects.create(
            task_id=uuid.uuid4(), study=study, what=JOBS[task.name], question=question
        )
    row = BackgroundJob.objects.filter(pk=job.pk)
    row.request_once(lambda: send_task(task, study.pk, *more, task_id=str(job.task_id)), timezone.now())
    found = row.first()
    if found is None:  # another request came first, could not be sent, and was withdrawn
        raise EvalPlatformError(BROKER_IS_AWAY)
    return found


class JobTask(Task):  # type: ignore[misc]
    """A task whose job pages show. It keeps noting that it lives, and skips a job that is finished already. Each is
    listed in JOBS."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        jobs = _jobs(self.request.id) if self.request.id else BackgroundJob.objects.none()
        if jobs.filter(finished_at__isnull=False).exists():
            return None
        with showing_life(jobs, timezone.now):
            return self.run(*args, **more)


def _study_and_offering(about: Study | Offering | Pool | PublishingRun) -> tuple[Study, Offering | None]:
    if isinstance(about, Study):
        return about, None
    if isinstance(about, Pool):
        return about.study, None
    offering = about.offering if isinstance(about, PublishingRun) else about
    return offering.study, offering


def jobs_to_show(about: Study | Offering, now: datetime) -> list[BackgroundJob]:
    """Return the jobs that are unfinished or failed lately, the oldest first.

    For a study, these are the jobs that concern no crowd. Plans are shown only where they were requested.
    """
    study, offering = _study_and_offering(about)
    jobs = study.background_jobs.filter(offering=offering, question="", requested_at__gt=now - UNFINISHED_FOR)
    unfinished = jobs.under_way()
    failed = jobs.exclude(problem="").filter(finished_at__gt=now - SHOWN_AFTER_FAILURE)
    return sorted({*unfinished, *failed}, key=lambda job: job.pk)


def note_scheduler(now: datetime) -> None:
    """Note that the scheduler ran."""
    SchedulerBeat.objects.update_or_create(pk=1, defaults={"at": now})


def scheduler_seen_at() -> datetime | None:
    """Return when the scheduler last ran."""
    return SchedulerBeat.objects.values_list("at", flat=True).first()


def _jobs(task_id: str) -> BackgroundJobQuerySet:
    return BackgroundJob.objects.filter(task_id=task_id)


@task_prerun.connect  # type: ignore[untyped-decorator]
def _note_start(task_id: str = "", task: Any = None, **_: Any) -> None:
    if getattr(task, "name", "") in JOBS:
        _jobs(task_id).note_start(timezone.now())


@task_postrun.connect  # type: ignore[untyped-decorator]
def _note_end(task_id: str = "", task: Any = None, state: str = "", **_: Any) -> None:
    if getattr(task, "name", "") in JOBS and state in ("SUCCESS", "FAILURE"):
        _jobs(task_id).note_end(timezone.now())


@task_failure.connect  # type: ignore[untyped-decorator]
def _note_failure(task_id: str = "", sender: Any = None, exception: Any = None, **_: Any) -> None:
    if getattr(sender, "name", "") in JOBS:
        problem = in_one_line(exception) or f"It failed. {SEE_LOG}"
        _jobs(task_id).note_end(timezone.now(), problem=problem)
