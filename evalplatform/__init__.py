"""Wiring only: settings, addresses, the Celery application. Loading it here makes @shared_task find the broker."""

from evalplatform.celery import app as celery_app

__all__ = ["celery_app"]
