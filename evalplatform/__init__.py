"""Wiring: settings, addresses, log-in, background processes.

The Celery application is loaded here, so that @shared_task finds the broker.
"""

from evalplatform.celery import app as celery_app

__version__ = "0.1.0"
__all__ = ["__version__", "celery_app"]
