"""Decide whether the local Prolific can be reached through this web server at all, and by whom."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from evalplatform.client_address import client_address, is_this_machine
from evalplatform.environment import LOOPBACK


def is_open() -> bool:
    """Return whether rehearsals run here: where workers must sign in, real people come, and this has no sign-in."""
    is_rehearsal = settings.LOCAL_MARKET and settings.MTURK_ENVIRONMENT == "local"
    return is_rehearsal and not settings.MUST_WORKERS_SIGN_IN


def is_open_to(request: HttpRequest) -> bool:
    """Return whether the request comes from this machine, or from somebody who has logged in as a researcher.

    A study can be shown to people elsewhere by a link while rehearsals run here, by a tunnel perhaps. They are no
    participants of ours, and need not know that there are any. Whoever comes by a tunnel that only carries bytes looks
    like this machine but for the name that their browser asked for; only LOCAL_MARKET=0 keeps out those who forge it.
    """
    return is_open() and (_comes_from_here(request) or request.user.is_authenticated)


def _comes_from_here(request: HttpRequest) -> bool:
    # A tunnel or proxy that nobody told us about connects from this machine, and names its client in this header.
    is_forwarded = not settings.PROXY_COUNT and "X-Forwarded-For" in request.headers
    asked_for = urlsplit(f"//{request.get_host()}").hostname
    return is_this_machine(client_address(request)) and not is_forwarded and asked_for in LOOPBACK
