"""The door to a crowd, and who may pass it.

Here is the one guard of money: whatever changes a marketplace comes through `open_crowd`, which refuses what this
server is not set to, and what was published by another server than this one.
"""

from urllib.parse import urlsplit

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds.contract import Market
from hits.crowds.registry import all_places, crowd_of, environment_of, offered_places
from hits.models import USUAL_CROWD, Offering
from localturk.openness import is_open as is_local_market_open

__all__ = [
    "check_is_allowed",
    "check_may_change",
    "enter_market",
    "is_local_market_open",
    "open_crowd",
    "worker_page_url",
]

WORKER_PATH = "/work"
ATTEMPTS = 12


def open_crowd(offering: Offering, attempts: int = ATTEMPTS) -> Market:
    """For whatever changes a marketplace for this study: the one door, and refused where this server may not.

    `attempts` is less where somebody waits for the answer.
    """
    check_may_change(offering)
    return crowd_of(offering).connect(offering, attempts)


def enter_market(offering: Offering) -> tuple[Market, str]:
    """For publishing: the market, and where its workers find our page."""
    return open_crowd(offering), worker_page_url(offering)


# --- Who may ---------------------------------------------------------------------------------------------------------


def check_may_change(offering: Offering) -> None:
    """Raises unless this server is set to that marketplace, and is the one that the study was published from."""
    check_is_allowed(offering.place)
    if environment_of(offering).runs_here:
        return  # no money moves there, and its address changes with the port
    # Read anew: the caller may hold the row since before it was published.
    publisher = Offering.objects.values_list("page_url", flat=True).get(pk=offering.pk)
    if publisher not in ("", f"{settings.PUBLIC_URL}{WORKER_PATH}"):
        crowd = "" if offering.crowd == USUAL_CROWD else f" --crowd {offering.crowd}"
        move = f"manage.py move_study {offering.study}{crowd} --environment {offering.environment}"
        raise EvalPlatformError(
            f"{offering.study} was published on {offering.place} by the server at "
            f"{publisher.removesuffix(WORKER_PATH)}, and PUBLIC_URL says that this one is {settings.PUBLIC_URL}: a "
            f"copy of its database changes nothing there. If this server has taken the other's place, run `{move}`."
        )


def check_is_allowed(place: str) -> None:
    """The server's own setting is asked as well as the command's flag or the form's field: a slip spends no money."""
    known = all_places().get(place)
    if known is None:
        raise EvalPlatformError("Choose a marketplace.")
    if place not in offered_places():
        raise EvalPlatformError(known.crowd.how_to_offer(known.environment))


def worker_page_url(offering: Offering) -> str:
    """Where workers find their page. Where people come from outside, it must be HTTPS, and known to be meant."""
    url = settings.PUBLIC_URL
    if environment_of(offering).runs_here:
        return f"{url}{WORKER_PATH}"
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname in (None, "localhost", "127.0.0.1", "::1"):
        raise EvalPlatformError(
            f"PUBLIC_URL is {url}, and workers on the {offering.place} marketplace need a public HTTPS address of this "
            "server: set PUBLIC_URL=https://your.host and try again."
        )
    return f"{url}{WORKER_PATH}"
