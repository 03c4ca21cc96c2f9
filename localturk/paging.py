"""Cut lists into pages with NextToken. A page begins after the last row of the one before.

So a page costs the same whether it is the first or the thousandth. Every page with a row on it has a NextToken, so the
last page is empty. AWS promises a token only if more rows follow, but without one Mephisto, oTree and many scripts for
MTurk end with a KeyError.
"""

import base64
import binascii
import json
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from localturk.errors import invalid
from localturk.faults import lies

DEFAULT_PAGE_SIZE = 10  # MTurk's own, if MaxResults is not given
HAPPENED = {"TurkHit": "created_at", "TurkAssignment": "submitted_at", "BonusPayment": "granted_at"}

M = TypeVar("M", bound=Model)


def page_of(
    rows: QuerySet[M], params: dict[str, Any], scope: str, newest_first: bool = False
) -> tuple[list[M], dict[str, Any]]:
    """Return the rows of this page, and the answer's NumResults and NextToken. `scope` names the list and its filters,
    so that a token of another list is refused."""
    size = params.get("MaxResults", DEFAULT_PAGE_SIZE)
    lie = lies()
    if lie.none_after is not None and rows.model.__name__ in HAPPENED:
        rows = rows.exclude(**{f"{HAPPENED[rows.model.__name__]}__gt": lie.none_after})
    rows = rows.order_by("-pk" if newest_first else "pk")
    token = params.get("NextToken", "")
    if lie.offset_page_size:
        return _page_by_offset(rows, token, scope, min(size, lie.offset_page_size))
    if token:
        after = _read_token(token, scope)
        rows = rows.filter(pk__lt=after) if newest_first else rows.filter(pk__gt=after)
    page = list(rows[:size])
    counts: dict[str, Any] = {"NumResults": len(page)}
    if page:
        counts["NextToken"] = _write_token(scope, page[-1].pk)
    return page, counts


def _page_by_offset(rows: QuerySet[M], token: str, scope: str, size: int) -> tuple[list[M], dict[str, Any]]:
    """Return a page by the number of rows before it, as marketplaces do that shift rows (the fault offset-pages)."""
    start = _read_token(token, f"offsets of {scope}") if token else 0
    page = list(rows[start : start + size])
    counts: dict[str, Any] = {"NumResults": len(page)}
    if page:
        counts["NextToken"] = _write_token(f"offsets of {scope}", start + len(page))
    return page, counts


def _write_token(scope: str, pk: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([scope, pk]).encode()).decode()


def _read_token(token: str, scope: str) -> int:
    try:
        of, pk = json.loads(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError, TypeError):
        of, pk = None, None
    if of != scope or not isinstance(pk, int):
        raise invalid("NextToken", "was not given out by this operation with these parameters.")
    return pk
