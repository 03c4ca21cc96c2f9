from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.wording import count_of
from hits.crowds import open_crowd
from hits.management.study_command import StudyCommand
from hits.publishing import resume_study, stop_study


class Command(StudyCommand):
    help = """Takes a study's HITs off the market at once, or puts them back.

    manage.py stop_study demo
    manage.py stop_study demo --resume

Workers who hold an assignment may still finish and submit it: they are paid as always. Once a bundle has revealed the
card orders, --resume needs --orders-are-public."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)
        parser.add_argument("--resume", action="store_true", help="put stopped HITs on offer again")
        self.add_public_orders_argument(parser)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        if options["resume"]:
            self.refuse_public_orders(offering.study, options)
        act, did = (resume_study, "on offer again") if options["resume"] else (stop_study, "taken off the market")
        result = act(offering, open_crowd(offering), timezone.now)
        self.stdout.write(f"{count_of(result.changed, 'HIT')} {did}.")
        self.tell(result)
