from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.analysing import (
    Results,
    analyse_study,
    describe_left_out,
    describe_origin,
    note_look,
    offerings_of,
    report_as_text,
    report_of,
    results_as_json,
    source_of,
)
from hits.elsewhere import ColumnMapping, FirstLook, describe_problems, parse_columns, read_elsewhere
from hits.management.study_command import StudyCommand
from hits.models import Pool
from hits.screening import pooled_warning, screening_warning


class Command(StudyCommand):
    help = """Shows a study's results: shares with intervals, comparisons, ranking, agreement, and what else matters.

    manage.py show_results demo
    manage.py show_results demo --json > results.json
    manage.py show_results demo --crowd prolific --environment live
    manage.py show_results demo --together people
    manage.py show_results --ratings elsewhere.csv
    manage.py show_results --ratings elsewhere.csv --values "great|fair, more or less|poor"
    manage.py show_results --ratings elsewhere.csv --columns "item=context_id,worker=rater,value=fluency|empathy"
    manage.py show_results --ratings wide.csv --columns "worker=annotator_{generator},value=rating_{generator}"

A study may be offered in several places: --crowd and --environment choose one, and --together puts all whose work has
the same origin together, and shows them side by side. What the current screening leaves out does not count, and a table
shows the results with and without each rule.
--ratings takes ratings that were made elsewhere: a CSV file with any separator, or a JSON list of records. What its
columns are is guessed and told; --columns says it: item, worker, generator, dataset, criterion and value, or raters or
models for several columns with the values of one rater or model each. Values are numbers, the higher the better, words,
which --values names best first, or labels without an order. docs/elsewhere.md has examples, and docs/statistics.md
explains every number."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return bool(options["study"])

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?")
        self.add_scope_arguments(parser)
        parser.add_argument("--ratings", type=Path, metavar="FILE", help="ratings made elsewhere")
        parser.add_argument("--columns", default="", help="what the file's columns are: ROLE=COLUMN,...")
        parser.add_argument("--values", default="", help="words of their scale, best first, with commas or | between")
        parser.add_argument("--labels", action="store_true", help="their values are labels without an order")
        parser.add_argument("--unidentified", action="store_true", help="what stands for raters does not identify them")
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
        scope = self.scope(options)
        results = analyse_study(scope)
        if not results.main.size.ratings:
            raise EvalPlatformError(
                f"{scope.study} has no ratings on the {scope.marketplace} marketplace; run sync_hits first."
            )
        warning = pooled_warning(offerings_of(scope)) if isinstance(scope, Pool) else screening_warning(scope)
        if warning:
            self.stderr.write(f"Mind: {warning} `screen_study {scope.study}` applies the study's rules.")
        if isinstance(scope, Pool) and (left_out := describe_left_out(scope)):
            self.stderr.write(left_out)
        note_look(scope, results.progress, source_of(scope), None, timezone.now())
        if options["json"] and not results.origin.is_from_people:
            self.stderr.write(describe_origin(results.origin))  # people see what a program may overlook
        return results

    def _imported(self, options: dict[str, Any]) -> Results:
        def change(look: FirstLook, guess: ColumnMapping) -> ColumnMapping:
            words = options["values"].split("|" if "|" in options["values"] else ",") if options["values"] else ()
            said = {
                "words": tuple(word.strip() for word in words),
                "kind": "labels" if options["labels"] else "",
                "is_unidentified": options["unidentified"],
            }
            mapping = guess.model_copy(update=said)
            return parse_columns(options["columns"], mapping) if options["columns"] else mapping

        read = read_elsewhere(options["ratings"], change)
        self.stderr.write("Taken for what:\n" + "\n".join(f"  {note}" for note in read.notes))
        if read.unusable:
            problems = describe_problems(read.problems, read.unusable)
            self.stderr.write(f"Left out {count_of(read.unusable, 'rating')}:\n{problems}")
        return read.analyse()
