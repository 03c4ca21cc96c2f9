"""Wiring: settings, addresses, log-in, background processes.

The Celery application is loaded here, so that @shared_task finds the broker.
"""

import gc

# Before the imports that follow: they make many objects, and no garbage. Python would look through all of them again
# and again, which is a seventh of a web server's start.
gc.set_threshold(20_000, 50, 100)

from evalplatform.celery import app as celery_app  # noqa: E402

__version__ = "0.1.0"
__all__ = ["__version__", "celery_app"]
