"""Celery shells: fetch by id, call the room. Ids travel, never rows."""

from celery import shared_task

from hits.batching import build_hits
from hits.models import Study


@shared_task
def build_hits_of_study(study_id: int) -> None:
    build_hits(Study.objects.get(pk=study_id))
