"""Make the console on which commands show progress bars and lines above them."""

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def plain_console() -> Console:
    """Return a console that shows texts as they are. By default, Rich makes `[b]` bold and `:100:` a picture."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


def progress_bar() -> Progress:
    """Return bars of what is done out of how much. Nothing is shown where nobody looks on."""
    console = plain_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
