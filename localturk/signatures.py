"""Check the signature of a call (AWS version 4) against the pair of keys in the settings.

A signature covers the operation, the whole body, the host and the time. Someone who overheard a call can repeat it for
some minutes, but not change it. botocore can only sign, so we check by computing the same signature again.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings

from localturk.errors import TurkError

SKEW = timedelta(minutes=5)
ALGORITHM = "AWS4-HMAC-SHA256"
MUST_BE_SIGNED = {"host", "x-amz-date", "x-amz-target"}
AUTHORIZATION = re.compile(
    ALGORITHM + r" Credential=(?P<key_id>[^/,\s]+)/(?P<scope>(?P<day>\d{8})/(?P<region>[\w-]+)/(?P<service>[\w-]+)"
    r"/aws4_request),\s*SignedHeaders=(?P<headers>[\w;-]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)


class NotSigned(TurkError):
    """The signature is missing or wrong. The codes are AWS's, because clients show them to people."""

    status = 403

    def __init__(self, type: str, message: str) -> None:
        super().__init__(type, message)
        self.type = type


@dataclass(frozen=True)
class Call:
    """An HTTP request as it arrived. The names of `headers` are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"


def check_signature(call: Call, now: datetime) -> None:
    """Raise NotSigned if the call is not signed with our keys. Without keys in the settings every call is accepted,
    because then only this machine is served."""
    if not settings.LOCAL_MARKET_KEY_ID:
        return
    given = AUTHORIZATION.fullmatch(call.headers.get("authorization", "").strip())
    if given is None:
        raise NotSigned("MissingAuthenticationTokenException", "This marketplace takes signed requests only.")
    names = given["headers"].split(";")
    signed_at = call.headers.get("x-amz-date", "")
    if not set(names) >= MUST_BE_SIGNED or not signed_at.startswith(given["day"]):
        raise NotSigned("IncompleteSignatureException", "Host, X-Amz-Date and X-Amz-Target must be signed.")
    is_known = hmac.compare_digest(given["key_id"].encode(), settings.LOCAL_MARKET_KEY_ID.encode())
    expected = _compute_signature(call, names, signed_at, given["scope"])
    if not is_known or not hmac.compare_digest(expected, given["signature"]):
        raise NotSigned("UnrecognizedClientException", "The key ID or the signature of this request is not right.")
    _check_time(signed_at, now)


def _check_time(signed_at: str, now: datetime) -> None:
    try:
        then = datetime.strptime(signed_at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise NotSigned("IncompleteSignatureException", "X-Amz-Date is not a time.") from None
    if abs(now - then) > SKEW:
        message = f"Signed at {signed_at}, and here it is {now:%Y%m%dT%H%M%SZ}: more than five minutes apart."
        raise NotSigned("RequestExpired", message)


def _compute_signature(call: Call, names: list[str], signed_at: str, scope: str) -> str:
    headers = "".join(f"{name}:{' '.join(call.headers.get(name, '').split())}\n" for name in names)
    body_hash = hashlib.sha256(call.body).hexdigest()
    canonical = "\n".join([call.method, call.path, "", headers, ";".join(names), body_hash])
    to_sign = "\n".join([ALGORITHM, signed_at, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{settings.LOCAL_MARKET_SECRET_KEY}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return _hmac(key, to_sign).hex()


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
