"""What commands about studies share: help that keeps its line breaks, and a bar."""

import argparse
from typing import Any

from django.core.management.base import CommandParser
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from evalplatform.commands import PlatformCommand
from evalplatform.terminal import plain_console
from hits.models import MarketEnvironment, Study
from hits.publishing.page_check import WorkerPageAway, check_worker_page


def progress_bar() -> Progress:
    console = plain_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


class StudyCommand(PlatformCommand):
    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        return super().create_parser(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)

    def run(self, options: dict[str, Any]) -> None:
        raise NotImplementedError  # each command's own

    def handle(self, *args: Any, **options: Any) -> None:
        self.run(options)

    def check_worker_page(self, study: Study, page_url: str, environment: str) -> None:
        """Here nothing is spent, and a simulated crowd needs no server: that none runs yet is only said."""
        try:
            check_worker_page(study, page_url, environment)
        except WorkerPageAway as away:
            if environment != MarketEnvironment.LOCAL:
                raise
            self.stderr.write(f"Mind: {away} `manage.py runserver` starts it; a simulated crowd works without.")
