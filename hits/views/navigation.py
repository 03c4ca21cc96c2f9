"""Tells every researcher's page which links its navigation shows."""

from django.http import HttpRequest
from django.urls import reverse


def surroundings(request: HttpRequest) -> dict[str, bool]:
    """Tell templates that a page is one of the many below the list of studies."""
    return {"is_in_studies": request.path.startswith(reverse("studies"))}
