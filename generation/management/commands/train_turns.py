"""manage.py train_turns: learn from scripts that name their speakers where a turn of subtitles ends."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError


class Command(PlatformCommand):
    help = """Learns from scripts that name their speakers whether two lines of subtitles are of one turn.

    manage.py train_turns scripts.tsv --out turns.npz
    manage.py import_dialogs subtitles/ --dataset OS --turns turns.npz

A line of a script is a speaker, a tab and what is said; a blank line ends a scene or episode. What is said at once is
split into sentences. In a .jsonl file a line is an object with speaker and text and, if they are known, start and end
in seconds, which are learned from, too. Every tenth scene is held out, and the accuracy on these is printed beside
that of always giving the more frequent answer."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scripts", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--out", required=True, type=Path, metavar="MODEL", help="a .npz file")

    def handle(self, *args: Any, **options: Any) -> None:
        from generation.corpora.turn_model import read_script, train_turn_model

        try:
            trained = train_turn_model([scene for path in options["scripts"] for scene in read_script(path)])
            trained.model.save(options["out"])
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Learned from {trained.pairs:,} pairs of lines. Right for {trained.accuracy:.4f} of {trained.held_out:,} "
            f"held-out pairs; always the same answer would be right for {trained.majority:.4f}. Written to "
            f"{options['out']}."
        )
