"""manage.py compare_training: print the validation perplexities of two training runs side by side."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from generation.training.history import MACRO, TOKEN_WEIGHTED, Entry, draw_curves, read_history
from generation.training.run_comparison import Comparison, best_of, compare_runs


class Command(PlatformCommand):
    help = """Prints the validation perplexities of two runs of train_generator side by side.

    manage.py compare_training models/one models/other --figure curves.svg

Both runs should have the same data, tokenizer, batches and sizes. Lower is better. A network that is told emotions is
trained and validated with the true emotion of each reply, which other networks have to guess."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # it only reads files

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("first", type=Path, metavar="FOLDER", help="a checkpoint, or its .training folder")
        parser.add_argument("second", type=Path, metavar="FOLDER")
        parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="both curves in one figure")

    def handle(self, *args: Any, **options: Any) -> None:
        first, second = options["first"], options["second"]
        try:
            histories = [read_history(first), read_history(second)]
            comparison = compare_runs(*histories)
            if options["figure"]:
                options["figure"].write_bytes(draw_curves({first.name: histories[0], second.name: histories[1]}))
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_make_table(first.name, second.name, comparison))
        for name, history in zip((first.name, second.name), histories, strict=True):
            self.stdout.write(f"The checkpoint of {name} is from {_describe_entry(best_of(history))}.")
        lower, steps = comparison.second_is_lower, len(comparison.rows)
        self.stdout.write(f"{second.name} has the lower macro perplexity at {lower} of {steps} steps.")


def _make_table(first: str, second: str, comparison: Comparison) -> str:
    heads = [name[:24] for name in (first, second)]
    lines = [
        f"{'':15} | {heads[0]:^32} | {heads[1]:^32} |",
        f"{'step':>7} {'epoch':>7} |"
        + f" {'macro':>8} {'token-w.':>9} {'minutes':>7} {'CPU':>5} |" * 2
        + " second / first",
    ]
    for row in comparison.rows:
        ratio = row.second[MACRO] / row.first[MACRO]
        sides = "".join(f" {_format_entry(entry)} |" for entry in (row.first, row.second))
        lines.append(f"{row.step:>7,} {row.epoch:>7.2f} |{sides} {ratio:.3f}")
    return "\n".join(lines)


def _format_entry(entry: Entry) -> str:
    minutes = f"{entry['seconds'] / 60:>7.1f} {entry['cpu_seconds'] / 60:>5.1f}"
    return f"{entry[MACRO]:>8.2f} {entry[TOKEN_WEIGHTED]:>9.2f} {minutes}"


def _describe_entry(entry: Entry) -> str:
    return f"step {entry['step']:,}: {entry[MACRO]:.2f} macro, {entry[TOKEN_WEIGHTED]:.2f} token-weighted"
