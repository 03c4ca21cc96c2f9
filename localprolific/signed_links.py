"""Make the address that a participant is sent to: placeholders filled in, and signed with a token if asked for."""

import functools
import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone

from localprolific.behaviour import behaviour
from localprolific.models import ProlificSubmission, SigningKey

ISSUER = "https://www.prolific.com"
TOKEN_LIFE = timedelta(hours=1)  # a guess: Prolific publishes none
PLACEHOLDERS = {"PROLIFIC_PID": "participant", "STUDY_ID": "study", "SESSION_ID": "submission"}


def visit_url(submission: ProlificSubmission) -> str:
    url = submission.url
    ids = {
        "PROLIFIC_PID": submission.participant.participant_id,
        "STUDY_ID": submission.study.study_id,
        "SESSION_ID": submission.submission_id,
    }
    for name, value in ids.items():
        url = url.replace(f"{{{{%{name}%}}}}", value)
    if not (submission.study.is_url_secure and behaviour().are_links_signed):
        return url
    parts = urlsplit(url)
    query = "&".join(filter(None, [parts.query, urlencode({"prolific_token": sign(submission, url)})]))
    return parts._replace(query=query).geturl()


def sign(submission: ProlificSubmission, url: str) -> str:
    """Return the signed token: who comes, to which study, with which submission."""
    now = timezone.now()  # the real time, by which whoever checks the token goes
    key = current_key()
    parts = urlsplit(url)
    audiences = {"origin": f"{parts.scheme}://{parts.netloc}", "domain": parts.hostname or "", "url": url}
    claims = {
        "iss": ISSUER,
        "sub": submission.submission_id,
        "aud": audiences[behaviour().link_audience],
        "iat": now,
        "exp": now + TOKEN_LIFE,
        "jti": str(uuid.uuid4()),
        "prolific": {
            "participant_id": submission.participant.participant_id,
            "study_id": submission.study.study_id,
            "submission_id": submission.submission_id,
            "workspace_id": submission.study.workspace.workspace_id,
        },
    }
    return jwt.encode(claims, _private(key.private_pem), algorithm="RS256", headers={"kid": key.kid})


def key_set() -> dict[str, Any]:
    """Return the public keys as a JSON Web Key Set."""
    current_key()
    return {"keys": [_public(key) for key in SigningKey.objects.all()]}


def current_key() -> SigningKey:
    return SigningKey.objects.last() or rotate_key()


def rotate_key() -> SigningKey:
    """Make a new key, which signs from now on. Links that the earlier ones signed stay good."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    return SigningKey.objects.create(kid=uuid.uuid4().hex, private_pem=pem)


def _public(key: SigningKey) -> dict[str, Any]:
    shape = jwt.algorithms.RSAAlgorithm.to_jwk(_private(key.private_pem).public_key(), as_dict=True)
    return {**shape, "kid": key.kid, "use": "sig", "alg": "RS256"}


@functools.lru_cache(maxsize=8)
def _private(pem: str) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("The key is not an RSA key.")
    return key
