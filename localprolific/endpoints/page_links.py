"""Cut lists into pages as Prolific does: by page and page_size, or by limit and offset, with links between pages."""

from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet

from localprolific.behaviour import behaviour
from localprolific.endpoints.endpoint_table import ApiCall
from localprolific.errors import NotFound, wrong

USUAL_SIZE = 20

M = TypeVar("M", bound=Model)


def numbered_page(call: ApiCall, rows: QuerySet[M]) -> tuple[list[M], dict[str, Any]]:
    """Return the rows of a page by number, and its links and count. A page past the end is a 404."""
    asked, number = _number(call, "page_size", USUAL_SIZE), _number(call, "page", 1)
    size = min(asked, behaviour().most_rows_per_page)
    if behaviour().are_pages_short and size > 1:
        size -= 1
    count = rows.count()
    last = max(1, -(-count // size))
    if number > last or number < 1:
        raise NotFound("Invalid page.")

    def link(to: int | None) -> str | None:
        return _href(call, {"page": to, "page_size": asked}) if to else None

    next_one = number + 1 if number < last else None
    previous = number - 1 if number > 1 else None
    links = _links(call, link(number), link(next_one), link(previous), link(last))
    return list(rows[(number - 1) * size : number * size]), {**links, "meta": {"count": count}}


def page_by_offset(call: ApiCall, rows: QuerySet[M]) -> tuple[list[M], dict[str, Any]]:
    """Return the rows of a page by limit and offset, and its links and count. Past the end there are no rows."""
    limit, offset = _number(call, "limit", USUAL_SIZE), _number(call, "offset", 0)
    size = min(limit, behaviour().most_rows_per_page)
    count = rows.count()

    def link(to: int | None) -> str | None:
        return None if to is None else _href(call, {"limit": limit, "offset": to})

    next_one = offset + size if offset + size < count else None
    previous = max(0, offset - size) if offset else None
    last = (count - 1) // size * size if count else 0
    links = _links(call, link(offset), link(next_one), link(previous), link(last))
    return list(rows[offset : offset + size]), {**links, "meta": {"count": count}}


def whole_list(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an answer for a list that Prolific doesn't cut."""
    return {"results": rows, "meta": {"count": len(rows)}}


def _number(call: ApiCall, name: str, usual: int) -> int:
    text = call.params.get(name, str(usual))
    if not text.isdecimal() or (name in ("page_size", "limit") and text == "0"):
        raise NotFound("Invalid page.") if name == "page" else wrong(name, "A valid integer is required.")
    return int(text)


def _href(call: ApiCall, changes: dict[str, int]) -> str:
    return f"{call.base_url}/api/v1/{call.path.strip('/')}/?{urlencode({**call.params, **changes})}"


def _links(call: ApiCall, self: str | None, next: str | None, previous: str | None, last: str | None) -> dict[str, Any]:
    named = {"self": (self, "Current"), "next": (next, "Next"), "previous": (previous, "Previous")}
    named["last"] = (last, "Last")
    return {"_links": {name: {"href": href, "title": title} for name, (href, title) in named.items()}}
