"""Decide whether the local marketplace can be reached through this web server at all."""

from django.conf import settings
from django.http import HttpRequest


def is_open() -> bool:
    """Return whether it is switched on and no other marketplace is in use."""
    return settings.LOCAL_MARKET and settings.MTURK_ENVIRONMENT == "local"


def surroundings(_: HttpRequest) -> dict[str, bool]:
    """Tell all templates whether to link to the marketplace."""
    return {"has_local_market": is_open()}
