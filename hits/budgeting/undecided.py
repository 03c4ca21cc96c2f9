"""Work that waits for a person: nothing is paid for it until somebody approves or rejects it.

In: confirmed submissions. Out: those with a problem (no answers, or none that surely are what the worker handed in) and
those beyond the worker's cap, with the reason. Guaranteed: a submission leaves the list by a decision, here or on the
marketplace, or when its answers are found after all; the marketplace itself approves what nobody decides, when its own
delay is over.
"""

from dataclasses import dataclass
from datetime import datetime

from hits.models import Offering, Study, Submission
from hits.models.submission import SubmissionQuerySet

NO_ANSWERS = "It was submitted without our page: neither we nor the marketplace have its answers."
# Not used as they are: the page saves while cards move, and what was last in front of the worker we do not know.
SAVED_ONLY = (
    "It is not empty: its worker saved answers on our page, but the form that reached the marketplace carries none. "
    "What was saved may not be what they meant to hand in. Look at it below, and decide."
)
UNREADABLE = (
    "The form carries answers that this server can't take for this worker's: they were signed with another SECRET_KEY "
    "(put it into SECRET_KEY_FALLBACKS, and the next sync reads them), changed on their way, or are somebody else's."
)
ANSWERS_MAY_COME = (NO_ANSWERS, SAVED_ONLY, UNREADABLE)
IN_SHORT = {SAVED_ONLY: "answers saved, not handed in", UNREADABLE: "answers that can't be read"}


@dataclass(frozen=True)
class Waiting:
    """How many wait for a decision, and when the marketplace approves and pays the first of them by itself."""

    count: int
    first_paid_at: datetime | None


def waiting_for_decision(offering: Offering) -> dict[int, str]:
    """Why each of these submissions waits, by its key."""
    beyond = beyond_cap(offering)
    undecided = _submissions(offering).undecided()
    waiting = dict(undecided.exclude(problem="").values_list("pk", "problem"))
    limit = _cap(offering.study)
    reason = f"Its worker has handed in more than the {limit:,} HIT{'s' if limit > 1 else ''} that the study allows."
    return dict.fromkeys(undecided.filter(pk__in=beyond).values_list("pk", flat=True), reason) | waiting


def empty_submissions(offering: Offering) -> SubmissionQuerySet:
    """Those that wait and of which there are no answers anywhere. Work beyond the worker's cap is not among them, nor
    is work of which something was saved with us or can't be read: each of those is for a person to look at."""
    undecided = _submissions(offering).undecided()
    return undecided.filter(problem=NO_ANSWERS, assignment__answers=None).order_by("pk")


def summarise_waiting(offering: Offering) -> Waiting:
    waiting = waiting_for_decision(offering)
    due = Submission.objects.filter(pk__in=waiting).exclude(auto_approval_at=None).order_by("auto_approval_at")
    return Waiting(len(waiting), due.values_list("auto_approval_at", flat=True).first())


def beyond_cap(offering: Offering) -> set[int]:
    """What workers have handed in beyond what the study allows each, by its key: the latest of them.

    What is in the ledger comes first: a list of the marketplace may lag, and tell of earlier work later.
    """
    limit = _cap(offering.study)
    ours = _submissions(offering)
    workers = list(ours.busiest_workers(limit + 1))
    if not workers:
        return set()
    in_ledger = set(ours.filter(payments__kind="reward").values_list("pk", flat=True))
    by_worker: dict[str, list[tuple[bool, datetime, int]]] = {}
    for pk, worker, at in ours.filter(assignment__crowd_worker_id__in=workers).values_list(
        "pk", "assignment__crowd_worker_id", "submitted_at"
    ):
        by_worker.setdefault(worker, []).append((pk not in in_ledger, at, pk))
    return {pk for done in by_worker.values() for _, _, pk in sorted(done)[limit:]}


def _cap(study: Study) -> int:
    return study.parsed_design.crowd.max_hits_per_worker


def _submissions(offering: Offering) -> SubmissionQuerySet:
    return Submission.objects.filter(assignment__offering=offering)
