from typing import Any

from django.core.management.base import CommandParser

from evalplatform.terminal import progress_bar
from evalplatform.wording import count_of
from hits.batching import build_hits
from hits.designing import get_study, style_warning, summarise_frozen
from hits.management.study_command import StudyCommand


class Command(StudyCommand):
    help = """Builds a study's HITs and freezes its design.

    manage.py build_hits demo

From then on the design can't be changed, only copied into a new study. The manifest's hash names exactly what
workers will see, and a secret that the order of cards comes from: it is drawn anew each time a study is frozen, and the
hash with it. Which dialogs and HITs come out is the same on any machine. Building again changes nothing."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")

    def run(self, options: dict[str, Any]) -> None:
        study = get_study(options["study"])
        with progress_bar() as progress:
            bar = progress.add_task("Building", total=None)
            built = build_hits(study, lambda done, total: progress.update(bar, completed=done, total=total))
        study.refresh_from_db()
        did = "Built" if built.is_new else "Built before, nothing changed:"
        self.stdout.write(
            f"{did} {count_of(built.hit_count, 'HIT')} with {count_of(built.item_count, 'item')}, "
            f"{built.checkpoint_count:,} of them {'a checkpoint' if built.checkpoint_count == 1 else 'checkpoints'}."
        )
        self.stdout.write(f"Manifest {study.manifest_hash}")
        for line in [*summarise_frozen(study).warnings, *style_warning(study.style_report)]:
            self.stdout.write(line)
