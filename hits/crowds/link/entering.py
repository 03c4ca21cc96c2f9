"""Finds out who stands at a link's page: by an id in the address, or by one that we made up and keep in a cookie.

Ids from outside are taken as they are only if they are plain; of any other, such as an e-mail address, only a keyed
hash is kept. Anyone can type an id, so a visit has a session as well: what is handed in is to its credit alone. Where
the address names no plain session, each browser is one, and keeps it in a cookie. A signed form ties the agreement to
the page that showed the consent text, and to who read it.
"""

import hashlib
import re
import secrets
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils.crypto import salted_hmac

from evalplatform.errors import EvalPlatformError
from hits.models import Departure, Entrant, OpenLink, Outcome

PLAIN = re.compile(r"[A-Za-z0-9_-]+")
MOST_LETTERS = 64
MADE_UP = re.compile(r"[a-z2-7]{26}")
MADE_UP_SESSION = "~"  # no plain one begins so
# What programs write where they know no id. All who came as it would be one person.
NOBODY = {"null", "none", "undefined", "nan", "nil"}

_signer = Signer(salt="hits.crowds.link.form")
_cookie_signer = Signer(salt="hits.crowds.link.cookie")


class NotIdentified(EvalPlatformError):
    """The address does not say who came. The message is for the visitor, and for the researcher who tries the link."""


@dataclass(frozen=True)
class Caller:
    """Whoever stands at a link's page."""

    worker_id: str
    id_there: str = ""
    session: str = ""

    @property
    def has_made_up_session(self) -> bool:
        return self.session.startswith(MADE_UP_SESSION)


def identify(link: OpenLink, parameters: Mapping[str, str], cookie: str) -> Caller:
    """Return who came. Raises NotIdentified if the link expects an id in the address and there is none."""
    if not link.worker_parameter:
        return Caller(f"{link.prefix}_{cookie if MADE_UP.fullmatch(cookie) else _make_up()}")
    there = parameters.get(link.worker_parameter, "").strip()
    if not there:
        raise NotIdentified(
            f"The address of this page lacks your id: it should end in “?{link.worker_parameter}=…”. Please open the "
            "link again from the page on which you found it."
        )
    if re.search(r"[%{}\[\]<>$]", there) or there.lower() in NOBODY:
        raise NotIdentified(
            f"The id in this page's address is “{there[:40]}”, which looks like a placeholder that nobody replaced. "
            "Please open the link again from the page on which you found it."
        )
    plain = is_plain(there) and len(link.prefix) + 1 + len(there) <= MOST_LETTERS
    if not plain and "{worker}" in link.address:
        raise NotIdentified(
            f"The id in this page's address is “{there[:40]}”. An id can have only letters, digits, hyphens and "
            "underscores here, up to 50 of them."
        )
    worker_id = f"{link.prefix}_{there}" if plain else f"{link.prefix}_{_hash_of(link, there)}"
    session = parameters.get(link.session_parameter, "").strip() if link.session_parameter else ""
    if not is_plain(session):
        session = _session_in(cookie, worker_id) or f"{MADE_UP_SESSION}{_make_up()}"
    return Caller(worker_id, there if plain else "", session)


def cookie_of(link: OpenLink, caller: Caller) -> str:
    """Return what the browser of somebody who takes part keeps: who it is, or else which session, of which worker."""
    if not link.worker_parameter:
        return caller.worker_id.removeprefix(f"{link.prefix}_")
    return _cookie_signer.sign(f"{caller.worker_id}:{caller.session}") if caller.has_made_up_session else ""


def know_again(link: OpenLink, caller: Caller, cookie: str) -> Caller:
    """Return whom a form names, as the browser's cookie knows them: a second tab is no second person, and no second
    session."""
    if not link.worker_parameter:
        return identify(link, {}, cookie or cookie_of(link, caller))
    session = _session_in(cookie, caller.worker_id) if caller.has_made_up_session else ""
    return replace(caller, session=session or caller.session)


def session_there(session: str) -> str:
    """Return what the service behind a link may be told of a session: nothing of one that we made up."""
    return "" if session.startswith(MADE_UP_SESSION) else session


def _session_in(cookie: str, worker_id: str) -> str:
    """Return the session that a cookie keeps, if it is this worker's: others may use the same browser."""
    try:
        worker, _, session = _cookie_signer.unsign(cookie).rpartition(":")
    except BadSignature:
        return ""
    return session if worker == worker_id else ""


def _make_up() -> str:
    return b32encode(secrets.token_bytes(16)).decode()[:26].lower()


def is_plain(value: str) -> bool:
    return len(value) <= MOST_LETTERS and PLAIN.fullmatch(value) is not None


def _hash_of(link: OpenLink, there: str) -> str:
    """Return a hash that only this server can make: an unkeyed one of an e-mail address is soon guessed."""
    about = f"{link.offering.study.key}.{link.key}.{there.casefold()}"
    # An id is for as long as the study, so it comes from the oldest key that this server still knows.
    oldest = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS][-1]
    return f"x{salted_hmac('hits.crowds.link.id', about, secret=oldest, algorithm='sha256').hexdigest()[:24]}"


# --- The form --------------------------------------------------------------------------------------------------------


def sign_form(link: OpenLink, caller: Caller, consent_version: str) -> str:
    return _signer.sign_object([link.key, consent_version, *astuple(caller)])


def read_form(link: OpenLink, signed: str) -> tuple[Caller, str] | None:
    """Return who read which consent text on this link's page, or None if the form is not ours."""
    try:
        said: Any = _signer.unsign_object(signed)
        key, consent_version, worker_id, id_there, session = said
    except (BadSignature, ValueError):
        return None
    return (Caller(worker_id, id_there, session), consent_version) if key == link.key else None


# --- Rows ------------------------------------------------------------------------------------------------------------


def note_entrant(link: OpenLink, caller: Caller, now: datetime) -> Entrant:
    """Note who came, once they have agreed."""
    entrant, _ = Entrant.objects.get_or_create(
        link=link,
        worker_id=caller.worker_id,
        defaults={"id_there": caller.id_there, "entered_at": now},
    )
    return entrant


def find_entrant(offering_pk: int, worker_id: str) -> Entrant | None:
    """Return a worker as the service behind their link knows them; None if they did not come by one."""
    ours = Entrant.objects.filter(link__offering=offering_pk, worker_id=worker_id)
    return ours.select_related("link__offering__study").first()


def note_departure(link: OpenLink, outcome: Outcome, consent_version: str, now: datetime) -> None:
    Departure.objects.create(link=link, outcome=outcome, consent_version=consent_version, left_on=now.date())


def short_key() -> str:
    """Return a key for a link's address: short enough for a poster, without letters that look alike."""
    return "".join(secrets.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(8))


def prefix_of(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())[:12] or hashlib.sha256(label.encode()).hexdigest()[:6]
