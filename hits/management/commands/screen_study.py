from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from hits.designing import read_study_file
from hits.frames import study_frames
from hits.management.study_command import StudyCommand
from hits.models import Offering
from hits.screening import Screened, describe_evidence, describe_funnel, find_flags, parse_rules, screen, undo_screening

FEW_LINES = 40


class Command(StudyCommand):
    help = """Leaves low-quality work out of a study's results, by the rules that the study was frozen with.

    manage.py screen_study demo
    manage.py screen_study demo --flags
    manage.py screen_study demo --rules other_rules.toml
    manage.py screen_study demo --undo

Prints the funnel, as the paper has it, and the evidence by worker. An answer is what one worker said about one dialog.
Nothing is deleted and nobody's pay changes. --rules takes a file with [[screening]] tables as in a study file: such a
run is marked as exploratory, and --undo goes back to the one before. --flags also shows what the rules that were not
named would find; they leave nothing out. docs/screening.md explains each rule."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)
        parser.add_argument("--rules", type=Path, metavar="FILE.toml", help="other rules, as an exploration")
        parser.add_argument("--undo", action="store_true", help="undo the current screening")
        parser.add_argument("--flags", action="store_true", help="show what rules that are not named would find")
        parser.add_argument("--all", action="store_true", help=f"all evidence, not only the first {FEW_LINES} lines")

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering_to_read(options)
        if options["undo"]:
            self._undo(offering)
            return
        rules = parse_rules(offering.study, read_study_file(options["rules"])) if options["rules"] else None
        screened = screen(offering, timezone.now(), rules)
        self._report(screened, None if options["all"] else FEW_LINES)
        if options["flags"]:
            self._show_flags(offering, screened, None if options["all"] else FEW_LINES)

    def _undo(self, offering: Offering) -> None:
        before = undo_screening(offering, timezone.now())
        counts = (
            f"the one of {before.made_at:%Y-%m-%d %H:%M} counts ({before.kind})" if before else "everything is kept"
        )
        self.stdout.write(f"The screening is undone; now {counts}.")

    def _report(self, screened: Screened, most: int | None) -> None:
        run = screened.run
        self.stdout.write(f"Screening of {run.offering}, {run.kind}.")
        if not run.is_frozen_rules:
            self.stdout.write("EXPLORATORY: these are not the rules that the study was frozen with.")
        self.stdout.write("\n".join(["", *describe_funnel(screened.funnel), "", ""]))
        named = zip(screened.rules, screened.findings, strict=True)
        lines = [line for rule, found in named for line in describe_evidence(rule.rule, found)]
        self._write_some(iter(sorted(lines)), most)
        if not screened.is_new:
            self.stdout.write("Nothing has changed since the last screening.")

    def _show_flags(self, offering: Offering, screened: Screened, most: int | None) -> None:
        flags = find_flags(study_frames(offering), screened.rules)
        self.stdout.write("\nFlags by rules that were not named. They leave nothing out:")
        lines = [line for rule, found in flags.items() for line in describe_evidence(rule, found)]
        self._write_some(iter(sorted(lines) or ["none"]), most)

    def _write_some(self, lines: Iterator[str], most: int | None) -> None:
        rest = 0
        for number, line in enumerate(lines):
            if most is None or number < most:
                self.stdout.write(line)
            else:
                rest += 1
        if rest:
            self.stdout.write(f"... and {rest:,} lines more, with --all")
