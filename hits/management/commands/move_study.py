from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds import check_is_allowed, environment_of, worker_page_url
from hits.management.study_command import StudyCommand
from hits.models import Event, Offering


class Command(StudyCommand):
    help = """Says that this server has taken the place of the one that published a study.

    manage.py move_study demo --environment production

Outside of this machine, a study belongs to the server that published it, by its PUBLIC_URL: a copy of the database
elsewhere neither pays nor publishes. Run this on the new server, when the old one no longer runs. HITs that are on
offer still lead to the old address: redirect it, or put them up again with put_up_again."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser, needs_environment=True)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        if environment_of(offering).runs_here:
            raise EvalPlatformError(
                f"What stands on {offering.marketplace} belongs to no server: there is nothing to move."
            )
        check_is_allowed(offering.marketplace)
        page_url = worker_page_url(offering)
        if offering.page_url in ("", page_url):
            raise EvalPlatformError(
                f"{offering.study} does not belong to another server on {offering.marketplace}: nothing to move."
            )
        text = f"moved the study on {offering.marketplace} from {offering.page_url} to {page_url}"
        Offering.objects.filter(pk=offering.pk).update(page_url=page_url)
        Event.objects.create(study=offering.study, at=timezone.now(), actor=None, text=text)
        self.stdout.write(f"{offering.study} on {offering.marketplace} belongs to {settings.PUBLIC_URL} now.")
