"""Starts the app: registers Celery's signals, the protocols and the screening rules."""

from django.apps import AppConfig


class HitsConfig(AppConfig):
    name = "hits"
    verbose_name = "HITs"

    def ready(self) -> None:
        from hits import background  # noqa: F401  # connects to Celery's signals
        from hits.protocols import PROTOCOLS  # noqa: F401  # each adds its design class to StudyDesign
        from hits.screening import RULES  # noqa: F401  # adds the rules that a design may name
