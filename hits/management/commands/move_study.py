from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds.opening import check_is_allowed, worker_page_url
from hits.designing.study_files import get_study
from hits.management.study_command import StudyCommand
from hits.models import Event, MarketEnvironment, StudyMarket


class Command(StudyCommand):
    help = """Says that this server has taken the place of the one that published a study.

    manage.py move_study demo --environment production

A study on Mechanical Turk belongs to the server that published it, by its PUBLIC_URL: a copy of the database elsewhere
neither pays nor publishes. Run this on the new server, when the old one no longer runs. HITs that are on offer still
lead to the old address: redirect it, or put them up again with put_up_again."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument(
            "--environment", choices=[MarketEnvironment.SANDBOX, MarketEnvironment.PRODUCTION], required=True
        )

    def run(self, options: dict[str, Any]) -> None:
        study, environment = get_study(options["study"]), options["environment"]
        check_is_allowed(environment)
        page_url = worker_page_url(environment)
        known = StudyMarket.objects.filter(study=study, environment=environment).exclude(page_url="").first()
        if known is None or known.page_url == page_url:
            raise EvalPlatformError(f"{study} does not belong to another server on {environment}: nothing to move.")
        StudyMarket.objects.filter(pk=known.pk).update(page_url=page_url)
        text = f"moved the study on {environment} from {known.page_url} to {page_url}"
        Event.objects.create(study=study, at=timezone.now(), actor=None, text=text)
        self.stdout.write(f"{study} on {environment} belongs to {settings.PUBLIC_URL} now.")
