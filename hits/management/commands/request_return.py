from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from hits.crowds import open_crowd
from hits.management.assignment_command import AssignmentCommand
from hits.paying import check_can_ask_back, request_return


class Command(AssignmentCommand):
    help = """Asks a worker to give an assignment back, instead of rejecting it.

    manage.py request_return demo 17 --crowd prolific --reason "Your answers did not arrive. We are sorry."

The worker reads the reason. They are not paid for work that they give back, and it does not count against them. Nothing
is paid until they do, or until you approve or reject it. Asking again changes nothing."""

    def add_arguments(self, parser: CommandParser) -> None:
        self.add_assignment_arguments(parser)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        check_can_ask_back(offering)
        submission = self.submission(offering, options)
        is_new = request_return(submission, options["reason"], open_crowd(offering), None, timezone.now())
        self.stdout.write("The worker is asked to give it back." if is_new else "The worker was asked before.")
