"""Decide whether the local Prolific can be reached through this web server at all."""

from django.conf import settings


def is_open() -> bool:
    """Return whether rehearsals run here: where workers must sign in, real people come, and this has no sign-in."""
    is_rehearsal = settings.LOCAL_MARKET and settings.MTURK_ENVIRONMENT == "local"
    return is_rehearsal and not settings.MUST_WORKERS_SIGN_IN
