"""Opens the connection to a crowd, and refuses what this server may not change.

This is the one guard of money: whatever changes anything on a marketplace comes through `open_crowd`. It refuses
marketplaces that this server is not set to, and studies that another server has published.
"""

from urllib.parse import urlsplit

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds.market import Market
from hits.crowds.registry import all_marketplaces, crowd_of, environment_of, offered_marketplaces
from hits.models import USUAL_CROWD, Offering

__all__ = [
    "check_is_allowed",
    "check_may_change",
    "enter_market",
    "open_crowd",
    "worker_page_url",
]

WORKER_PATH = "/work"
ATTEMPTS = 12


def open_crowd(offering: Offering, attempts: int = ATTEMPTS) -> Market:
    """Return a market for anything that changes this study on its marketplace. Raises if this server may not do so.

    `attempts` is lower where somebody waits for the answer.
    """
    check_may_change(offering)
    return crowd_of(offering).connect(offering, attempts)


def enter_market(offering: Offering) -> tuple[Market, str]:
    """Return what publishing needs: the market, and the address of our page for its workers."""
    return open_crowd(offering), worker_page_url(offering)


# --- Who may ---------------------------------------------------------------------------------------------------------


def check_may_change(offering: Offering) -> None:
    """Raise unless this server is set to that marketplace and is the one that published the study."""
    check_is_allowed(offering.marketplace)
    if environment_of(offering).runs_here:
        return  # no money moves there, and the server's address changes with its port
    # Read from the database: the caller's object may be older than the publishing.
    publisher = Offering.objects.values_list("page_url", flat=True).get(pk=offering.pk)
    if publisher not in ("", f"{settings.PUBLIC_URL}{WORKER_PATH}"):
        crowd = "" if offering.crowd == USUAL_CROWD else f" --crowd {offering.crowd}"
        move = f"manage.py move_study {offering.study}{crowd} --environment {offering.environment}"
        raise EvalPlatformError(
            f"{offering.study} was published on {offering.marketplace} by the server at "
            f"{publisher.removesuffix(WORKER_PATH)}, and PUBLIC_URL says that this one is {settings.PUBLIC_URL}: a "
            f"copy of its database changes nothing there. If this server has taken the other's place, run `{move}`."
        )


def check_is_allowed(marketplace: str) -> None:
    """Raise unless this server's settings allow the marketplace. They are asked in addition to the command's flag or
    the form's field, so that a slip spends no money."""
    known = all_marketplaces().get(marketplace)
    if known is None:
        raise EvalPlatformError("Choose a marketplace.")
    if marketplace not in offered_marketplaces():
        raise EvalPlatformError(known.crowd.how_to_offer(known.environment))


def worker_page_url(offering: Offering) -> str:
    """Return where workers find their page. Where people come from outside, it must be a public HTTPS address."""
    url = settings.PUBLIC_URL
    if environment_of(offering).runs_here:
        return f"{url}{WORKER_PATH}"
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname in (None, "localhost", "127.0.0.1", "::1"):
        raise EvalPlatformError(
            f"PUBLIC_URL is {url}, and workers on the {offering.marketplace} marketplace need a public HTTPS address "
            "of this server: set PUBLIC_URL=https://your.host and try again."
        )
    return f"{url}{WORKER_PATH}"
