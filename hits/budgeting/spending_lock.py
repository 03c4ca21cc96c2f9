"""Checks a study's budget and saves what is to be spent in one step, so that two runs never exceed it together.

What comes in: a block that saves intents (HITs to publish or put back, assignments to request, top-ups). What goes out:
the same intents, or none of them. What is guaranteed: of all processes that spend for a study, only one at a time is
between checking the budget and saving its intents, so two that each fit alone never exceed the cap together. No
marketplace is called inside the block.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from hits.budgeting.budget import budget_of, refuse_over_budget
from hits.budgeting.study_lock import spending
from hits.models import Offering


@contextmanager
def within_budget(offering: Offering, what: str, instead: str, given_cap_cents: int | None = None) -> Iterator[None]:
    """Let the block save intents, then undo and refuse them if they bring the study above its cap."""
    with spending(offering.study):
        yield
        refuse_over_budget(budget_of(offering), 0, what, instead, given_cap_cents)
