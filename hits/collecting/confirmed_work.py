"""Stores what the crowd says was handed in; decides which answers count, what was given up, and what is due again.

What comes in: a study's published HITs and a market. What goes out: a Submission with its Ratings for each assignment
that the marketplace has, each completely or not at all; and for each that it does not have, how it ended. What is
guaranteed: nothing counts that was sent only to our pages; answers that we have lost come back from the marketplace's
copy; running this twice, or two at once, changes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from hits.access import pseudonym
from hits.budgeting import (
    AFTER_THE_ORDERS,
    ANSWERS_MAY_COME,
    IN_FLIGHT,
    NO_ANSWERS,
    SAVED_ONLY,
    UNREADABLE,
    note_gone,
    note_places,
)
from hits.collecting.controls_counted import CONTROL_COUNTS, count_controls
from hits.collecting.hits_with_news import has_news, known_counts, look_up_hits, our_publications, recently_rejected
from hits.crowds import Market, MarketAssignment, call_in_threads, crowd_of, origin_of
from hits.errors import MarketRefused
from hits.models import Answer, Assignment, Event, HitItem, Offering, Payment, Publication, Rating, Study, Submission
from hits.models.assignment import AssignmentQuerySet
from hits.protocols import Protocol, missing_work
from hits.serving import (
    AnswersCopy,
    CopyOf,
    FrozenHit,
    FrozenItem,
    copy_of,
    frozen_hit,
    read_copy,
    rebuild_answers,
    says_the_same,
)

GRACE = timedelta(minutes=5)  # how long after its time limit we wait for the marketplace to report an assignment

Ending = Assignment.Ending
OnProgress = Callable[[int, int], None]


@dataclass
class Collected:
    """How many rows of each kind a run has changed."""

    new: int = 0
    rebuilt: int = 0
    without_answers: int = 0
    changed: int = 0  # approved or rejected since we last looked
    gone: int = 0  # HITs that were deleted on the marketplace
    ended: int = 0  # assignments given up, out of time, taken over, or never handed in


def collect(
    offering: Offering,
    market: Market,
    now: datetime,
    on_progress: OnProgress = lambda done, total: None,
) -> Collected:
    """Read the list of HITs, and then only the assignments of HITs in which something has happened."""
    publications = our_publications(offering)
    numbers = dict(offering.study.hits.values_list("pk", "number"))
    known = known_counts(offering)
    rejected = set(recently_rejected(offering, now).values_list("crowd_hit_id", flat=True))
    threads = crowd_of(offering).abilities.calls_at_once
    listed, gone = look_up_hits(market, publications, threads)
    changed = [publications[hit.crowd_hit_id] for hit in listed if has_news(hit, known, rejected)] + gone
    # The last HIT first, as the marketplace lists them if they were published one by one. Threads publish them in any
    # order, and the order of rows decides what a bootstrap draws, so we sort them.
    changed.sort(key=lambda publication: numbers[publication.hit_id], reverse=True)
    result = Collected(gone=len(gone))
    done = 0

    def ask(publication: Publication) -> list[MarketAssignment]:
        try:
            return list(market.list_assignments(publication.crowd_hit_id))
        except MarketRefused:
            if publication in gone:
                return []  # the marketplace may or may not still list the work of a deleted HIT
            raise

    for outcomes in call_in_threads(ask, changed, threads, in_order=True):
        for publication, outcome in outcomes:
            hit = frozen_hit(offering.study.key, numbers[publication.hit_id], offering)
            for found in outcome.result():
                _store_assignment(hit, publication, found, now, result)
            done += 1
        on_progress(done, len(changed))
    result.rebuilt += rebuild_again(offering, now)
    result.ended = _close_overdue_assignments(offering, now)
    _forget_addresses(offering, now)
    note_places(offering, listed, publications, now)
    note_gone(offering, gone, now)
    return result


# --- One assignment --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _HandedIn:
    """What the worker's browser handed to the crowd: its fields, and our signed copy of the answers among them."""

    fields: dict[str, str]
    copy: AnswersCopy | None  # None unless we signed it for this worker, assignment and HIT


def _store_assignment(
    hit: FrozenHit, publication: Publication, found: MarketAssignment, now: datetime, result: Collected
) -> None:
    fields = crowd_of(publication.offering).fields_of(found.answer)
    whose = (publication.offering.marketplace, found.crowd_assignment_id, found.crowd_worker_id)
    handed_in = _HandedIn(fields, read_copy(hit, CopyOf(hit.study.key, hit.number, *whose), fields))
    with transaction.atomic():
        assignment = _lock_assignment(hit, publication, found, handed_in)
        submission = Submission.objects.filter(assignment=assignment).first()
        if assignment.confirmed_at is None:
            assignment.confirmed_at, assignment.visited_from = now, ""
            assignment.save(update_fields=["confirmed_at", "visited_from"])
        if submission is not None:
            if submission.status != found.status:
                _note_status(submission, found.status, now)
                result.changed += 1
            return
        submission = Submission(
            assignment=assignment,
            crowd_hit_id=publication.crowd_hit_id,
            status=found.status,
            origin=origin_of(publication.offering, found),
            accepted_at=found.accepted_at,
            submitted_at=found.submitted_at or now,
            auto_approval_at=found.auto_approval_at,
            answer_xml=found.answer,
            collected_at=now,
        )
        _settle_answers(hit, submission, handed_in)
        submission.save()
        if not submission.problem:
            _save_ratings(hit, submission)
        _find_others_with_same_id(assignment).update(ended_as=Ending.TAKEN_OVER, ended_at=now, visited_from="")
        result.new += 1
        result.rebuilt += submission.is_rebuilt
        result.without_answers += bool(submission.problem)


def _note_status(submission: Submission, status: str, now: datetime) -> None:
    """Store the new status. If a rejection (or a return) was reversed there, what it had cancelled is due again, and
    paying finds the reward paid."""
    is_override = submission.status in Submission.EARNS_NOTHING and status == Submission.Status.APPROVED
    submission.status = status
    submission.save(update_fields=["status"])
    if not is_override:
        return
    Payment.objects.filter(submission=submission, paid_at=None).update(cancelled_at=None, refusal="")
    hit = submission.assignment.hit
    worker = pseudonym(hit.study, submission.assignment.crowd_worker_id)
    text = f"found that the rejection of {worker} on HIT {hit.shown_number} was overridden on the marketplace"
    Event.objects.create(study=hit.study, at=now, actor=None, text=text)


def _lock_assignment(
    hit: FrozenHit, publication: Publication, found: MarketAssignment, handed_in: _HandedIn
) -> Assignment:
    """Return the assignment's row, locked. Create it if we have never seen it, or no longer have it."""
    rotation = handed_in.copy.rotation if handed_in.copy else 0
    seen = {"hit_id": hit.pk, "rotation": rotation, "opened_at": found.accepted_at}
    assignment, _ = Assignment.objects.select_for_update().get_or_create(
        offering=publication.offering,
        crowd_assignment_id=found.crowd_assignment_id,
        crowd_worker_id=found.crowd_worker_id,
        defaults={**seen, "held_at": found.accepted_at},
    )
    assignment.offering = publication.offering
    return assignment


def _settle_answers(hit: FrozenHit, submission: Submission, handed_in: _HandedIn) -> None:
    """Decide which answers count: the copy that the worker's own browser handed to the marketplace, if we signed it;
    else what our pages were sent, if that is complete. If there are none, note the reason.

    The copy goes first because anyone who knows the worker's ids can send something to our pages, but only the worker
    can hand in to the marketplace.
    """
    assignment = submission.assignment
    if assignment.hit_id != hit.pk:
        submission.problem = "Our page was opened for another HIT with this assignment."
        return
    answers = {answer.item_id: answer for answer in Answer.objects.filter(assignment=assignment)}
    has_ours = assignment.submitted_at is not None and _are_complete(hit, answers)
    copy = handed_in.copy
    if copy is None and not has_ours:
        submission.problem = UNREADABLE if handed_in.fields.get("answers") else SAVED_ONLY if answers else NO_ANSWERS
        return
    if copy is not None and not (has_ours and says_the_same(hit, copy, answers)):
        rebuild_answers(hit, assignment, copy)
        submission.is_rebuilt = True
        assignment.feedback = copy.feedback
        assignment.submitted_at = submission.submitted_at
    if _may_know_the_orders(submission):
        submission.problem = AFTER_THE_ORDERS
    assignment.ended_as = ""
    assignment.ended_at = None
    assignment.save(update_fields=["rotation", "turned", "feedback", "submitted_at", "ended_as", "ended_at"])


def _may_know_the_orders(submission: Submission) -> bool:
    """Return whether the work was in hand when a bundle made the card orders public. Work that was begun after that is
    what a person has asked for."""
    assignment = submission.assignment
    if not crowd_of(assignment.offering).abilities.sends_to_study:
        return False  # there, no bundle tells the orders while a HIT may bring work
    meanwhile = (assignment.opened_at, submission.submitted_at)
    return Study.objects.filter(pk=assignment.offering.study_id, orders_revealed_at__range=meanwhile).exists()


def _are_complete(hit: FrozenHit, answers: Mapping[int, Answer]) -> bool:
    values = {item_pk: answer.value for item_pk, answer in answers.items()}
    return not missing_work(hit.study.protocol, hit.card_counts, values)


def rebuild_again(offering: Offering, now: datetime) -> int:
    """Try again to read the copies of submissions that had no answers when they came, and return how many could be
    read.

    A copy can be read once the key that signed it is back, or is listed in SECRET_KEY_FALLBACKS. Each other costs one
    hash.
    """
    collected = Submission.objects.filter(assignment__offering=offering)
    rebuilt = 0
    for submission in collected.filter(problem__in=ANSWERS_MAY_COME).select_related("assignment__hit"):
        hit = frozen_hit(offering.study.key, submission.assignment.hit.number, offering)
        submission.assignment.offering = offering
        fields = crowd_of(offering).fields_of(submission.answer_xml)
        handed_in = _HandedIn(fields, read_copy(hit, copy_of(hit, submission.assignment), fields))
        if handed_in.copy is not None:
            rebuilt += _rebuild_submission(hit, submission.pk, handed_in, now)
    return rebuilt


@transaction.atomic
def _rebuild_submission(hit: FrozenHit, submission_pk: int, handed_in: _HandedIn, now: datetime) -> bool:
    same = Submission.objects.select_for_update().filter(pk=submission_pk, problem__in=ANSWERS_MAY_COME)
    submission = same.first()
    if submission is None:  # another sync did it just now
        return False
    if submission.rejecting_at and submission.rejecting_at > now - IN_FLIGHT:
        return False  # somebody is rejecting it just now; the next sync knows how that ended
    submission.problem = ""
    _settle_answers(hit, submission, handed_in)
    if submission.problem:
        return False
    submission.save(update_fields=["problem", "is_rebuilt"])
    _save_ratings(hit, submission)
    return True


def _save_ratings(hit: FrozenHit, submission: Submission) -> None:
    items = {item.pk: item for item in hit.items}
    answers = list(Answer.objects.filter(assignment=submission.assignment_id))
    Rating.objects.bulk_create(
        rating
        for answer in answers
        for rating in ratings_from_answer(hit.study.protocol, submission, answer, items[answer.item_id])
    )
    if any(item.repeats is not None for item in hit.items):
        count_controls(hit.study.protocol, hit.items, answers).note(submission)
        submission.save(update_fields=CONTROL_COUNTS)


def ratings_from_answer(
    protocol: Protocol[Any], submission: Submission, answer: Answer, item: FrozenItem | HitItem
) -> Iterator[Rating]:
    """Yield the ratings, not saved yet, that follow from an answer to this item: none from a control's."""
    if item.repeats is not None:
        return
    for one in protocol.judgements(answer.value, answer.card_order, item.cards):
        yield Rating(
            submission=submission,
            item_id=answer.item_id,
            card=one.card,
            place=one.place,
            criterion=one.criterion,
            candidate_id=one.candidate,
            opponent_id=one.opponent,
            value=one.value,
        )


# --- What the marketplace does not have ------------------------------------------------------------------------------


def _find_others_with_same_id(assignment: Assignment) -> AssignmentQuerySet:
    """Return other workers' assignments with the same id that the marketplace has not confirmed."""
    same = Assignment.objects.filter(
        offering=assignment.offering_id, crowd_assignment_id=assignment.crowd_assignment_id, submission=None
    )
    return same.exclude(pk=assignment.pk).exclude(ended_as=Ending.TAKEN_OVER)


def _close_overdue_assignments(offering: Offering, now: datetime) -> int:
    """Close assignments past their time limit that the crowd never confirmed: given up, or handed in only to us."""
    limit = timedelta(minutes=offering.study.parsed_design.crowd.time_limit_minutes)
    over = Assignment.objects.filter(offering=offering, submission=None, ended_as="", held_at__lt=now - limit - GRACE)
    # We need a visitor's address only as long as the visit may still turn out to be a worker's, so forget it now. Of
    # people who came by open links, `_forget_addresses` decides.
    over.filter(confirmed_at=None).update(visited_from="")
    taken = over.exclude(taken_over_at=None).update(ended_as=Ending.TAKEN_OVER, ended_at=now)
    unconfirmed = over.exclude(submitted_at=None).update(ended_as=Ending.UNCONFIRMED, ended_at=now)
    return taken + unconfirmed + over.update(ended_as=Ending.GIVEN_UP, ended_at=now)


def _forget_addresses(offering: Offering, now: datetime) -> None:
    """Forget from where people came by open links a day ago: the places of one address are counted that long."""
    known = Assignment.objects.filter(offering=offering, confirmed_at__isnull=False, visited_from__gt="")
    known.filter(held_at__lt=now - timedelta(days=1)).update(visited_from="")
