"""Make the Celery application, with Django's settings and our own logs."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, worker_init
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES["files"] = "evalplatform.embedded_broker:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")

app = Celery("evalplatform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _keep_our_logging(**_: Any) -> None:
    """Do nothing. That there is a receiver stops Celery from installing its own handlers; Django's LOGGING is used."""


@worker_init.connect
@beat_init.connect
def _refuse_changed_key(**_: Any) -> None:
    from evalplatform.secret_key import refuse_changed_key  # Django is set up by now

    refuse_changed_key()
