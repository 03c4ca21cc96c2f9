"""What pages ask of background processes: noted before it is sent, and when it begins and ends.

In: a task and the ids it takes. Out: a `BackgroundJob`, which pages show until it is finished. Guaranteed: what is
asked for is seen to be waited for, whether or not a process runs; what failed says why. Celery's own signals write it,
so that tasks do not have to.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from celery import Task
from celery.signals import task_failure, task_postrun, task_prerun
from django.db import transaction
from django.utils import timezone

from evalplatform.background_work import BROKER_IS_AWAY, send_task, showing_life
from evalplatform.errors import EvalPlatformError, in_one_line
from hits.models import BackgroundJob, Offering, PublishingRun, SchedulerBeat, Study
from hits.models.background_job import BackgroundJobQuerySet

# By task: what is said of it while it is waited for.
JOBS = {
    "hits.tasks.build_hits_of_study": "Building the HITs",
    "hits.tasks.sync_hits_of_offering": "Collecting and paying",
    "hits.tasks.replace_assignments_of_offering": "Asking for replacements",
    "hits.tasks.screen_work_of_offering": "Screening the work",
    "hits.tasks.undo_screening_of_offering": "Undoing the screening",
    "hits.tasks.stop_hits_of_offering": "Taking the HITs off the market",
    "hits.tasks.resume_hits_of_offering": "Putting the HITs back on the market",
    "hits.tasks.plan_size_of_study": "Simulating the study",
    "hits.tasks.write_manifest_of_study": "Writing the manifest",
}
FAILED = "It failed. The background process's log has the details; tell whoever runs this server."
SHOWN_AFTER_FAILURE = timedelta(minutes=10)
SCHEDULER_IS_LATE = timedelta(minutes=3)
UNFINISHED_FOR = timedelta(days=2)  # older ones were lost with their broker's messages


def send(task: Any, about: Study | Offering | PublishingRun, *more: Any) -> None:
    """Ask a background process to do the task. It gets the id of what it is about, and what more it needs."""
    if task.name not in JOBS:
        send_task(task, about.pk, *more)
        return
    study, offering = _subject(about)
    task_id, now = uuid.uuid4(), timezone.now()
    BackgroundJob.objects.create(
        task_id=task_id, study=study, offering=offering, what=JOBS[task.name], requested_at=now
    )
    BackgroundJob.objects.filter(task_id=task_id).send_requested(
        lambda: send_task(task, about.pk, *more, task_id=str(task_id)), now
    )


def send_once(task: Any, study: Study, *more: Any, question: str = "") -> BackgroundJob:
    """Ask for the task unless someone else has: return the job that is under way. If nobody has been heard of it for a
    while, its message is sent again; a process that finds the job finished does nothing."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)  # a second request waits here, and finds the first one's job
        same = BackgroundJob.objects.filter(study=study, offering=None, what=JOBS[task.name], question=question)
        job = same.filter(finished_at=None).first() or BackgroundJob.objects.create(
            task_id=uuid.uuid4(), study=study, what=JOBS[task.name], question=question
        )
    row = BackgroundJob.objects.filter(pk=job.pk)
    row.request_once(lambda: send_task(task, study.pk, *more, task_id=str(job.task_id)), timezone.now())
    found = row.first()
    if found is None:  # someone else asked first, could not send it, and took it back
        raise EvalPlatformError(BROKER_IS_AWAY)
    return found


class JobTask(Task):  # type: ignore[misc]
    """A task with a job that pages show: it notes that it lives, and skips a job that is finished already."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        jobs = _jobs(self.request.id) if self.request.id else BackgroundJob.objects.none()
        if jobs.filter(finished_at__isnull=False).exists():
            return None
        with showing_life(jobs, timezone.now):
            return self.run(*args, **more)


def _subject(about: Study | Offering | PublishingRun) -> tuple[Study, Offering | None]:
    if isinstance(about, Study):
        return about, None
    offering = about.offering if isinstance(about, PublishingRun) else about
    return offering.study, offering


def jobs_to_show(about: Study | Offering, now: datetime) -> list[BackgroundJob]:
    """Return unfinished ones, and those that failed lately; the oldest first. A study's are those about no crowd; plans
    are shown where they were asked for."""
    study, offering = _subject(about)
    jobs = study.background_jobs.filter(offering=offering, question="", requested_at__gt=now - UNFINISHED_FOR)
    unfinished = jobs.under_way()
    failed = jobs.exclude(problem="").filter(finished_at__gt=now - SHOWN_AFTER_FAILURE)
    return sorted({*unfinished, *failed}, key=lambda job: job.pk)


def note_scheduler(now: datetime) -> None:
    SchedulerBeat.objects.update_or_create(pk=1, defaults={"at": now})


def scheduler_seen_at() -> datetime | None:
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
        problem = in_one_line(exception) or FAILED
        _jobs(task_id).note_end(timezone.now(), problem=problem)
