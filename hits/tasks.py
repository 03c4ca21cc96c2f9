"""Celery shells: fetch by id, call the room. Ids travel, never rows."""

import structlog
from celery import Task, shared_task
from django.utils import timezone

from hits.batching import build_hits
from hits.errors import MarketUnavailable
from hits.markets import enter_market, open_market
from hits.models import PublishingRun, Study
from hits.publishing.runs import carry_out_run, finish_run
from hits.publishing.stopping import resume_study, stop_study
from hits.syncing import sync, unsettled_studies

log = structlog.get_logger("hits.tasks")

TRY_AGAIN_SECONDS = 60
MOST_RETRIES = 10


@shared_task
def build_hits_of_study(study_id: int) -> None:
    build_hits(Study.objects.get(pk=study_id))


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
    """Every few minutes, by Celery's beat: a task for each study and marketplace with work that is not settled."""
    for study_id, environment in unsettled_studies():
        sync_hits_of_study.delay(study_id, environment)


@shared_task
def sync_hits_of_study(study_id: int, environment: str) -> None:
    study = Study.objects.get(pk=study_id)
    synced = sync(study, environment, open_market(environment), timezone.now)
    log.info(
        "synced", study=study.name, environment=environment, new=synced.collected.new, paid_cents=synced.paid.cents
    )


@shared_task
def stop_hits_of_study(study_id: int, environment: str) -> None:
    stop_study(Study.objects.get(pk=study_id), environment, open_market(environment), timezone.now)


@shared_task
def resume_hits_of_study(study_id: int, environment: str) -> None:
    resume_study(Study.objects.get(pk=study_id), environment, open_market(environment), timezone.now)
