"""Tells every researcher's page which links its navigation shows."""

from django.http import HttpRequest
from django.urls import reverse

from hits.crowds import is_local_market_open


def surroundings(request: HttpRequest) -> dict[str, bool]:
    """Tell templates what to link to. The local marketplace has pages only if it is the one in use, and a study has
    many pages below its own."""
    return {
        "has_local_market": is_local_market_open(),
        "is_in_studies": request.path.startswith(reverse("studies")),
    }
