from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from hits.crowds import open_crowd
from hits.management.assignment_command import AssignmentCommand
from hits.paying import reject


class Command(AssignmentCommand):
    help = """Rejects an assignment, which takes the worker's pay and hurts their name.

    manage.py reject_assignment demo 17 --reason "Nothing was handed in."
    manage.py reject_assignment demo 17 --crowd prolific --category NO_DATA --reason "..."

Bad answers are no reason: screening leaves them out of the results at no harm to anyone. Reject what was not done at
all. The worker reads the reason. Where a crowd has categories, name one; without it, the command lists them."""

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_assignment_arguments(parser)
        parser.add_argument("--category", default="", help="the ground, where the crowd has a list of them")

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        submission = self.submission(offering, options)
        reject(submission, options["reason"], open_crowd(offering), None, timezone.now(), options["category"])
        self.stdout.write("The assignment is rejected.")
