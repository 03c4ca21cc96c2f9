"""manage.py import_dialogs: import dialogs from a file, or from a folder or archive of subtitles, into a dataset."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import QuerySet

from generation.corpora.formats import describe_formats, dialog_formats
from generation.corpora.turn_model import load_turn_model
from generation.importing import ImportCounts, ImportOptions, import_dialogs
from generation.management.import_command import ImportCommand
from generation.models import Dataset


class Command(ImportCommand):
    help = f"""Imports dialogs from a file, or from a folder or zip archive of subtitle files, into a dataset.

The dataset is made if it does not exist.

    manage.py import_dialogs empatheticdialogues/test.csv --dataset ED
    manage.py import_dialogs my_dialogs.jsonl --dataset OS --dry-run
    manage.py import_dialogs subtitles/ --dataset OS --format opensubtitles

A line that can't be used is reported with its number and reason, and the rest is imported. Importing the same file
again adds nothing. An id that is stored with another text is a conflict: it is reported, and the stored dialog stays.
docs/formats.md describes the formats:
{describe_formats(dialog_formats())}"""
    noun = "dialogs"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dataset", required=True, metavar="NAME", help="the dataset that the dialogs go into")
        parser.add_argument(
            "--format", choices=sorted(dialog_formats()), help="guessed from the file's name if left out"
        )

        parser.add_argument(
            "--turns", type=Path, metavar="MODEL", help="for subtitles: a model of train_turns, which tells who goes on"
        )

    def run(self, path: Path, options: dict[str, Any], import_options: ImportOptions) -> ImportCounts:
        if options["turns"]:
            import_options = replace(import_options, turns=load_turn_model(options["turns"]))
        return import_dialogs(path, options["dataset"], options["format"], import_options)

    def what_it_makes(self, path: Path, options: dict[str, Any]) -> QuerySet[Dataset]:
        return Dataset.objects.filter(name=options["dataset"])
