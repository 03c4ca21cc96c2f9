"""Make the console on which commands show progress bars and lines above them."""

import sys

from rich.console import Console


def plain_console() -> Console:
    """Return a console that shows texts as they are. By default, Rich makes `[b]` bold and `:100:` a picture."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)
