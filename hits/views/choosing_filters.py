"""Answers the presses of the part of the study form that chooses filters: ask the crowd, search, add, remove.

Nothing is saved by them: the form's own buttons do that. With JavaScript only this part is shown again, and without it
the whole step, with what is typed.
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds import ask_for_filters, crowd_in, lists_filters, stored_filters
from hits.views.filter_fields import MOST_FOUND, FilterChooser, filter_rows, find_filters
from hits.views.setting_fields import get_setting, set_setting

FILTERS = "crowd.options.filters"
CURRENCIES = ("GBP", "USD")


def filter_chooser(settings: Mapping[str, Any]) -> FilterChooser | None:
    """Return the part as a page first shows it, or None if the draft's crowd has no such filters. It calls nobody."""
    return _chooser(settings) if lists_filters(crowd_in(settings)) else None


def pressed(settings: dict[str, Any], post: QueryDict) -> tuple[dict[str, Any], FilterChooser | None]:
    """Do what a button of the part says, and return the draft as it would be saved now, with the part."""
    crowd = crowd_in(settings)
    if not lists_filters(crowd):
        return settings, None
    act, _, what = post.get("press", "").partition(":")
    sought = post.get("sought", "").strip()[:100]
    if act == "ask":
        return settings, _asked(settings, sought)
    filters = list(get_setting(settings, FILTERS))
    stored = stored_filters(crowd)
    listed = stored.find(what) if stored else None
    if act == "add" and listed is not None:
        settings = set_setting(settings, FILTERS, [*filters, {"filter_id": what}])
        return settings, _chooser(settings, sought, said=f"Added: {listed.title}.", new=len(filters))
    if act == "remove" and what.isdecimal() and int(what) < len(filters):
        gone = filters.pop(int(what))
        settings = set_setting(settings, FILTERS, filters)
        listed = stored.find(str(gone.get("filter_id"))) if stored else None
        return settings, _chooser(settings, sought, said=f"Removed: {listed.title if listed else gone['filter_id']}.")
    return settings, _chooser(settings, sought, is_search=act == "find")


def _asked(settings: Mapping[str, Any], sought: str) -> FilterChooser:
    crowd = crowd_in(settings)
    try:
        listed = ask_for_filters(crowd, _currency_of(settings), timezone.now())
    except EvalPlatformError as error:
        return _chooser(settings, sought, problem=str(error))
    count = len(listed.filters) if listed else 0
    return _chooser(settings, sought, said=f"{count} filters are listed now.")


def _currency_of(settings: Mapping[str, Any]) -> str:
    currency = get_setting(settings, "pay.currency")
    return currency if currency in CURRENCIES else CURRENCIES[0]


def _chooser(
    settings: Mapping[str, Any],
    sought: str = "",
    said: str = "",
    problem: str = "",
    new: int = -1,
    is_search: bool = False,
) -> FilterChooser:
    crowd = crowd_in(settings)
    stored = stored_filters(crowd)
    filters = get_setting(settings, FILTERS)
    chosen = [str(one.get("filter_id")) for one in filters]
    found = find_filters(stored, sought, chosen) if stored and (sought or is_search) else []
    if is_search and stored:
        said = f"{len(found)} found." if found else "No other filter has these words."
    return FilterChooser(
        crowd=crowd.words.marketplace,
        rows=filter_rows(filters, stored, new),
        listed_at=stored.listed_at if stored else None,
        listed_count=len(stored.filters) if stored else 0,
        sought=sought,
        found=found[:MOST_FOUND],
        found_count=len(found),
        said=said,
        problem=problem,
    )


def wants_part_only(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
