import csv
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from evalplatform.spreadsheet_cells import cell_of
from evalplatform.wording import count_of
from hits.access import note_event
from hits.crowds import check_may_change, decode_list, invite_raters, lines_of, personal_link, read_list
from hits.management.study_command import StudyCommand
from hits.models import Invitation, Offering


class Command(StudyCommand):
    help = """Invites raters by name: each line of a list becomes a link of somebody's own (docs/links.md).

    manage.py invite_raters demo raters.csv
    manage.py invite_raters demo raters.csv --environment live
    manage.py invite_raters demo raters.csv --links > links.csv

A line has a name, an address, or both with a comma; or the file is CSV with columns such as name and e-mail. "-" reads
the list from standard input. Who is invited already is not invited again, so the same list can be given twice. With
--links, the links of all raters are printed as CSV, and that is noted in the study's events. Letters are written on
the study's page of invitations."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("file", metavar="FILE", help="the list, or - for standard input")
        self.add_marketplace_arguments(parser)
        parser.set_defaults(crowd="link")
        parser.add_argument("--links", action="store_true", help="print the links of all raters, as CSV")

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        check_may_change(offering)
        if offering.study.frozen_at is None:
            raise CommandError(f"{offering.study} has no HITs yet: run manage.py build_hits {offering.study} first.")
        file = options["file"]
        read = read_list(decode_list(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()))
        invited = invite_raters(offering, read.people, None, timezone.now())
        self.stderr.write(f"{invited.in_words}.")
        if options["links"]:
            self._print_links(offering)
        for line in lines_of(read.problems):
            self.stderr.write(line)
        if read.problems:
            raise CommandError(f"{count_of(len(read.problems), 'line')} could not be read; the others were.")

    def _print_links(self, offering: Offering) -> None:
        note_event(
            offering.study, f"printed the personal links of raters ({offering.marketplace})", None, timezone.now()
        )
        writer = csv.writer(self.stdout, lineterminator="\n")
        writer.writerow(["name", "email", "link"])
        for one in Invitation.objects.filter(offering=offering, revoked_at=None):
            writer.writerow([cell_of(one.name), cell_of(one.email), personal_link(one)])
