"""The Celery application: settings from Django's, logs in our own form."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES["files"] = "evalplatform.embedded_broker:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")

app = Celery("evalplatform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _keep_our_logging(**_: Any) -> None:
    """A receiver stops Celery from installing handlers of its own; Django's LOGGING is in force already."""
