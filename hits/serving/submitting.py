"""Takes a submission: what is still missing, what the page hands to the crowd, and what a worker hears of points.

Submitting again, by the same page or by another with the same ids, changes nothing that is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hits.crowds import Word, crowd_of, is_unpaid_rehearsal
from hits.models import Answer, Assignment
from hits.protocols import missing_work
from hits.serving.allocating import take_in
from hits.serving.assignment_tokens import Ticket, completion_code
from hits.serving.bonus import Checks
from hits.serving.bonus_words import REHEARSED, points_told
from hits.serving.copies import write_copy
from hits.serving.frozen import FrozenHit
from hits.serving.leases import is_leased
from hits.serving.opening_assignments import ask_crowd
from hits.serving.saving import (
    DialogState,
    check_consent,
    find_item,
    hold,
    make_answer,
    refuse_incomplete,
    save_dialog,
)
from hits.serving.statements import answers_of, checks_of, write_submission
from hits.serving.work_refusals import Refusal, WorkRefused


def submit(ticket: Ticket, dialogs: Sequence[DialogState], feedback: str, now: datetime) -> dict[str, Any]:
    """Submit the work, or refuse it and say what is missing. Repeating it returns a lost answer again, and changes
    nothing."""
    # Ask before anything is locked, since it may take a while.
    held = ask_crowd(ticket.study_key, ticket.visit)
    with hold(ticket, now, is_submitted_allowed=True) as (hit, assignment):
        if assignment.submitted_at is not None:
            return _submit_again(hit, assignment, ticket, held.word == Word.HOLDS, _Said(dialogs, feedback, now))
        if held.word == Word.DOES_NOT:
            raise WorkRefused(Refusal.NOT_HELD)
        check_consent(assignment)
        for dialog in dialogs:
            saved = save_dialog(hit, assignment, dialog, now)
            if saved["conflict"]:
                raise WorkRefused(Refusal.CONFLICT, dialog=saved)
        answers = answers_of(assignment)
        _check_is_complete(hit, answers)
        # A page that shows no comment has seen none: one that was written on another device stays.
        assignment.feedback = feedback or assignment.feedback
        assignment.step = "finish"
        assignment.submitted_at = now
        write_submission(assignment)
        if is_leased(assignment.offering):
            take_in(hit.study, assignment)
            if held.word == Word.HOLDS and assignment.confirmed_at is None:  # the crowd was away when they came
                assignment.confirmed_at, assignment.visited_from = now, ""
                assignment.save(update_fields=["confirmed_at", "visited_from"])
        return told_after_submitting(hit, assignment, answers, ticket.visit.submit_to)


@dataclass(frozen=True)
class _Said:
    """What a page sent when it submitted again."""

    dialogs: Sequence[DialogState]
    feedback: str
    at: datetime


def _submit_again(
    hit: FrozenHit, assignment: Assignment, ticket: Ticket, is_holder: bool, said: _Said
) -> dict[str, Any]:
    """Answer a page that submits work which was submitted before, by this page or by another with the same ids.

    What is stored stays, and only the holder is told what it is. A page that sends complete answers gets a signed copy
    of just those: the copy that the worker's own browser hands to the marketplace decides when the work is collected.
    """
    told = handed_in(hit, assignment, ticket.visit.submit_to, is_holder)
    answers = {find_item(hit, one.position).pk: make_answer(hit, assignment, one, said.at) for one in said.dialogs}
    if _find_missing(hit, answers):
        return told
    stored = answers_of(assignment)
    is_same = all(answers[pk].value == stored[pk].value for pk in answers)
    if not (is_holder and is_same):
        assignment.feedback = said.feedback  # only for the copy; the row is not saved
        copy = write_copy(hit, assignment, answers, Checks(hit.study.design.checkpoints, []))
        told |= _hand_back(assignment, ticket.visit.submit_to, copy)
        told["points"] = points_later(hit, assignment)
    return told


def told_after_submitting(
    hit: FrozenHit, assignment: Assignment, answers: Mapping[int, Answer], submit_to: str, has_copy: bool = True
) -> dict[str, Any]:
    """Return what the page hands to the marketplace, with a copy from which our answers can be rebuilt, and what the
    worker hears about their points, now that nothing can be changed."""
    checks = Checks(hit.study.design.checkpoints, checks_of(assignment))
    copy = write_copy(hit, assignment, answers, checks) if has_copy else {}
    # Somebody who may have invented the assignment learns nothing: submitting again and again would reveal everything.
    if assignment.confirmed_at is None:
        told = points_later(hit, assignment)
    else:
        points, dialogs = checks.points(hit, answers), _count_bonus_dialogs(hit)
        told = _with_rehearsal(assignment, points_told(hit.study.design, points, dialogs, _is_rehearsal(assignment)))
    return {**_hand_back(assignment, submit_to, copy), "points": told}


def _hand_back(assignment: Assignment, submit_to: str, copy: Mapping[str, str]) -> dict[str, Any]:
    back = crowd_of(assignment.offering).hand_back(assignment, submit_to, completion_code(assignment), copy)
    told = {"way": back.way, "action": back.action, "fields": dict(back.fields), "code": back.code}
    return {**told, "more_url": back.more_url}


def _is_rehearsal(assignment: Assignment) -> bool:
    return is_unpaid_rehearsal(crowd_of(assignment.offering), assignment.offering.environment)


def _with_rehearsal(assignment: Assignment, told: str) -> str:
    return f"{told} {REHEARSED}".strip() if _is_rehearsal(assignment) else told


def handed_in(hit: FrozenHit, assignment: Assignment, submit_to: str, is_holder: bool) -> dict[str, Any]:
    """Return the same for a later visit. Others may know the ids, so only the holder, by the crowd's word, gets answers
    and points.

    The work counts even without the marketplace's copy of the answers, since we have them.
    """
    told = told_after_submitting(hit, assignment, answers_of(assignment), submit_to, has_copy=is_holder)
    if not is_holder:
        told["points"] = points_later(hit, assignment)
    return told


def points_later(hit: FrozenHit, assignment: Assignment) -> str:
    """Say that points are counted later, if the HIT has any."""
    later = crowd_of(assignment.offering).words.points_later if _count_bonus_dialogs(hit) else ""
    return _with_rehearsal(assignment, later)


def _count_bonus_dialogs(hit: FrozenHit) -> int:
    if not hit.study.design.tells_points:
        return 0
    return sum(item.gold_card is not None for item in hit.items)


def _check_is_complete(hit: FrozenHit, answers: Mapping[int, Answer]) -> None:
    if missing := _find_missing(hit, answers):
        raise refuse_incomplete(hit, missing)


def _find_missing(hit: FrozenHit, answers: Mapping[int, Answer]) -> list[tuple[int, int]]:
    """Return the positions of incomplete dialogs, and how many of their replies have no answer."""
    values = {item_pk: answer.value for item_pk, answer in answers.items()}
    missing = missing_work(hit.study.protocol, hit.card_counts, values)
    return [(item.position, missing[item.pk]) for item in hit.items if item.pk in missing]
