"""Names for workers that say nothing about them: in pages, tables and exports instead of the marketplace's own ids."""

from django.utils.crypto import salted_hmac

from hits.models import Offering, Study, Submission

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U to misread
LENGTH = 8  # 40 bits: among 10,000 workers, two share a name with a chance of 1 in 20,000


def pseudonym(study: Study, worker_id: str) -> str:
    """Stable within a study, another in each; without the server's secret nobody finds the way back."""
    return _name(f"hits.pseudonym.{study.key}", worker_id)


def bundle_pseudonym(salt: str, worker_id: str) -> str:
    """Another one for those who get a bundle: what they know can't be matched with the pages or with other bundles."""
    return _name(f"hits.bundle.{salt}", worker_id)


def _name(salt: str, worker_id: str) -> str:
    digest = salted_hmac(salt, worker_id, algorithm="sha256").digest()
    number = int.from_bytes(digest[:8])
    letters = [ALPHABET[number >> 5 * place & 31] for place in range(LENGTH)]
    return f"W-{''.join(letters)}"


def worker_ids(offering: Offering) -> dict[str, str]:
    """The way back, for who may know it: the ids of all who have submitted, by pseudonym."""
    found = Submission.objects.filter(assignment__offering=offering)
    ids = found.order_by().values_list("assignment__crowd_worker_id", flat=True).distinct()
    return {pseudonym(offering.study, worker_id): worker_id for worker_id in ids}
