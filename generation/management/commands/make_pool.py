"""manage.py make_pool: give a retrieval network other replies to choose from."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from generation.corpora.formats import dialog_formats


class Command(PlatformCommand):
    help = """Gives a retrieval network other replies to choose from than those of its training data.

    manage.py make_pool models/retrieval --data ED-train DailyDialog reddit.jsonl

The pool gets every turn of these dialogs but the first, if it has at most 20 tokens and no unknown word, each text
once, and a sample of a million of them at most. Name training data only: a reply is never chosen for the dialog that
it was taken from, but test data in the pool would still answer other test dialogs. A model whose pool changed must be
registered under a new name."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # the data may be files; reading a dataset reports a missing database itself

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("checkpoint", type=Path, help="the folder that train_generator wrote")
        parser.add_argument("--data", required=True, nargs="+", metavar="NAME", help="datasets, or files of dialogs")
        parser.add_argument(
            "--format", choices=list(dialog_formats()), help="of files; guessed from their names if left out"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # These are imported here, because torch takes seconds, and --help doesn't need it.
        from generation.networks.pool_making import replace_pool
        from generation.training.context_pairs import Source

        try:
            with TemporaryDirectory() as folder:
                source = Source(options["data"], options["format"])
                pool = replace_pool(options["checkpoint"], source, Path(folder))
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['checkpoint']} now chooses from {count_of(len(pool), 'reply', 'replies')}.")
