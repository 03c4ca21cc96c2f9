"""Signs and reads the page's token and the copy of its answers; makes the code that a worker can quote.

We use no cookies, since they don't work in a frame. A token names worker, assignment and HIT by the crowd's ids, not by
our row numbers: after a database was restored, a row number may belong to somebody else.
"""

import base64
from dataclasses import astuple, dataclass
from functools import lru_cache
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils.crypto import constant_time_compare, salted_hmac

from hits.crowds import Visit
from hits.models import Assignment
from hits.serving.work_refusals import Refusal, WorkRefused

_signer = Signer(salt="hits.serving.assignment")
_copy_signer = Signer(salt="hits.serving.copy")


@dataclass(frozen=True)
class Ticket:
    """What a token says."""

    study_key: UUID
    hit_number: int
    visit: Visit  # the crowd has checked it when the page was opened


@dataclass(frozen=True)
class CopyOf:
    """Whose work a copy of answers is.

    It includes the HIT and the marketplace: a worker who is stopped on this HIT may have the page of another one open,
    which has other cards.
    """

    study_key: UUID
    hit_number: int
    marketplace: str
    assignment_id: str
    worker_id: str


def sign_token(ticket: Ticket) -> str:
    """Return the signed token for a ticket."""
    one = ticket.visit
    # The site comes last, because only it may contain dots.
    values = one.crowd, one.environment, one.assignment_id, one.worker_id, one.hit_id, one.submit_to
    return _signer.sign(".".join(str(value) for value in (ticket.study_key, ticket.hit_number, *values)))


@lru_cache(maxsize=4096)  # a page sends its token with every card that is moved
def read_token(token: str) -> Ticket:
    """Return the ticket in a token. Raises WorkRefused if the signature is not ours."""
    try:
        key, number, *others = _signer.unsign(token).split(".", 7)
    except BadSignature:
        raise WorkRefused(Refusal.TOKEN_INVALID) from None
    return Ticket(UUID(key), int(number), Visit(*others))


def sign_copy(whose: CopyOf, answers: str) -> str:
    """Sign the copy of the answers that the marketplace stores, so that we can later tell that it is ours."""
    return _copy_signer.signature(_signed_text(whose, answers))


def is_our_copy(whose: CopyOf, answers: str, signature: str) -> bool:
    """Return whether the copy was signed with our SECRET_KEY, or with an earlier one that the settings still name."""
    value = _signed_text(whose, answers)
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return any(constant_time_compare(signature, _copy_signer.signature(value, key)) for key in keys)


def _signed_text(whose: CopyOf, answers: str) -> str:
    return ".".join(str(value) for value in (*astuple(whose), answers))


def completion_code(assignment: Assignment) -> str:
    """Return the code that a worker can quote if the marketplace did not receive the submission. Only we can make
    and verify it."""
    who = f"{assignment.offering.marketplace}.{assignment.crowd_assignment_id}.{assignment.crowd_worker_id}"
    digest = salted_hmac("hits.serving.completion", who, algorithm="sha256").digest()
    code = base64.b32encode(digest)[:8].decode()
    return f"{code[:4]}-{code[4:]}"
