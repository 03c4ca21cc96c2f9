from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hits.designing.studies import create_study, read_study_file
from hits.designing.summarising import check_study_style, summarise
from hits.management.study_command import StudyCommand
from hits.models.design import StudyDesign


class Command(StudyCommand):
    help = """Makes a study from a TOML file, after checking it against the data.

    manage.py create_study examples/demo.toml

An invalid study is refused with every problem at once. The same file again changes nothing. examples/meed2.toml is
the paper's experiment; docs/studies.md lists every setting. Next: manage.py build_hits NAME."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def run(self, options: dict[str, Any]) -> None:
        study = create_study(read_study_file(options["file"]))
        design = StudyDesign.model_validate(study.design)
        self.stdout.write(f"Study {study}:")
        summary = summarise(design)
        for line in [*summary.lines, summary.hourly_pay]:
            self.stdout.write(f"  {line}")
        for finding in check_study_style(design).findings:
            self.stdout.write(f"  Warning: the human reply can be told by {finding}.")
