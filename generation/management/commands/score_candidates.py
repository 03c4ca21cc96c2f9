"""manage.py score_candidates: score replies with automatic metrics, and show the papers' tables 3 and 4."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.progress import Progress

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from evalplatform.terminal import progress_bar
from generation.metrics.published_tables import PAPER_TABLES, table_as_in
from generation.metrics.score_tables import describe_table, tables_of_dataset
from generation.metrics.scoring import OnStep, generators_in, score_candidates
from generation.models import Dataset


class Command(PlatformCommand):
    help = """Scores replies with automatic metrics and shows the papers' tables 3 and 4.

    manage.py score_candidates --dataset ED
    manage.py score_candidates --dataset ED --generator raw --generator fine-tuned
    manage.py score_candidates --dataset ED --as rashkin

The metrics are: perplexity of the human reply (for models that can tell how likely a reply is), Distinct-1 and -2,
sentence-embedding similarity, BLEU as two papers compute it, how often the human reply is found among a hundred (for
models that choose replies), and how well emotions and intents were predicted. Scores are stored, and only missing ones
are computed, so you can run the command again, also after it was stopped. docs/metrics.md explains each metric."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dataset", required=True, metavar="NAME", help="the dataset whose dialogs were answered")
        parser.add_argument(
            "--generator", action="append", default=[], metavar="NAME", help="only this model; may be repeated"
        )
        parser.add_argument("--device", default="auto", help="where networks run: auto (default), cpu, cuda, cuda:1")

        parser.add_argument(
            "--without-similarity", action="store_true", help="leave out similarity, which takes longest without a GPU"
        )

        parser.add_argument(
            "--as",
            dest="paper",
            choices=list(PAPER_TABLES),
            help="also in this paper's layout, beside its figures",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            dataset = Dataset.objects.filter(name=options["dataset"]).first()
            if dataset is None:
                names = ", ".join(Dataset.objects.values_list("name", flat=True)) or "none"
                raise EvalPlatformError(f"There is no dataset named {options['dataset']!r}; datasets: {names}.")
            generators = generators_in(dataset, options["generator"])
            with progress_bar() as progress:
                counts = score_candidates(
                    dataset, generators, options["device"], _show_on(progress), not options["without_similarity"]
                )
        except EvalPlatformError as error:
            raise CommandError(str(error)) from error
        for table in tables_of_dataset(dataset):
            self.stdout.write(f"\n{dataset}: {table.title.lower()}\n")
            self.stdout.write("\n".join(describe_table(table)))
        if options["paper"]:
            self.stdout.write("\n" + "\n".join(table_as_in(options["paper"], dataset)))
        self.stdout.write(
            f"\n{counts.reply_scores:,} reply scores and {counts.generator_scores:,} values of models computed."
        )
        for problem in counts.problems:
            self.stderr.write(problem)


def _show_on(progress: Progress) -> OnStep:
    bar = progress.add_task("Scoring", total=None)

    def show(what: str, done: int, total: int) -> None:
        progress.update(bar, description=f"Scoring: {what}", completed=done, total=total)

    return show
