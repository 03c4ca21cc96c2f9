"""Makes the secret that is a rater's personal link, and finds whose it is.

In: an invitation, or what stands in an address. Out: the link, or the invitation. Guaranteed: the database alone opens
nothing, since a link is its row's key with a code that only this server's secret key makes (130 bits); researchers can
read it again all the same. Codes are compared in constant time. A new key, or a revocation, closes it at once.
"""

import re
import secrets
from base64 import b32encode

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from hits.crowds.link.link_environments import LINK
from hits.models import Invitation, Offering

KEY_LETTERS, CODE_LETTERS = 10, 26
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"  # of base32
SECRET = re.compile(rf"[a-z2-7]{{{KEY_LETTERS + CODE_LETTERS}}}")


def new_key() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(KEY_LETTERS))


def personal_path(invitation: Invitation) -> str:
    return f"/join/invited/{invitation.key}{_code_of(invitation.key, settings.SECRET_KEY)}/"


def personal_link(invitation: Invitation) -> str:
    """Return the address to give to this rater and to nobody else."""
    return f"{settings.PUBLIC_URL}{personal_path(invitation)}"


def find_invitation(secret: str) -> Invitation | None:
    """Return whose link this is, revoked or not; None if it is nobody's."""
    secret = secret.lower()
    if not SECRET.fullmatch(secret):
        return None
    key, code = secret[:KEY_LETTERS], secret[KEY_LETTERS:]
    # Links that were sent before the server's key was replaced stay good as long as it knows the earlier one.
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if not any(constant_time_compare(code, _code_of(key, one)) for one in keys):
        return None
    return Invitation.objects.select_related("offering__study").filter(key=key).first()


def invitation_of(offering: Offering, worker_id: str) -> Invitation | None:
    return Invitation.objects.filter(offering=offering, worker_id=worker_id).first()


def own_page_of(offering: Offering, worker_id: str) -> str:
    """Return the path of the page of somebody who was invited by name; empty for all others."""
    invitation = invitation_of(offering, worker_id) if offering.crowd == LINK else None
    return personal_path(invitation) if invitation is not None and invitation.revoked_at is None else ""


def _code_of(key: str, secret_key: str) -> str:
    digest = salted_hmac("hits.crowds.link.invitation", key, secret=secret_key, algorithm="sha256").digest()
    return b32encode(digest).decode()[:CODE_LETTERS].lower()
