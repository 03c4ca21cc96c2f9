"""Signs the marks by which we recognise our HITs on MTurk, and makes the tokens of requests.

They are signed because workers see a study's key in the page's address: without a signature, anyone who can call the
marketplace's API could write it on a HIT of their own, and our next publishing run would adopt that HIT.
"""

from collections.abc import Iterable, Iterator

from django.conf import settings
from django.utils.crypto import salted_hmac

from hits.models import Offering, Study

PREFIX = "evalplatform"
SIGNATURE_LETTERS = 32  # 128 bits; MTurk takes 255 letters in all


def annotation_of(offering: Offering, hit_number: int) -> str:
    """Return the mark of a HIT. It covers the environment: a mark from the sandbox proves nothing in production."""
    return _annotation(offering, hit_number, settings.SECRET_KEY)


def known_annotations(offering: Offering, numbers: Iterable[int]) -> dict[str, int]:
    """Return all marks that are ours, with the HITs' numbers, including those signed with an earlier SECRET_KEY."""
    return {_annotation(offering, number, key): number for number in numbers for key in _keys()}


def names_study(annotation: str, study: Study) -> bool:
    """Return whether the mark claims to be of this study, rightly or not."""
    return annotation.startswith(f"{PREFIX} {study.key} ")


def token_of(offering: Offering, hit_number: int, round_: int = 0) -> str:
    """Return the token that makes repeating a request harmless. Nobody can guess it and use it before us.

    It has at most 64 characters. A HIT that is put up again gets a new token for each round: with the first token,
    MTurk would return the deleted HIT.
    """
    return _signature(f"token.{round_}" if round_ else "token", offering, hit_number, settings.SECRET_KEY)


def _annotation(offering: Offering, hit_number: int, key: str) -> str:
    return f"{PREFIX} {offering.study.key} {hit_number} {_signature('annotation', offering, hit_number, key)}"


def _signature(what: str, offering: Offering, hit_number: int, key: str) -> str:
    value = f"{offering.study.key} {offering.environment} {hit_number}"
    digest = salted_hmac(f"hits.publishing.{what}", value, secret=key, algorithm="sha256").hexdigest()
    return digest[:SIGNATURE_LETTERS]


def _keys() -> Iterator[str]:
    yield settings.SECRET_KEY
    yield from settings.SECRET_KEY_FALLBACKS
