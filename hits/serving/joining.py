"""Lets somebody join who has agreed on a page of ours before the work: gives them a HIT, and stores their agreement.

In: a visit that the crowd vouches for, and the version of the consent text that was agreed to. Out: the assignment with
the agreement, or a refusal. Guaranteed: nobody takes a place before they agree; joining again returns the same one.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from evalplatform.client_address import is_this_machine
from hits.crowds import Visit, crowd_of
from hits.models import Assignment, Offering
from hits.serving.allocating import take_up_again
from hits.serving.frozen import FrozenStudy, frozen_hit, frozen_offering, frozen_study
from hits.serving.may_work import is_time_over
from hits.serving.opening_assignments import open_free_assignment
from hits.serving.page_data import paid_in, preview_page
from hits.serving.statements import (
    answers_of,
    find_assignment,
    has_submitted_before,
    hold_assignment,
    lock_study,
    write_consent,
)
from hits.serving.visit_limits import MinuteCounter, check_places_from, visitor_key
from hits.serving.work_refusals import Refusal, WorkRefused

# Enough for a class that begins at once behind one address. Each takes a place, which a lease frees again.
joins_from_address = MinuteCounter(most=60)


def join(study_key: UUID, visit: Visit, consent_version: str, now: datetime, address: str = "") -> Assignment:
    """Return the visitor's assignment, with their agreement. Raises WorkRefused.

    `address` is where they come from, if there is to be a limit to the places that one address takes.
    """
    study = frozen_study(study_key)
    if consent_version != study.design.task.consent_version:
        raise WorkRefused(Refusal.INVALID)
    offering = frozen_offering(study_key, visit)
    if offering is None:
        raise WorkRefused(Refusal.OUTSIDE_MARKETPLACE)
    address = "" if is_this_machine(address) else address
    if address and not joins_from_address.allows((study_key, address)):
        raise WorkRefused(Refusal.TOO_MANY_VISITS)
    with transaction.atomic():
        lock_study(study.pk)
        assignment = _take_part(study, offering, visit, now, address)
        if assignment.consented_at is None and assignment.submitted_at is None:
            _note_agreement(study, assignment, now)
    return assignment


def _take_part(study: FrozenStudy, offering: Offering, visit: Visit, now: datetime, address: str) -> Assignment:
    """Return what they have in hand, or take a place for them: a new one, or again the one that they had."""
    known = find_assignment(offering, visit.assignment_id, visit.worker_id)
    has_place = known is not None and known.place == Assignment.Place.HELD and not is_time_over(study, known, now)
    if known is not None and (has_place or known.submitted_at is not None or answers_of(known)):
        return open_free_assignment(study, visit, now)
    if address:
        check_places_from(offering, address, now)
    if known is not None:
        take_up_again(known, now)
    assignment = open_free_assignment(study, visit, now)
    if address:
        assignment.visited_from = visitor_key(address)
        assignment.save(update_fields=["visited_from"])
    return assignment


def _note_agreement(study: FrozenStudy, assignment: Assignment, now: datetime) -> None:
    """Store the agreement, and begin after the page that would ask for it again."""
    assignment.consented_at, assignment.consent_version = now, study.design.task.consent_version
    write_consent(assignment)
    step = "dialog-0" if has_submitted_before(assignment) else "instructions"
    hold_assignment(assignment.offering, assignment.crowd_assignment_id, assignment.crowd_worker_id, step)


def introduction_of(offering: Offering) -> dict[str, Any]:
    """Return what a page before the work tells of the study: title, facts, and the texts as HTML."""
    hit = frozen_hit(offering.study.key, 0)
    return preview_page(hit, crowd_of(offering).words, paid_in(offering))
