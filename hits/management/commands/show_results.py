from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.analysing import (
    DEFAULT_SCALE,
    Results,
    analyse,
    analyse_study,
    describe_origin,
    describe_problems,
    import_ratings,
    note_look,
    report_as_text,
    report_of,
    results_as_json,
    source_of,
)
from hits.management.study_command import StudyCommand
from hits.screening import screening_warning


class Command(StudyCommand):
    help = """Shows a study's results: shares with intervals, comparisons, ranking, agreement, and what else matters.

    manage.py show_results demo
    manage.py show_results demo --json > results.json
    manage.py show_results --ratings elsewhere.csv
    manage.py show_results --ratings elsewhere.csv --values great,fair,poor

What the current screening leaves out does not count, and a table shows the results with and without each rule.
--ratings takes ratings that were made elsewhere: a CSV file with the columns item, worker, generator, value and, if
there are several, dataset. Values are numbers, the higher the better, or words, which --values names, best first.
docs/statistics.md explains every number."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return bool(options["study"])

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?")
        self.add_place_arguments(parser)
        parser.add_argument("--ratings", type=Path, metavar="FILE.csv", help="ratings made elsewhere")
        parser.add_argument("--values", default=",".join(DEFAULT_SCALE), help="words of their scale, best first")
        parser.add_argument("--json", action="store_true", help="everything, for other programs")

    def run(self, options: dict[str, Any]) -> None:
        if bool(options["study"]) == bool(options["ratings"]):
            raise EvalPlatformError(
                "Name either a study or a file of ratings: show_results demo, or --ratings FILE.csv."
            )
        results = self._imported(options) if options["ratings"] else self._of_study(options)
        self.stdout.write(
            results_as_json(results) if options["json"] else "\n".join(report_as_text(report_of(results)))
        )

    def _of_study(self, options: dict[str, Any]) -> Results:
        offering = self.offering(options)
        results = analyse_study(offering)
        if not results.main.size.ratings:
            raise EvalPlatformError(
                f"{offering.study} has no ratings on the {offering.place} marketplace; run sync_hits first."
            )
        if warning := screening_warning(offering):
            self.stderr.write(f"Mind: {warning} `screen_study {offering.study}` applies the study's rules.")
        note_look(offering, results.progress, source_of(offering), None, timezone.now())
        if options["json"] and not results.origin.is_from_people:
            self.stderr.write(describe_origin(results.origin))  # people see what a program may overlook
        return results

    def _imported(self, options: dict[str, Any]) -> Results:
        imported = import_ratings(options["ratings"], options["values"].split(","))
        if imported.problems:
            self.stderr.write(f"Left out {len(imported.problems):,} lines:\n" + describe_problems(imported.problems))
        return analyse(imported.frame)
