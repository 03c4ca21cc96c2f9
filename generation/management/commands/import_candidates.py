"""manage.py import_candidates: import replies of generators to dialogs that are already imported."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from generation.corpora.formats import candidate_formats, describe_formats
from generation.importing import ImportCounts, ImportOptions, import_candidates
from generation.management.import_command import ImportCommand
from generation.models import Dataset, GenerationRun, Generator
from generation.style_check import check_dataset_style


class Command(ImportCommand):
    help = f"""Imports replies of any number of generators to dialogs that are already imported.

    manage.py import_candidates replies.jsonl
    manage.py import_candidates replies.csv --dataset ED

A reply's dialog is found by its id or, if the line has none, by the exact context. The dataset is the one named here,
or else the one that the line names. A line that can't be used is reported, and the rest is imported. Importing the same
file again adds nothing. A different reply by the same generator to the same dialog is a conflict: it is reported, and
the stored reply stays.
docs/formats.md describes the formats:
{describe_formats(candidate_formats())}"""
    noun = "candidates"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dataset", default="", metavar="NAME", help="the dataset of the dialogs")
        parser.add_argument(
            "--format", choices=sorted(candidate_formats()), help="guessed from the file's name if left out"
        )

    def run(self, path: Path, options: dict[str, Any], import_options: ImportOptions) -> ImportCounts:
        return import_candidates(path, options["dataset"], options["format"], import_options)

    def what_it_makes(self, path: Path, options: dict[str, Any]) -> QuerySet[Generator]:
        runs = GenerationRun.objects.filter(origin=path.name[-300:])
        return Generator.objects.filter(pk__in=runs.values("generator"))

    def after_import(self, counts: ImportCounts) -> None:
        for dataset in Dataset.objects.filter(name__in=counts.datasets):
            report = check_dataset_style(dataset)
            if report.is_notable:
                self.stdout.write(
                    f"{dataset}: {report.sentence} It stands out by {', '.join(map(str, report.giveaways))}."
                )
