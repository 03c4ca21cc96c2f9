"""Which marketplace: the one that runs here, Amazon's sandbox, or the real one. Only the endpoint differs."""

from urllib.parse import urlsplit

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.localturk import in_process
from hits.models import MarketEnvironment
from hits.mturk.client import ENDPOINTS, Market, boto_client

WORKER_PATH = "/work"
ATTEMPTS = 12


def open_market(environment: str, attempts: int = ATTEMPTS) -> Market:
    """`attempts` is less where somebody waits for the answer."""
    if environment != MarketEnvironment.LOCAL:
        client = boto_client(ENDPOINTS[environment], attempts=attempts)
    elif settings.MTURK_LOCAL_URL:
        client = boto_client(settings.MTURK_LOCAL_URL, has_own_credentials=False, attempts=attempts)
    else:
        client = boto_client("http://localturk.invalid", has_own_credentials=False, attempts=attempts)
        in_process.attach(client)
    return Market(client, settings.MTURK_CALLS_PER_SECOND)


def enter_market(environment: str) -> tuple[Market, str]:
    """For publishing: the market, and where its workers find our page. Refused when this server may not."""
    check_is_allowed(environment)
    return open_market(environment), worker_page_url(environment)


def worker_page_url(environment: str) -> str:
    """Where workers find their page. Outside of the local marketplace it must be HTTPS, and known to be meant."""
    url = settings.PUBLIC_URL
    if environment == MarketEnvironment.LOCAL:
        return f"{url}{WORKER_PATH}"
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname in (None, "localhost", "127.0.0.1", "::1"):
        raise EvalPlatformError(
            f"PUBLIC_URL is {url}, and workers on the {environment} marketplace need a public HTTPS address of this "
            "server: set PUBLIC_URL=https://your.host and try again."
        )
    return f"{url}{WORKER_PATH}"


def check_is_allowed(environment: str) -> None:
    """Production needs the server's setting as well as the command's flag: a slip of either spends no money."""
    if environment == MarketEnvironment.PRODUCTION and settings.MTURK_ENVIRONMENT != MarketEnvironment.PRODUCTION:
        raise EvalPlatformError(
            "Publishing to production needs MTURK_ENVIRONMENT=production in the environment, beside "
            "--environment production."
        )


def offered_environments() -> list[MarketEnvironment]:
    """What the pages offer: up to the one that this server is set to."""
    return list(MarketEnvironment)[: 1 + MarketEnvironment.values.index(settings.MTURK_ENVIRONMENT)]
