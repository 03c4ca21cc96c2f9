"""Finds work that waits for a person: nothing is paid for it until somebody approves or rejects it.

What comes in: confirmed submissions. What goes out: those with a problem (no answers, none that surely are what the
worker handed in, or too late to be blind) and those beyond the worker's cap, with the reason. late_work.py adds what
the budget has no room for. What is guaranteed: a submission leaves the list by a decision, here or on the marketplace,
or when its answers are found after all. What nobody decides, the marketplace approves by itself after its own delay.
"""

from datetime import datetime

from evalplatform.wording import count_of
from hits.models import Assignment, Offering, Study, Submission
from hits.models.submission import SubmissionQuerySet

NO_ANSWERS = "It was submitted without our page: neither we nor the marketplace have its answers."
# We do not use them as they are: the page saves while cards move, and we don't know what the worker saw last.
SAVED_ONLY = (
    "It is not empty: its worker saved answers on our page, but the form that reached the marketplace carries none. "
    "What was saved may not be what they meant to hand in. Look at it below, and decide."
)
UNREADABLE = (
    "The form carries answers that this server can't take for this worker's: they were signed with another SECRET_KEY "
    "(put it into SECRET_KEY_FALLBACKS, and the next sync reads them), changed on their way, or are somebody else's."
)
AFTER_THE_ORDERS = (
    "It was begun before a bundle made the card orders public, and handed in after that: its worker may have known "
    "which reply is whose. It counts in no result and wins no bonus; once you approve it, its reward is due."
)
ANSWERS_MAY_COME = (NO_ANSWERS, SAVED_ONLY, UNREADABLE)
ASKED_BACK = "You asked its worker on {at:%d %b %Y, %H:%M} UTC to give it back."
PROBLEMS_IN_SHORT = {
    SAVED_ONLY: "answers saved, not handed in",
    UNREADABLE: "answers that can't be read",
    AFTER_THE_ORDERS: "handed in after the card orders were public",
}


def held_back(offering: Offering) -> dict[int, str]:
    """Return why each submission waits, whatever the budget says, by its primary key."""
    beyond = beyond_cap(offering)
    undecided = _submissions(offering).undecided()
    held = undecided.exclude(problem="", return_wanted_at=None)
    waiting = {
        pk: " ".join(filter(None, [problem, ASKED_BACK.format(at=asked_at) if asked_at else ""]))
        for pk, problem, asked_at in held.values_list("pk", "problem", "return_wanted_at")
    }
    limit = _max_hits_per_worker(offering.study)
    reason = f"Its worker has handed in more than the {count_of(limit, 'HIT')} that the study allows."
    return dict.fromkeys(undecided.filter(pk__in=beyond).values_list("pk", flat=True), reason) | waiting


def empty_submissions(offering: Offering) -> SubmissionQuerySet:
    """Return waiting submissions that have no answers anywhere, and were not asked back.

    Work beyond the worker's cap is not among them, nor is work of which something was saved with us or can't be read: a
    person has to look at each of those.
    """
    undecided = _submissions(offering).undecided()
    empty = undecided.filter(problem=NO_ANSWERS, assignment__answers=None, return_wanted_at=None)
    return empty.order_by("pk")


def undecided_late_work(offering: Offering) -> set[int]:
    """Return the primary keys of work beyond all places that nobody has decided about, and that nothing else holds
    back. No budget was asked for its pay."""
    late = _submissions(offering).undecided().filter(assignment__place=Assignment.Place.EXTRA)
    keys = set(late.values_list("pk", flat=True))
    return keys - held_back(offering).keys() if keys else keys


def beyond_cap(offering: Offering) -> set[int]:
    """Return the primary keys of submissions beyond what the study allows each worker: their latest ones.

    Submissions in the ledger count first, because the marketplace's list may lag and report earlier work later.
    """
    limit = _max_hits_per_worker(offering.study)
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


def _max_hits_per_worker(study: Study) -> int:
    return study.parsed_design.crowd.max_hits_per_worker


def _submissions(offering: Offering) -> SubmissionQuerySet:
    return Submission.objects.filter(assignment__offering=offering)
