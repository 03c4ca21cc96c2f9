"""Pages as tests read them."""

from typing import Any


def html_of(response: Any) -> str:
    """Return a page's HTML with each run of white space as one space, as browsers read it: where a line of a template
    ends says nothing."""
    return " ".join(response.content.decode().split())
