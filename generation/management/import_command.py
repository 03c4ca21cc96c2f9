"""Hold what import_dialogs and import_candidates share: options, progress bar, problems by reason, counts."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from evalplatform.commands import PlatformCommand
from evalplatform.errors import in_one_line
from evalplatform.terminal import plain_console
from evalplatform.wording import count_of
from generation.corpora.formats import bytes_to_read
from generation.corpora.lines import Problem
from generation.importing import ImportCounts, ImportOptions
from generation.management.problem_reasons import ProblemsByReason
from generation.models import Dataset, Generator
from generation.owning import find_owner, give_owner


class ImportCommand(PlatformCommand):
    noun: ClassVar[str]

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--owner", metavar="NAME", help="the user who will own what is imported")
        parser.add_argument("--strict", action="store_true", help="import nothing if the file has any problem")
        parser.add_argument("--dry-run", action="store_true", help="only report what would happen")
        parser.add_argument("--show", type=int, default=20, metavar="N", help="print at most N reasons (default 20)")
        parser.add_argument("--problems", type=Path, metavar="FILE", help="write every problem into this file")

    def run(self, path: Path, options: dict[str, Any], import_options: ImportOptions) -> ImportCounts:
        raise NotImplementedError  # each command has its own

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if options["problems"] and options["problems"].resolve() == path.resolve():
            raise CommandError("--problems names the file that is imported; name another one.")
        try:
            owner = find_owner(options["owner"])
            with ExitStack() as stack:
                counts = self._import(stack, path, options)
        except OSError as error:
            raise CommandError(in_one_line(error) or str(error)) from error
        does = "would be imported" if options["dry_run"] else "imported"
        self.stdout.write(
            f"{path.name}: {counts.added:,} {self.noun} {does}, {counts.known:,} already there, "
            f"{counts.rejected:,} rejected, {counts.conflicts:,} in conflict."
        )
        refused = counts.rejected + counts.conflicts
        if not counts.added + counts.known:
            why = f"{count_of(refused, 'problem')}, and nothing else" if refused else f"there are no {self.noun} in it"
            raise CommandError(f"Nothing of {path.name} can be used: {why}.")
        if not options["dry_run"]:
            give_owner(self.what_it_makes(path, options), owner)
            self.after_import(counts)

    def what_it_makes(self, path: Path, options: dict[str, Any]) -> QuerySet[Dataset] | QuerySet[Generator]:
        raise NotImplementedError  # each command has its own

    def after_import(self, counts: ImportCounts) -> None:
        """Print something about what was just imported. By default, nothing."""

    def _import(self, stack: ExitStack, path: Path, options: dict[str, Any]) -> ImportCounts:
        file = stack.enter_context(options["problems"].open("w")) if options["problems"] else None
        # Print problems on the bar's own console, so that a line doesn't tear the bar.
        console = plain_console()
        progress = stack.enter_context(_progress_bar(console))
        bar = progress.add_task(f"Importing {self.noun}", total=bytes_to_read(path))
        reasons = ProblemsByReason()

        def on_problem(problem: Problem) -> None:
            reasons.add(problem)
            if file:
                file.write(f"{path.name}:{problem.line}: {problem.reason}\n")

        try:
            return self.run(
                path,
                options,
                ImportOptions(
                    strict=options["strict"],
                    dry_run=options["dry_run"],
                    on_problem=on_problem,
                    on_bytes=lambda count: progress.advance(bar, count),
                ),
            )
        finally:
            for line in reasons.described(path.name, options["show"]):
                console.print(line)


def _progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
