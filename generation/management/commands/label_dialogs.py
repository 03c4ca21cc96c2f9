"""manage.py label_dialogs: label every turn with an emotion or intent, and select the most emotional dialogs."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from evalplatform.terminal import plain_console
from generation.corpora.formats import dialog_formats


class Command(PlatformCommand):
    help = """Labels every turn of dialogs with one of the 41 emotions and intents, and selects the most emotional ones.

    manage.py label_dialogs subtitles/ --classifier models/classifier --out os_labelled.jsonl
    manage.py label_dialogs OS --classifier models/classifier --most-emotional 1000000 --out edos.jsonl \\
        --others os.jsonl

The classifier is a Hugging Face model with these labels: train_generator emotion-classifier makes one. A dialog's
emotionality is the mean over its turns of the probability of the 32 emotions together. The files that are written are
for train_generator and import_dialogs; they also have each dialog's emotionality."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # the data may be a file; reading a dataset reports a missing database itself

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("data", metavar="NAME", help="a dataset, a file of dialogs, or a folder of subtitle files")
        parser.add_argument("--classifier", required=True, metavar="FOLDER")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="JSONL to write")
        parser.add_argument(
            "--most-emotional", type=int, default=0, metavar="N", help="write only the N most emotional"
        )
        parser.add_argument("--others", type=Path, metavar="FILE", help="with --most-emotional: JSONL of the rest")
        parser.add_argument(
            "--format", choices=list(dialog_formats()), help="of files; guessed from their names if left out"
        )
        parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["most_emotional"] < 0 or (options["others"] and not options["most_emotional"]):
            raise CommandError("--others needs --most-emotional, which is a number above 0.")
        from generation.networks.emotion_classifier import EmotionClassifier
        from generation.training.context_pairs import Source
        from generation.training.labelling import label_dialogs

        console = plain_console()
        columns = (TextColumn("Labelling"), TextColumn("{task.completed:,.0f} dialogs"), TimeElapsedColumn())
        source = Source([options["data"]], options["format"])
        try:
            classifier = EmotionClassifier.load(options["classifier"], options["device"])
            with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
                bar = progress.add_task("", total=None)
                counts = label_dialogs(
                    source.records(), classifier, options["out"], options["most_emotional"], options["others"],
                    lambda count: progress.advance(bar, count),
                )  # fmt: skip
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{counts.labelled:,} dialogs labelled, {counts.selected:,} of them written to {options['out']}, "
            f"{source.rejected:,} lines rejected."
        )
