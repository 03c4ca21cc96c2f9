"""Tells what a page waits for while a background process works, since when, and whether one runs at all."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from evalplatform import process_commands
from evalplatform.background_work import BackgroundWork
from evalplatform.listeners import is_anyone_listening
from hits.background import SCHEDULER_IS_LATE, jobs_to_show, scheduler_seen_at
from hits.models import BackgroundJob, Offering, Study


@dataclass(frozen=True)
class Wait:
    """What `hits/_waiting.html` shows. `is_alone` says that no background process runs that could do it."""

    what: str
    since: datetime
    is_started: bool
    is_alone: bool
    problem: str = ""
    command: str = process_commands.BACKGROUND


def wait_for(what: str, work: BackgroundWork) -> Wait | None:
    """Describe the wait for this work; None if nobody waits for it."""
    if work.requested_at is None or not work.is_under_way:
        return None
    return Wait(what, work.started_at or work.requested_at, work.started_at is not None, not is_anyone_listening())


def wait_for_job(job: BackgroundJob) -> Wait | None:
    if job.problem and job.requested_at:
        return Wait(job.what, job.started_at or job.requested_at, job.started_at is not None, False, job.problem)
    return wait_for(job.what, job)


def waits_of(about: Study | Offering) -> list[Wait]:
    return [wait for job in jobs_to_show(about, timezone.now()) if (wait := wait_for_job(job))]


def scheduler_state() -> dict[str, Any]:
    """Tell if submissions are collected automatically."""
    seen_at = scheduler_seen_at()
    is_alone = not is_anyone_listening()  # then no process does what the scheduler requests
    is_late = seen_at is None or timezone.now() - seen_at > SCHEDULER_IS_LATE
    return {
        "is_late": is_late,
        "is_alone": is_alone,
        "seen_at": seen_at,
        "minutes": settings.SYNC_MINUTES,
        "command": process_commands.BACKGROUND if is_alone else process_commands.SCHEDULER,
    }
