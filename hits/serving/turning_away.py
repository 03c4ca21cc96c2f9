"""Sends visitors who get no work back to the crowd, where it has a way for that: a code, a redirect, or a form."""

from uuid import UUID

from hits.crowds import HandBack, Visit, crowd_of
from hits.models import Outcome
from hits.serving.frozen import frozen_offering
from hits.serving.work_refusals import Refusal

# The other refusals end nothing: the worker goes on, comes back, or has handed in. NOT_HELD ends a visit as well, but
# somebody whom the crowd has not sent must not learn its codes, which may be worth money.
OUTCOMES = {
    Refusal.LIMIT_REACHED: Outcome.STUDY_FULL,
    Refusal.NOT_ELIGIBLE: Outcome.STUDY_FULL,
    Refusal.NOTHING_FREE: Outcome.STUDY_FULL,
    Refusal.STOPPED: Outcome.STUDY_FULL,
    Refusal.STUDY_COMPLETE: Outcome.STUDY_FULL,
    Refusal.STUDY_FULL: Outcome.STUDY_FULL,
}


def way_back(study_key: UUID, visit: Visit, why: Refusal | Outcome) -> HandBack | None:
    """Return how the visitor gets back to the crowd, or None if they just leave."""
    outcome = why if isinstance(why, Outcome) else OUTCOMES.get(why)
    offering = frozen_offering(study_key, visit)
    if outcome is None or offering is None:
        return None
    return crowd_of(offering).turn_away(visit, offering, outcome)
