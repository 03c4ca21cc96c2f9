"""The one place where a study's budget is looked at and what is to be spent is saved, in one step.

In: a block that saves intents (HITs to publish, HITs to put back, assignments to ask for, top-ups). Out: the same
intents, or none of them. Guaranteed: of all processes that spend for a study, one at a time is between its look at the
budget and its saved intents, so two that each fit alone never pass the cap together. No marketplace is called inside.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from hits.budgeting.budget import budget_of, refuse_over_budget
from hits.models import Offering, Study


@contextmanager
def spending(study: Study) -> Iterator[None]:
    """Hold the study's row until the block's end.

    SQLite has no locks on rows: there a transaction takes the whole file when it begins (transaction_mode IMMEDIATE).
    """
    with transaction.atomic():
        # Without the key: others may go on adding rows that refer to the study, such as workers' assignments.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        yield


@contextmanager
def within_budget(offering: Offering, what: str, instead: str, given_cap_cents: int | None = None) -> Iterator[None]:
    """What the block saves counts at once; it is undone and refused if it brings the study above its cap."""
    with spending(offering.study):
        yield
        refuse_over_budget(budget_of(offering), 0, what, instead, given_cap_cents)
