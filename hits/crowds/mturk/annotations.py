"""The marks on published HITs by which we know them again.

They are signed: workers see a study's key in the page's address, and whoever can call the marketplace's API could write
it on a HIT of their own, for the next publishing run to adopt."""

from collections.abc import Iterable, Iterator

from django.conf import settings
from django.utils.crypto import salted_hmac

from hits.models import Offering, Study

PREFIX = "evalplatform"
SIGNATURE_LETTERS = 32  # 128 bits; MTurk takes 255 letters in all


def annotation_of(offering: Offering, hit_number: int) -> str:
    """The environment is part of it: a mark from the sandbox proves nothing in production."""
    return _annotation(offering, hit_number, settings.SECRET_KEY)


def known_annotations(offering: Offering, numbers: Iterable[int]) -> dict[str, int]:
    """All marks that are ours, with the HITs' numbers: those too that were signed with a key of earlier days."""
    return {_annotation(offering, number, key): number for number in numbers for key in _keys()}


def names_study(annotation: str, study: Study) -> bool:
    """Whether it says that it is of this study, rightly or not."""
    return annotation.startswith(f"{PREFIX} {study.key} ")


def token_of(offering: Offering, hit_number: int, round_: int = 0) -> str:
    """Makes a repeated request harmless: of at most 64 characters, and nobody's to guess and to use before us.

    A HIT that is put up again has a token of its own round: with the first one, MTurk would name the deleted HIT.
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
