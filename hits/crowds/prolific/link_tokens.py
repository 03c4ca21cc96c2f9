"""Checks the signed token that Prolific can add to a participant's link: a JWT, signed with a key that it publishes.

It comes on top: every arrival is confirmed through the API anyway. So a token that has run out, or whose key can't be
had just now, decides nothing; one that is false, or that names somebody else, turns the visitor away.
"""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import jwt
import structlog
from django.conf import settings

from evalplatform.errors import EvalPlatformError
from hits.crowds.prolific.prolific_environments import LOCAL
from hits.crowds.prolific.prolific_transport import KEYS, AnswerLost, Transport, open_transport

ISSUER = "https://www.prolific.com"
KEPT_SECONDS = 86_400  # Prolific's keys change rarely, and an unknown one makes us look again
LOOK_AGAIN_SECONDS = 60  # at most so often, since anybody can invent the name of a key; here, a look costs nothing
LEEWAY_SECONDS = 60

log = structlog.get_logger("hits.crowds.prolific.link_tokens")


class TooSoon(Exception):
    """The key is not known, and we have looked for another one a moment ago."""


class Verdict(Enum):
    GOOD = "good"
    FALSE = "false"
    UNDECIDED = "undecided"


@dataclass
class KeyStore:
    """The public keys of one Prolific, kept for a day."""

    environment: str
    keys: dict[str, Any] = field(default_factory=dict)
    read_at: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, kid: str) -> Any:
        """Return the key. Raises KeyError if there is none, and TooSoon if we may not look for it just now."""
        with self.lock:
            age = time.monotonic() - self.read_at
            if kid not in self.keys or age > KEPT_SECONDS:
                if age < LOOK_AGAIN_SECONDS and self.environment != LOCAL:
                    raise TooSoon(kid)
                self.read_at = time.monotonic()  # also if it fails: whoever waits behind us must not wait once more
                self.keys = self._read(open_transport(self.environment))
            return self.keys[kid]

    def _read(self, transport: Transport) -> dict[str, Any]:
        answer = transport("GET", KEYS, b"", {})
        if answer.status != 200:
            raise AnswerLost(str(answer.status))
        said = json.loads(answer.body)
        found = said.get("keys") if isinstance(said, dict) else None
        if not isinstance(found, list):
            raise AnswerLost("no set of keys")
        return dict(filter(None, map(_read_key, found)))


def _read_key(one: Any) -> tuple[str, Any] | None:
    """Return a key by its name, or None if it is of no use to us: one odd key must not turn everybody away."""
    if not isinstance(one, dict) or one.get("kty") != "RSA":
        return None
    try:
        return str(one.get("kid", "")), jwt.PyJWK(one, algorithm="RS256").key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None


_stores: dict[str, KeyStore] = {}


def check_token(token: str, environment: str, ids: Mapping[str, str], store: KeyStore | None = None) -> Verdict:
    """Say whether the token is Prolific's and names these ids: participant_id, study_id and submission_id."""
    store = store or _stores.setdefault(environment, KeyStore(environment))
    try:
        kid = jwt.get_unverified_header(token).get("kid", "")
        key = store.find(str(kid))
        needed = ["iss", "sub", "aud", "exp"]
        options: Any = {"require": needed, "verify_aud": False}
        claims = jwt.decode(token, key, ["RS256"], issuer=ISSUER, leeway=LEEWAY_SECONDS, options=options)
    except jwt.ExpiredSignatureError:
        return Verdict.UNDECIDED  # the page was loaded again after an hour
    except jwt.PyJWTError:
        return Verdict.FALSE
    except KeyError:
        return Verdict.FALSE
    except (TooSoon, AnswerLost, EvalPlatformError, ValueError) as error:
        log.warning("prolific_keys_unreadable", error=str(error))
        return Verdict.UNDECIDED
    named = claims.get("prolific")
    is_same = isinstance(named, dict) and all(named.get(name) == value for name, value in ids.items())
    is_for_us = _names_us(claims["aud"])
    return Verdict.GOOD if is_same and is_for_us and claims["sub"] == ids["submission_id"] else Verdict.FALSE


def _names_us(audience: Any) -> bool:
    """Return whether the audience is this server. Prolific's documentation says a domain, one client compares the
    origin, another the whole address: the origin must be ours, or the domain where there is nothing else."""
    ours = urlsplit(settings.PUBLIC_URL)
    named = audience if isinstance(audience, list) else [audience]
    for one in named:
        parts = urlsplit(str(one))
        if (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc) or one in (ours.netloc, ours.hostname):
            return True
    return False
