"""Celery shells: fetch by id, call the room. Generation runs on the queue `gpu`, the rest on `default`."""

from celery import shared_task

from generation.models import Dataset
from generation.style_check import check_dataset_style


@shared_task
def check_style_of_dataset(dataset_id: int) -> None:
    check_dataset_style(Dataset.objects.get(pk=dataset_id))
