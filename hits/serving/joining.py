"""Lets somebody join who has agreed on a page of ours before the work: gives them a HIT, and stores their agreement.

In: a visit that the crowd vouches for, and the version of the consent text that was agreed to. Out: the assignment with
the agreement, or a refusal. Guaranteed: nobody takes a place before they agree; joining again returns the same one.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from evalplatform.client_address import is_this_machine
from hits.crowds import CrowdWords, Visit
from hits.models import Assignment
from hits.serving.frozen import FrozenStudy, frozen_hit, frozen_study
from hits.serving.opening_assignments import open_free_assignment
from hits.serving.page_data import preview_page
from hits.serving.statements import has_submitted_before, hold_assignment, write_consent
from hits.serving.visit_limits import MinuteCounter
from hits.serving.work_refusals import Refusal, WorkRefused

# Enough for a class that begins at once behind one address. Each takes a place, which a lease frees again.
joins_from_address = MinuteCounter(most=60)


def join(study_key: UUID, visit: Visit, consent_version: str, now: datetime, address: str = "") -> Assignment:
    """Return the visitor's assignment, with their agreement. Raises WorkRefused."""
    study = frozen_study(study_key)
    if consent_version != study.design.task.consent_version:
        raise WorkRefused(Refusal.INVALID)
    if address and not is_this_machine(address) and not joins_from_address.allows((study_key, address)):
        raise WorkRefused(Refusal.TOO_MANY_VISITS)
    assignment = open_free_assignment(study, visit, now, address=address)
    if assignment.consented_at is None and assignment.submitted_at is None:
        _note_agreement(study, assignment, now)
    return assignment


def _note_agreement(study: FrozenStudy, assignment: Assignment, now: datetime) -> None:
    """Store the agreement, and begin after the page that would ask for it again."""
    assignment.consented_at, assignment.consent_version = now, study.design.task.consent_version
    write_consent(assignment)
    step = "dialog-0" if has_submitted_before(assignment) else "instructions"
    hold_assignment(assignment.offering, assignment.crowd_assignment_id, assignment.crowd_worker_id, step)


def introduction_of(study_key: UUID, words: CrowdWords) -> dict[str, Any]:
    """Return what a page before the work tells of the study: title, facts, and the texts as HTML."""
    return preview_page(frozen_hit(study_key, 0), words)
