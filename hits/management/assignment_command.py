"""Finds the assignment that a command is about, by its number on our pages or by the crowd's id."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from hits.management.study_command import StudyCommand
from hits.models import Offering, Submission

MOST_DIGITS_OF_NUMBERS = 18  # longer ones are ids, and no number of ours


class AssignmentCommand(StudyCommand):
    def add_assignment_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("assignment", help="its number on the Assignments page, or the crowd's id")
        self.add_marketplace_arguments(parser)
        parser.add_argument("--reason", required=True, help="what the worker reads")

    def submission(self, offering: Offering, options: dict[str, Any]) -> Submission:
        named = options["assignment"]
        ours = Submission.objects.filter(assignment__offering=offering).select_related("assignment__hit__study")
        found = ours.filter(assignment__crowd_assignment_id=named).first()
        if found is None and named.isdecimal() and len(named) <= MOST_DIGITS_OF_NUMBERS:
            found = ours.filter(assignment=int(named)).first()
        if found is None:
            raise CommandError(
                f"{offering.study} has no assignment {named} on {offering.marketplace} that was handed in. Its number "
                "is on the Assignments page."
            )
        found.assignment.offering = offering
        return found
