"""Says how somebody leaves a study at a link: where the browser goes, or which code they take along, for each outcome.

Addresses are the researcher's setting, never the visitor's. What a visitor brought, their id and session, only fills
the placeholders, quoted.
"""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings

from evalplatform.environment import LOOPBACK
from evalplatform.errors import EvalPlatformError
from hits.crowds.coming_and_going import HandBack, Way
from hits.crowds.link.entering import session_there
from hits.models import OpenLink, Outcome

PLACEHOLDERS = ("worker", "session", "code")


def way_out(link: OpenLink, outcome: Outcome, id_there: str, session: str, own_code: str = "") -> HandBack | None:
    """Return how somebody leaves with this outcome; None if the service behind the link wants to hear nothing of it.

    `own_code` is ours for a finished assignment, where the link has no code.
    """
    code = link.codes.get(outcome, "") or own_code
    if link.way == OpenLink.Way.REDIRECT and _leads_out(link, outcome):
        filled = fill_address(link.address, {"worker": id_there, "session": session_there(session), "code": code})
        return HandBack(Way.REDIRECT, code, filled)
    return HandBack(Way.CODE, code) if code else None


def _leads_out(link: OpenLink, outcome: Outcome) -> bool:
    """An address without a code can't tell outcomes apart: then it is for those who have finished."""
    return outcome == Outcome.FINISHED or ("{code}" in link.address and bool(link.codes.get(outcome)))


def fill_address(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: quote(values.get(found[1], ""), safe=""), template)


def site_of(link: OpenLink) -> str:
    """Return the site to which the link's page may lead a browser; empty if to none."""
    if link.way != OpenLink.Way.REDIRECT:
        return ""
    parts = urlsplit(link.address)
    return f"{parts.scheme}://{parts.netloc}"


def check_address(template: str) -> str:
    """Return the address as it is stored. Raises with one line on what is wrong with it."""
    address = template.strip()
    if re.search(r"\s", address) or any(ord(letter) < 33 for letter in address):
        raise EvalPlatformError("The address has a space or a line break in it.")
    if not re.fullmatch(r"[!-~]*", address):
        raise EvalPlatformError("The address has letters in it that must be encoded: copy it from a browser.")
    unknown = set(re.findall(r"\{(\w*)\}", address)) - set(PLACEHOLDERS)
    if unknown:
        raise EvalPlatformError(
            f"The address has {{{sorted(unknown)[0]}}} in it; known are {{worker}}, {{session}} and {{code}}."
        )
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise EvalPlatformError("The address can't be read: its host or port is wrong.") from None
    if re.search(r"[^A-Za-z0-9.:\[\]_-]", parts.netloc) or not host:
        raise EvalPlatformError("The address must begin with https:// and a fixed host name.")
    is_here = parts.scheme == "http" and host in LOOPBACK and not settings.IS_PRODUCTION
    if parts.scheme != "https" and not is_here:
        raise EvalPlatformError("The address must begin with https://, so that nobody reads people's ids on the way.")
    return address


def joining_path(link: OpenLink, id_there: str = "", session: str = "") -> str:
    """Return path and query of the link's page, for somebody whose id we know."""
    named = {link.worker_parameter: id_there, link.session_parameter: session_there(session)}
    query = urlencode({name: value for name, value in named.items() if name and value})
    return f"/join/{link.key}/" + (f"?{query}" if query else "")
