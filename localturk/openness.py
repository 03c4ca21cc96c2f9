"""Decide whether the local marketplace can be reached through this web server at all."""

from django.conf import settings


def is_open() -> bool:
    """Return whether it is switched on and no other marketplace is in use."""
    return settings.LOCAL_MARKET and settings.MTURK_ENVIRONMENT == "local"
