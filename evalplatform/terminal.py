"""The terminal on which commands show bars, and lines above them."""

import sys

from rich.console import Console


def plain_console() -> Console:
    """Shows texts of researchers and files as they are: to Rich, `[b]` would be bold and `:100:` a picture."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)
