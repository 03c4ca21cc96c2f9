"""Saves answers, bonus checks, consent and the submission; refuses what is incomplete or changed in another tab."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from hits.crowds import CROWDS, Word, crowd_of
from hits.models import Answer, Assignment, BonusCheck
from hits.protocols import InvalidAnswer, Value, missing_work
from hits.serving.assignment_tokens import Ticket, completion_code
from hits.serving.bonus import Checks, can_check
from hits.serving.bonus_words import points_told
from hits.serving.copies import write_copy
from hits.serving.frozen import FrozenHit, FrozenItem, frozen_hit, frozen_offering
from hits.serving.opening_assignments import check_is_open
from hits.serving.page_data import answer_of, bonus_of
from hits.serving.statements import (
    add_answer,
    answer_to,
    answers_of,
    checks_of,
    hold_assignment,
    write_answer,
    write_check,
    write_consent,
    write_submission,
)
from hits.serving.visit_limits import check_unconfirmed_check
from hits.serving.work_refusals import Refusal, WorkRefused, incomplete_words


@dataclass(frozen=True)
class DialogState:
    """What a page says about one dialog. `sent` belongs to the protocol; times and moves count from the beginning of
    the dialog."""

    position: int
    revision: int  # the last one that the page has seen
    sent: Mapping[str, Any]
    active_ms: int = 0
    hidden_ms: int = 0
    moves: Sequence[Any] = field(default_factory=list)
    problem: str = ""


def save_dialogs(
    ticket: Ticket,
    dialogs: Sequence[DialogState],
    now: datetime,
    step: str = "",
    feedback: str | None = None,
    consent: str = "",
) -> list[dict[str, Any]]:
    """Save where the page is, and each dialog. If another tab has changed a dialog meanwhile, return what is stored
    instead.

    `consent` is the version of the text to which the worker has just agreed.
    """
    with _hold(ticket, now, step, feedback) as (hit, assignment):
        if consent:
            _note_consent(hit, assignment, consent, now)
        if dialogs:
            _check_consent(assignment)
        return [_save_dialog(hit, assignment, dialog, now) for dialog in dialogs]


def check_bonus(ticket: Ticket, dialog: DialogState, attempt: int, now: datetime) -> dict[str, Any]:
    """Check whether this placement passes. Repeating an attempt gets the same answer and does not count twice."""
    with _hold(ticket, now) as (hit, assignment):
        _check_consent(assignment)
        item = _find_item(hit, dialog.position)
        rules = hit.study.design.checkpoints
        if item.gold_card is None or not can_check(rules, item):
            raise WorkRefused(Refusal.INVALID)
        value = _read_value(hit, dialog, item.order(assignment.rotation))
        if missing := hit.study.protocol.missing(value, item.card_count):
            raise _refuse_incomplete(hit, [(item.position, missing)])
        checks = Checks(rules, checks_of(assignment))
        known = checks.of_item(item.pk)
        saved = _save_dialog(hit, assignment, dialog, now)
        if saved["conflict"] or (attempt <= len(known) and known[attempt - 1].value != value):
            raise WorkRefused(Refusal.CONFLICT, dialog={**saved, "bonus": bonus_of(hit, item, assignment, checks)})
        if attempt > len(known):
            if checks.attempts_left(item.pk) == 0:
                raise WorkRefused(Refusal.NO_ATTEMPTS_LEFT)
            if attempt > len(known) + 1:
                raise WorkRefused(Refusal.INVALID)
            check_unconfirmed_check(hit, assignment, item.pk, now)
            check = BonusCheck(
                assignment=assignment,
                item_id=item.pk,
                attempt=attempt,
                value=value,
                is_won=hit.study.protocol.passes(value, item.gold_card),
                active_ms=dialog.active_ms,
                checked_at=now,
            )
            write_check(check)
            checks.add(check)
        return {**saved, "bonus": bonus_of(hit, item, assignment, checks)}


def submit(ticket: Ticket, dialogs: Sequence[DialogState], feedback: str, now: datetime) -> dict[str, Any]:
    """Submit the work, or refuse it and say what is missing. Repeating it returns a lost answer again, and changes
    nothing."""
    # Ask before anything is locked, since it may take a while.
    held = CROWDS[ticket.visit.crowd].ask_holder(ticket.visit)
    with _hold(ticket, now, is_submitted_allowed=True) as (hit, assignment):
        if assignment.submitted_at is not None:
            return _submit_again(hit, assignment, ticket, held.word == Word.HOLDS, _Said(dialogs, feedback, now))
        if held.word == Word.DOES_NOT:
            raise WorkRefused(Refusal.NOT_HELD)
        _check_consent(assignment)
        for dialog in dialogs:
            saved = _save_dialog(hit, assignment, dialog, now)
            if saved["conflict"]:
                raise WorkRefused(Refusal.CONFLICT, dialog=saved)
        answers = answers_of(assignment)
        _check_is_complete(hit, answers)
        assignment.feedback = feedback
        assignment.step = "finish"
        assignment.submitted_at = now
        write_submission(assignment)
        return submission(hit, assignment, answers, ticket.visit.submit_to)


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
    answers = {_find_item(hit, one.position).pk: _make_answer(hit, assignment, one, said.at) for one in said.dialogs}
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


def submission(
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
        told = points_told(hit.study.design, checks.points(hit, answers), _count_bonus_dialogs(hit))
    return {**_hand_back(assignment, submit_to, copy), "points": told}


def _hand_back(assignment: Assignment, submit_to: str, copy: Mapping[str, str]) -> dict[str, Any]:
    back = crowd_of(assignment.offering).hand_back(assignment, submit_to, completion_code(assignment), copy)
    return {"way": back.way, "action": back.action, "fields": dict(back.fields), "code": back.code}


def handed_in(hit: FrozenHit, assignment: Assignment, submit_to: str, is_holder: bool) -> dict[str, Any]:
    """Return the same for a later visit. Others may know the ids, so only the holder, by the crowd's word, gets answers
    and points.

    The work counts even without the marketplace's copy of the answers, since we have them.
    """
    told = submission(hit, assignment, answers_of(assignment), submit_to, has_copy=is_holder)
    if not is_holder:
        told["points"] = points_later(hit, assignment)
    return told


def points_later(hit: FrozenHit, assignment: Assignment) -> str:
    """Say that points are counted later, if the HIT has any."""
    return crowd_of(assignment.offering).words.points_later if _count_bonus_dialogs(hit) else ""


def _count_bonus_dialogs(hit: FrozenHit) -> int:
    return sum(item.gold_card is not None for item in hit.items)


@contextmanager
def _hold(
    ticket: Ticket, now: datetime, step: str = "", feedback: str | None = None, is_submitted_allowed: bool = False
) -> Iterator[tuple[FrozenHit, Assignment]]:
    """Lock the assignment that the token names until the end of the block, if the worker may still change it."""
    hit = frozen_hit(ticket.study_key, ticket.hit_number)
    visit = ticket.visit
    offering = frozen_offering(ticket.study_key, visit.place)
    if offering is None:
        raise WorkRefused(Refusal.TOKEN_INVALID)
    with transaction.atomic():
        assignment = hold_assignment(offering, visit.assignment_id, visit.worker_id, step, feedback)
        if assignment is None or assignment.hit_id != hit.pk:
            # The database was restored to an earlier state; reloading the page creates the row again.
            raise WorkRefused(Refusal.TOKEN_INVALID)
        if assignment.submitted_at is not None and not is_submitted_allowed:
            raise WorkRefused(Refusal.ALREADY_SUBMITTED)
        check_is_open(hit.study, assignment, now)
        yield hit, assignment


def _note_consent(hit: FrozenHit, assignment: Assignment, version: str, now: datetime) -> None:
    """Store when the worker first agreed. Agreeing again, in another tab, changes nothing."""
    if version != hit.study.design.task.consent_version:
        raise WorkRefused(Refusal.INVALID)
    if assignment.consented_at is None:
        assignment.consented_at, assignment.consent_version = now, version
        write_consent(assignment)


def _check_consent(assignment: Assignment) -> None:
    if assignment.consented_at is None:
        raise WorkRefused(Refusal.CONSENT_MISSING)


def _save_dialog(hit: FrozenHit, assignment: Assignment, dialog: DialogState, now: datetime) -> dict[str, Any]:
    item = _find_item(hit, dialog.position)
    new = _make_answer(hit, assignment, dialog, now)
    order, value = new.card_order, new.value
    if dialog.revision == 0 and add_answer(new):
        return {"position": dialog.position, "revision": 1, "conflict": False}
    stored = answer_to(assignment, item.pk) or Answer(card_order=order, value=hit.study.protocol.nothing(), revision=0)
    is_same = stored.value == value and stored.problem == dialog.problem
    if dialog.revision != stored.revision and not is_same:
        conflict = {"position": dialog.position, "conflict": True, "problem": stored.problem}
        return {**conflict, **answer_of(hit.study.protocol, stored)}
    if not is_same or dialog.active_ms > stored.active_ms:
        new.revision = stored.revision = stored.revision + 1
        new.active_ms = max(stored.active_ms, dialog.active_ms)
        new.hidden_ms = max(stored.hidden_ms, dialog.hidden_ms)
        write_answer(new)
    return {"position": dialog.position, "revision": stored.revision, "conflict": False}


def _make_answer(hit: FrozenHit, assignment: Assignment, dialog: DialogState, now: datetime) -> Answer:
    item = _find_item(hit, dialog.position)
    order = item.order(assignment.rotation)
    return Answer(
        assignment=assignment,
        item_id=item.pk,
        card_order=order,
        value=_read_value(hit, dialog, order),
        revision=dialog.revision + 1,
        active_ms=dialog.active_ms,
        hidden_ms=dialog.hidden_ms,
        moves=list(dialog.moves),
        problem=dialog.problem,
        saved_at=now,
    )


def _find_item(hit: FrozenHit, position: int) -> FrozenItem:
    if position >= len(hit.items):
        raise WorkRefused(Refusal.INVALID)
    return hit.items[position]


def _read_value(hit: FrozenHit, dialog: DialogState, card_order: Sequence[int]) -> Value:
    try:
        return hit.study.protocol.read(dialog.sent, card_order)
    except InvalidAnswer:
        raise WorkRefused(Refusal.INVALID) from None


def _check_is_complete(hit: FrozenHit, answers: Mapping[int, Answer]) -> None:
    if missing := _find_missing(hit, answers):
        raise _refuse_incomplete(hit, missing)


def _find_missing(hit: FrozenHit, answers: Mapping[int, Answer]) -> list[tuple[int, int]]:
    """Return the positions of incomplete dialogs, and how many of their replies have no answer."""
    values = {item_pk: answer.value for item_pk, answer in answers.items()}
    missing = missing_work(hit.study.protocol, hit.card_counts, values)
    return [(item.position, missing[item.pk]) for item in hit.items if item.pk in missing]


def _refuse_incomplete(hit: FrozenHit, missing: Sequence[tuple[int, int]]) -> WorkRefused:
    return WorkRefused(
        Refusal.INCOMPLETE,
        incomplete_words(missing, hit.study.protocol.still_missing),
        missing=[{"position": position, "cards": count} for position, count in missing],
    )
