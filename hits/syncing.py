"""The round that is made every few minutes: collect what the marketplace confirms, pay it, cap who has done enough.

Where the study wants that, more assignments are asked for in place of those that were lost, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from evalplatform.wording import count_of
from hits.collecting import Collected, collect
from hits.designing.describing import dollars
from hits.limiting import Limited, limit_workers
from hits.models import Payment, Publication, Study, Submission
from hits.models.design import StudyDesign
from hits.mturk.client import Market
from hits.paying import Paid, pay
from hits.places import open_places
from hits.replacing import Replaced, has_unreplaced_losses, replace_lost_assignments

OnProgress = Callable[[str, int, int], None]


@dataclass
class Synced:
    collected: Collected
    paid: Paid
    limited: Limited
    replaced: Replaced | None  # where the study wants that at each sync


def describe_sync(synced: Synced) -> str:
    """In one line, for the event log."""
    collected, paid = synced.collected, synced.paid
    parts = [
        count_of(collected.new, "new submission"),
        f"{count_of(paid.rewards, 'reward')} and {count_of(paid.bonuses, 'bonus', 'bonuses')} paid "
        f"({dollars(paid.cents)} with fees)",
    ]
    if synced.limited.capped:
        parts.append(f"{count_of(synced.limited.capped, 'worker has', 'workers have')} done enough")
    if paid.stopped_by:
        parts.append(f"paying stopped: {paid.stopped_by}")
    return "; ".join(parts)


def unsettled_studies() -> list[tuple[int, str]]:
    """Studies by marketplace on which something may still happen: work to come, to be approved, or to be paid."""
    published = Publication.objects.confirmed().order_by("hit__study", "environment")
    studies = Study.objects.in_bulk(published.values_list("hit__study", flat=True).distinct())
    return [
        (study_id, environment)
        for study_id, environment in published.values_list("hit__study", "environment").distinct()
        if _is_unsettled(studies[study_id], environment)
    ]


def _is_unsettled(study: Study, environment: str) -> bool:
    waiting = Submission.objects.waiting().filter(assignment__hit__study=study, assignment__environment=environment)
    owed = Payment.objects.owed().filter(
        submission__assignment__hit__study=study, submission__assignment__environment=environment
    )
    if waiting.exists() or owed.exists() or open_places(study, environment):
        return True
    return _replaces_by_itself(study) and has_unreplaced_losses(study, environment)


def _replaces_by_itself(study: Study) -> bool:
    return StudyDesign.model_validate(study.design).hits.replacements == "at each sync"


def sync(
    study: Study,
    environment: str,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda stage, done, total: None,
) -> Synced:
    """Can be run at any time, again, and twice at once. `on_progress` hears the stage, and how far it is."""
    collected = collect(study, environment, market, now(), lambda done, total: on_progress("Collecting", done, total))
    limited = limit_workers(study, environment, market, now())
    paid = pay(study, environment, market, now, lambda done, total: on_progress("Paying", done, total))
    replaced = replace_lost_assignments(study, environment, market, now) if _replaces_by_itself(study) else None
    return Synced(collected, paid, limited, replaced)
