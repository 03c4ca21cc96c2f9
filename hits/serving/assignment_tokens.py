"""Who a page is: a signed token, issued from the marketplace's own parameters when the page is opened.

No cookies, which don't work in a frame. A token names the worker, the assignment and the HIT by their own
ids rather than by a row's number: after a database was restored, a number may be someone else's.
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
    study_key: UUID
    hit_number: int
    visit: Visit  # which the crowd has looked at when the page was opened


@dataclass(frozen=True)
class CopyOf:
    """What a copy is of. The HIT and the marketplace are part of it: a page of another one may be open to a worker who
    is stopped on this one, and has other cards."""

    study_key: UUID
    hit_number: int
    place: str
    assignment_id: str
    worker_id: str


def sign_token(ticket: Ticket) -> str:
    one = ticket.visit
    # The site last: it is the only one that may have dots in it.
    values = one.crowd, one.environment, one.assignment_id, one.worker_id, one.hit_id, one.submit_to
    return _signer.sign(".".join(str(value) for value in (ticket.study_key, ticket.hit_number, *values)))


@lru_cache(maxsize=4096)  # a page shows it with every card that is moved
def read_token(token: str) -> Ticket:
    try:
        key, number, *others = _signer.unsign(token).split(".", 7)
    except BadSignature:
        raise WorkRefused(Refusal.TOKEN_INVALID) from None
    return Ticket(UUID(key), int(number), Visit(*others))


def sign_copy(whose: CopyOf, answers: str) -> str:
    """For the answers that the marketplace keeps: whoever rebuilds ours from them knows that they are ours."""
    return _copy_signer.signature(_signed(whose, answers))


def is_our_copy(whose: CopyOf, answers: str, signature: str) -> bool:
    """Signed with our key, or with one of earlier days that the settings still name."""
    value = _signed(whose, answers)
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return any(constant_time_compare(signature, _copy_signer.signature(value, key)) for key in keys)


def _signed(whose: CopyOf, answers: str) -> str:
    return ".".join(str(value) for value in (*astuple(whose), answers))


def completion_code(assignment: Assignment) -> str:
    """What a worker can quote if the marketplace did not get the submission: ours to verify, nobody's to guess."""
    who = f"{assignment.offering.place}.{assignment.crowd_assignment_id}.{assignment.crowd_worker_id}"
    digest = salted_hmac("hits.serving.completion", who, algorithm="sha256").digest()
    code = base64.b32encode(digest)[:8].decode()
    return f"{code[:4]}-{code[4:]}"
