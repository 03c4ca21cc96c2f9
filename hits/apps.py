from django.apps import AppConfig


class HitsConfig(AppConfig):
    name = "hits"
    verbose_name = "HITs"

    def ready(self) -> None:
        from hits import background  # noqa: F401  # listens to Celery's signals
        from hits.protocols import PROTOCOLS  # noqa: F401  # each adds the designs of its studies to StudyDesign
        from hits.screening import RULES  # noqa: F401  # which a design may name
