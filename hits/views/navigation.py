"""What every researcher's page says of its surroundings."""

from django.http import HttpRequest
from django.urls import reverse

from hits.crowds import is_local_market_open


def surroundings(request: HttpRequest) -> dict[str, bool]:
    """The local marketplace has pages only where it is the one in use; a study has many pages below its own."""
    return {
        "has_local_market": is_local_market_open(),
        "is_in_studies": request.path.startswith(reverse("studies")),
    }
