"""manage.py train_labeller: train fastText to name the emotion or topic of a text."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError


class Command(PlatformCommand):
    help = """Trains a labeller, whose label is put before what a network reads (EmoPrepend, TopicPrepend).

    manage.py train_labeller --data ED --out emotions.safetensors
    manage.py train_labeller --texts newsgroups.tsv --out topics.safetensors
    manage.py train_generator retrieval --data ED --labeller emotions.safetensors --out models/emo-prepend

With --data it learns the dialogs' emotions from their situations (from the newest four turns where there is none), with
--texts the labels of lines of a label, a tab and a text. A tenth is held out, or name --validation; the accuracy on it
is printed. Texts are shuffled, put into lower case and split from their punctuation."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # the data may be files; reading a dataset reports a missing database itself

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--data", nargs="+", metavar="NAME", help="datasets, or files of dialogs with emotions")
        source.add_argument("--texts", type=Path, metavar="FILE", help="lines of a label, a tab and a text")
        parser.add_argument("--validation", nargs="+", metavar="NAME", help="if left out, a tenth is held out")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="a .safetensors file")
        parser.add_argument("--seed", type=int, default=0, help="of the order and of fastText (default 0)")

    def handle(self, *args: Any, **options: Any) -> None:
        from generation.networks.labeller import save_labeller
        from generation.networks.labeller_training import accuracy, train_labeller

        if options["out"].suffix != ".safetensors":
            raise CommandError("--out names a file that ends in .safetensors.")
        try:
            training, validation = _read_texts(options)
            labeller = train_labeller(training, options["seed"])
            save_labeller(labeller, options["out"])
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        told = f"{len(labeller.labels)} labels learned from {len(training):,} texts"
        if validation:
            told += f"; right for {accuracy(labeller, validation):.4f} of {len(validation):,} others"
        self.stdout.write(f"{told}. Written to {options['out']}.")


def _read_texts(options: dict[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    from generation.networks.labeller_training import emotions_of, read_labelled_lines
    from generation.training.context_pairs import Source
    from generation.training.plan import HELD_OUT_OF, Data

    if options["texts"]:
        lines = read_labelled_lines(options["texts"])
        if options["validation"]:
            return lines, [line for name in options["validation"] for line in read_labelled_lines(Path(name))]
        # Every tenth line of each label, because files are often grouped by label.
        ordered = sorted(range(len(lines)), key=lambda number: (lines[number][0], number))
        held_out = set(ordered[HELD_OUT_OF - 1 :: HELD_OUT_OF])
        kept = [line for number, line in enumerate(lines) if number not in held_out]
        return kept, [lines[number] for number in sorted(held_out)]
    data = Data(Source(options["data"]), Source(options["validation"]) if options["validation"] else None)
    return list(emotions_of(data.training_records())), list(emotions_of(data.validation_records()))
