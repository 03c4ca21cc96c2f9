"""Makes workers' pseudonyms (W-...), which pages, tables and exports show in place of the marketplace's ids."""

from django.utils.crypto import salted_hmac

from hits.models import Offering, Study, Submission

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U to misread
LENGTH = 8  # 40 bits: the chance that two of 10,000 workers share a name is 1 in 20,000


def pseudonym(study: Study, worker_id: str) -> str:
    """Return a worker's pseudonym in a study. It never changes there, and differs from study to study.

    Without the server's secret, nobody can get from it to the worker's id.
    """
    return _make_pseudonym(f"hits.pseudonym.{study.key}", worker_id)


def bundle_pseudonym(salt: str, worker_id: str) -> str:
    """Return a worker's pseudonym in one bundle. It can't be matched with our pages or with other bundles."""
    return _make_pseudonym(f"hits.bundle.{salt}", worker_id)


def _make_pseudonym(salt: str, worker_id: str) -> str:
    digest = salted_hmac(salt, worker_id, algorithm="sha256").digest()
    number = int.from_bytes(digest[:8])
    letters = [ALPHABET[number >> 5 * index & 31] for index in range(LENGTH)]
    return f"W-{''.join(letters)}"


def worker_ids(offering: Offering) -> dict[str, str]:
    """Return the marketplace's ids of all workers who have submitted, by pseudonym, for those who may know them."""
    found = Submission.objects.filter(assignment__offering=offering)
    ids = found.order_by().values_list("assignment__crowd_worker_id", flat=True).distinct()
    return {pseudonym(offering.study, worker_id): worker_id for worker_id in ids}
