"""Wiring only: settings, addresses, the Celery application. Loading it here makes @shared_task find the broker."""

from evalplatform.celery import app as celery_app

__version__ = "0.1.0"
__all__ = ["__version__", "celery_app"]
