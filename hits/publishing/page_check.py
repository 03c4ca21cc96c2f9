"""Checks, before anything is published, that workers can open our page, in the marketplace's frame or by a link."""

import html
import http.client
import re
import ssl
from collections.abc import Iterator
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import build_opener

from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds import crowd_of, link_address, links_of
from hits.models import Offering

TIMEOUT_SECONDS = 10
MOST_BYTES = 2_000_000
JOINING = b"<!-- a link's page -->"  # stands in work/joining.html and work/left.html


class WorkerPageAway(EvalPlatformError):
    """Nothing answers at the address. For the local marketplace, the server may simply not be running yet."""


def check_worker_page(offering: Offering, page_url: str) -> None:
    """Open the preview of the study's first HIT as a worker's browser would, and check who may show it in a frame.

    If no other site frames it, the page must still be there. Where people come by links, each link's own page is opened
    as well, and the program that it needs: a proxy may pass /work/ on, and neither /join/ nor /static/.
    """
    number = offering.study.hits.values_list("number", flat=True).earliest("number")
    crowd = crowd_of(offering)
    url = crowd.preview_url(f"{page_url}/{offering.study.key}/{number}/")
    for problem in _find_problems(url, crowd.framing_site(offering.environment)):
        raise EvalPlatformError(f"Workers could not work on {url}: {problem}")
    if crowd.abilities.comes_by_links:
        _check_links(offering)


def _check_links(offering: Offering) -> None:
    """Open the page of each link as a visitor would. Before the first one is made, that of a link that there is not."""
    links = [link_address(link) for link in links_of(offering) if link.closed_at is None]
    for address in links or [f"{settings.PUBLIC_URL}/join/none/"]:
        for problem in _find_problems(address, "", looks_for=JOINING):
            raise EvalPlatformError(f"People could not come by {address}: {problem}")


def _find_problems(url: str, site: str, looks_for: bytes = b"") -> Iterator[str]:
    try:
        with build_opener().open(url, timeout=TIMEOUT_SECONDS) as response:
            yield from _find_problems_of_answer(url, response.geturl(), response.headers, site)
            page = response.read(MOST_BYTES)
        yield from _find_problems_of_page(url, page, looks_for)
    except HTTPError as error:
        if looks_for and looks_for in error.read(MOST_BYTES):  # our own page, which says that there is no such link
            return
        yield (
            f"it answers {error.code} {error.reason}. Is PUBLIC_URL this server's address, and does the proxy in front "
            "of it pass this path on?"
        )
    except (URLError, OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            yield f"its certificate is not valid ({reason.verify_message}). Get one that browsers trust."
        else:
            raise WorkerPageAway(
                f"Workers could not work on {url}: it can't be reached ({reason}). Is PUBLIC_URL right, and the server "
                "running and open to the workers?"
            ) from error


def _find_problems_of_page(url: str, page: bytes, looks_for: bytes) -> Iterator[str]:
    if looks_for not in page:
        yield "it is another page than ours. Does the proxy in front of this server pass this path on?"
    for script in re.findall(rb'<script type="module" src="([^"]+)"', page):
        address = urljoin(url, html.unescape(script.decode()))
        try:
            with build_opener().open(address, timeout=TIMEOUT_SECONDS) as response:
                kind = response.headers.get_content_type()
        except HTTPError as error:
            kind = f"{error.code} {error.reason}"
        if "javascript" not in kind:
            yield (
                f"its program at {address} is not there ({kind}). Does the proxy in front of this server pass /static/ "
                "on, and was the frontend built?"
            )


def _find_problems_of_answer(url: str, answered_url: str, headers: http.client.HTTPMessage, site: str) -> Iterator[str]:
    if urlsplit(answered_url)[:3] != urlsplit(url)[:3]:
        yield f"it redirects to {answered_url}. Let PUBLIC_URL name the address where that ends."
    if site and (options := headers.get("X-Frame-Options")):
        yield (
            f"it is sent with X-Frame-Options: {options}, which forbids the marketplace's frame. Take that header out "
            "of the configuration of the proxy in front of this server."
        )
    policies = [
        sources for value in headers.get_all("Content-Security-Policy", []) for sources in _frame_ancestors(value)
    ]
    if not policies:
        yield (
            "its Content-Security-Policy names no frame-ancestors. EvalPlatform sends them: let the proxy in front of "
            "this server pass the header on."
        )
    for sources in policies:
        if site and not any(_allows(source, site) for source in sources):
            yield (
                f"its Content-Security-Policy allows frames by {' '.join(sources) or 'nobody'} and not by {site}. Let "
                "the proxy in front of this server send no policy of its own."
            )


def _frame_ancestors(policies: str) -> Iterator[list[str]]:
    """Yield the sources of each policy that has some; one header may hold several policies, separated by commas."""
    for policy in policies.split(","):
        for directive in policy.split(";"):
            name, *sources = directive.split() or [""]
            if name.lower() == "frame-ancestors":
                yield sources
                break  # browsers, too, use only the first


def _allows(source: str, site: str) -> bool:
    """Return whether the source allows the site, as browsers match it: scheme, host, and a wildcard for subdomains."""
    scheme, host = urlsplit(site)[:2]
    source = source.lower().rstrip("/")
    if source in ("*", f"{scheme}:"):
        return True
    named_scheme, _, named_host = source.rpartition("://")
    named_host = named_host.removesuffix(":443").removesuffix(":*")
    if named_scheme not in ("", scheme, "http"):
        return False
    return host.endswith(named_host[1:]) if named_host.startswith("*.") else host == named_host
