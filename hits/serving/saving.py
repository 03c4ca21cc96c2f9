"""Saves, bonus checks and the submission of one assignment, one after the other: the row is locked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from hits.crowds.mturk.worker_sites import SUBMIT_PATH
from hits.models import Answer, Assignment, BonusCheck
from hits.protocols.points import passes
from hits.serving.assignment_tokens import Ticket, completion_code
from hits.serving.bonus import Checks, can_check
from hits.serving.bonus_words import POINTS_LATER, points_told
from hits.serving.copies import write_copy
from hits.serving.frozen import FrozenHit, FrozenItem, frozen_hit
from hits.serving.opening import check_is_open
from hits.serving.page_data import answer_of, bonus_of, by_card
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
    """What a page says about one dialog; cards by their places, times and moves from the beginning of the dialog."""

    position: int
    revision: int  # the one that the page saw last
    areas: Mapping[str, str]
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
    """Where the page was, and each dialog unless another tab has said otherwise meanwhile; then, what is stored.

    `consent` is the version of the text to which the worker has just agreed.
    """
    with _held(ticket, now, step, feedback) as (hit, assignment):
        if consent:
            _note_consent(hit, assignment, consent, now)
        if dialogs:
            _check_consent(assignment)
        return [_save_dialog(hit, assignment, dialog, now) for dialog in dialogs]


def check_bonus(ticket: Ticket, dialog: DialogState, attempt: int, now: datetime) -> dict[str, Any]:
    """Whether this placement passes. The same attempt again gets the same answer, without counting twice."""
    with _held(ticket, now) as (hit, assignment):
        _check_consent(assignment)
        item = _item(hit, dialog.position)
        rules = hit.study.design.checkpoints
        if item.gold_card is None or not can_check(rules, item):
            raise WorkRefused(Refusal.INVALID)
        areas = _checked_areas(hit, item, dialog.areas)
        if len(areas) < item.card_count:
            raise _incomplete([(item.position, item.card_count - len(areas))])
        order = item.order(assignment.turn)
        value = {"areas": by_card(order, areas)}
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
                is_won=passes(rules, value["areas"], item.gold_card),
                active_ms=dialog.active_ms,
                checked_at=now,
            )
            write_check(check)
            checks.add(check)
        return {**saved, "bonus": bonus_of(hit, item, assignment, checks)}


def submit(ticket: Ticket, dialogs: Sequence[DialogState], feedback: str, now: datetime) -> dict[str, Any]:
    """Complete, or refused with what is missing. Again: the same answer, so that a lost one can be asked for."""
    with _held(ticket, now, is_submitted_allowed=True) as (hit, assignment):
        is_new = assignment.submitted_at is None
        if is_new:
            _check_consent(assignment)
        for dialog in dialogs if is_new else ():
            saved = _save_dialog(hit, assignment, dialog, now)
            if saved["conflict"]:
                raise WorkRefused(Refusal.CONFLICT, dialog=saved)
        answers = answers_of(assignment)
        if is_new:
            _check_is_complete(hit, answers)
            assignment.feedback = feedback
            assignment.step = "finish"
            assignment.submitted_at = now
            write_submission(assignment)
        return submission(hit, assignment, answers, ticket.submit_to)


def submission(hit: FrozenHit, assignment: Assignment, answers: Mapping[int, Answer], submit_to: str) -> dict[str, Any]:
    """What the page hands to the marketplace: the answers too, from which ours can be rebuilt. And what the worker
    hears of their points, now that nothing can be changed any more."""
    code = completion_code(assignment)
    checks = Checks(hit.study.design.checkpoints, checks_of(assignment))
    copy = write_copy(hit, assignment, answers, checks)
    fields = {"assignmentId": assignment.mturk_assignment_id, "completionCode": code, **copy}
    bonus_dialogs = sum(item.gold_card is not None for item in hit.items)
    # Whoever may have invented the assignment learns nothing: points that are asked for again and again would tell all.
    if assignment.confirmed_at is None:
        told = POINTS_LATER if bonus_dialogs else ""
    else:
        told = points_told(hit.study.design, checks.points(hit, answers), bonus_dialogs)
    return {"action": f"{submit_to}{SUBMIT_PATH}", "fields": fields, "code": code, "points": told}


def handed_in(hit: FrozenHit, assignment: Assignment, submit_to: str, is_holder: bool) -> dict[str, Any]:
    """The same for a visit afterwards. Others may know its ids: the answers go only to whom the crowd calls the holder.
    The work counts without the marketplace's copy of them, since we have them."""
    told = submission(hit, assignment, answers_of(assignment), submit_to)
    if not is_holder:
        told["fields"] = {name: told["fields"][name] for name in ("assignmentId", "completionCode")}
    return told


@contextmanager
def _held(
    ticket: Ticket, now: datetime, step: str = "", feedback: str | None = None, is_submitted_allowed: bool = False
) -> Iterator[tuple[FrozenHit, Assignment]]:
    """The assignment that the token names, locked until the end, if the worker may still change it."""
    hit = frozen_hit(ticket.study_key, ticket.hit_number)
    with transaction.atomic():
        ids = ticket.environment, ticket.assignment_id, ticket.worker_id
        assignment = hold_assignment(ids, step, feedback)
        if assignment is None or assignment.hit_id != hit.pk:
            # The database was restored to a time before; a reload of the page makes it anew.
            raise WorkRefused(Refusal.TOKEN_INVALID)
        if assignment.submitted_at is not None and not is_submitted_allowed:
            raise WorkRefused(Refusal.ALREADY_SUBMITTED)
        check_is_open(hit.study, assignment, now)
        yield hit, assignment


def _note_consent(hit: FrozenHit, assignment: Assignment, version: str, now: datetime) -> None:
    """The first time counts; the same again, from another tab, changes nothing."""
    if version != hit.study.design.task.consent_version:
        raise WorkRefused(Refusal.INVALID)
    if assignment.consented_at is None:
        assignment.consented_at, assignment.consent_version = now, version
        write_consent(assignment)


def _check_consent(assignment: Assignment) -> None:
    if assignment.consented_at is None:
        raise WorkRefused(Refusal.CONSENT_MISSING)


def _save_dialog(hit: FrozenHit, assignment: Assignment, dialog: DialogState, now: datetime) -> dict[str, Any]:
    item = _item(hit, dialog.position)
    areas = _checked_areas(hit, item, dialog.areas)
    order = item.order(assignment.turn)
    value = {"areas": by_card(order, areas)}
    new = Answer(
        assignment=assignment,
        item_id=item.pk,
        card_order=order,
        value=value,
        revision=dialog.revision + 1,
        active_ms=dialog.active_ms,
        hidden_ms=dialog.hidden_ms,
        moves=list(dialog.moves),
        problem=dialog.problem,
        saved_at=now,
    )
    if dialog.revision == 0 and add_answer(new):
        return {"position": dialog.position, "revision": 1, "conflict": False}
    stored = answer_to(assignment, item.pk) or Answer(card_order=order, value={"areas": {}}, revision=0)
    is_same = stored.value == value and stored.problem == dialog.problem
    if dialog.revision != stored.revision and not is_same:
        conflict = {"position": dialog.position, "conflict": True, "problem": stored.problem}
        return {**conflict, **answer_of(stored)}
    if not is_same or dialog.active_ms > stored.active_ms:
        new.revision = stored.revision = stored.revision + 1
        new.active_ms = max(stored.active_ms, dialog.active_ms)
        new.hidden_ms = max(stored.hidden_ms, dialog.hidden_ms)
        write_answer(new)
    return {"position": dialog.position, "revision": stored.revision, "conflict": False}


def _item(hit: FrozenHit, position: int) -> FrozenItem:
    if position >= len(hit.items):
        raise WorkRefused(Refusal.INVALID)
    return hit.items[position]


def _checked_areas(hit: FrozenHit, item: FrozenItem, areas: Mapping[str, str]) -> dict[str, str]:
    known = {area.key for area in hit.study.design.task.areas}
    places = {str(place) for place in range(item.card_count)}
    if not (areas.keys() <= places and set(areas.values()) <= known):
        raise WorkRefused(Refusal.INVALID)
    return dict(areas)


def _check_is_complete(hit: FrozenHit, answers: Mapping[int, Answer]) -> None:
    placed = {item_pk: len(answer.value["areas"]) for item_pk, answer in answers.items()}
    missing = [
        (item.position, item.card_count - placed.get(item.pk, 0))
        for item in hit.items
        if placed.get(item.pk, 0) < item.card_count
    ]
    if missing:
        raise _incomplete(missing)


def _incomplete(missing: Sequence[tuple[int, int]]) -> WorkRefused:
    return WorkRefused(
        Refusal.INCOMPLETE,
        incomplete_words(missing),
        missing=[{"position": position, "cards": count} for position, count in missing],
    )
