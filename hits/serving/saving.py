"""Saves answers, bonus checks and consent, one after the other; refuses what was changed in another tab.

hits.serving.submitting ends the work; it shares `hold`, `save_dialog` and `make_answer` with this file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from hits.crowds import own_page_of
from hits.models import Answer, Assignment, BonusCheck
from hits.protocols import InvalidAnswer, Value
from hits.serving.assignment_tokens import Ticket
from hits.serving.bonus import Checks, can_check
from hits.serving.frozen import FrozenHit, FrozenItem, frozen_hit, frozen_offering
from hits.serving.leases import is_leased
from hits.serving.may_work import check_is_open
from hits.serving.page_data import answer_of, bonus_of
from hits.serving.statements import (
    add_answer,
    answer_to,
    checks_of,
    hold_assignment,
    lock_study,
    write_answer,
    write_check,
    write_consent,
)
from hits.serving.visit_limits import check_unconfirmed_check
from hits.serving.work_refusals import ON_OWN_PAGE, Refusal, WorkRefused, incomplete_words


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
    with hold(ticket, now, step, feedback) as (hit, assignment):
        if consent:
            _note_consent(hit, assignment, consent, now)
        if dialogs:
            check_consent(assignment)
        return [save_dialog(hit, assignment, dialog, now) for dialog in dialogs]


def check_bonus(ticket: Ticket, dialog: DialogState, attempt: int, now: datetime) -> dict[str, Any]:
    """Check whether this placement passes. Repeating an attempt gets the same answer and does not count twice."""
    with hold(ticket, now) as (hit, assignment):
        check_consent(assignment)
        item = find_item(hit, dialog.position)
        rules = hit.study.design.checkpoints
        if item.gold_card is None or not can_check(rules, item):
            raise WorkRefused(Refusal.INVALID)
        value = _read_value(hit, dialog, item.order(assignment.rotation, assignment.turned))
        if missing := hit.study.protocol.missing(value, item.card_count):
            raise refuse_incomplete(hit, [(item.position, missing)])
        checks = Checks(rules, checks_of(assignment))
        known = checks.of_item(item.pk)
        saved = save_dialog(hit, assignment, dialog, now)
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
                is_passed=hit.study.protocol.passes(value, item.gold_card),
                active_ms=dialog.active_ms,
                checked_at=now,
            )
            write_check(check)
            checks.add(check)
        return {**saved, "bonus": bonus_of(hit, item, assignment, checks)}


@contextmanager
def hold(
    ticket: Ticket, now: datetime, step: str = "", feedback: str | None = None, is_submitted_allowed: bool = False
) -> Iterator[tuple[FrozenHit, Assignment]]:
    """Lock the assignment that the token names until the end of the block, if the worker may still change it."""
    visit = ticket.visit
    offering = frozen_offering(ticket.study_key, visit)
    if offering is None:
        raise WorkRefused(Refusal.TOKEN_INVALID)
    hit = frozen_hit(ticket.study_key, ticket.hit_number, offering)
    with transaction.atomic():
        if is_submitted_allowed and is_leased(offering):
            lock_study(hit.study.pk)  # places change only under it
        assignment = hold_assignment(offering, visit.assignment_id, visit.worker_id, step, feedback)
        if assignment is None or assignment.hit_id != hit.pk:
            # The database was restored to an earlier state; reloading the page creates the row again.
            raise WorkRefused(Refusal.TOKEN_INVALID)
        if assignment.submitted_at is not None and not is_submitted_allowed:
            own_page = own_page_of(assignment.offering, assignment.crowd_worker_id)
            if own_page:
                raise WorkRefused(Refusal.ALREADY_SUBMITTED, ON_OWN_PAGE, own_page=own_page)
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


def check_consent(assignment: Assignment) -> None:
    if assignment.consented_at is None:
        raise WorkRefused(Refusal.CONSENT_MISSING)


def save_dialog(hit: FrozenHit, assignment: Assignment, dialog: DialogState, now: datetime) -> dict[str, Any]:
    item = find_item(hit, dialog.position)
    new = make_answer(hit, assignment, dialog, now)
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


def make_answer(hit: FrozenHit, assignment: Assignment, dialog: DialogState, now: datetime) -> Answer:
    item = find_item(hit, dialog.position)
    order = item.order(assignment.rotation, assignment.turned)
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


def find_item(hit: FrozenHit, position: int) -> FrozenItem:
    if position >= len(hit.items):
        raise WorkRefused(Refusal.INVALID)
    return hit.items[position]


def _read_value(hit: FrozenHit, dialog: DialogState, card_order: Sequence[int]) -> Value:
    try:
        return hit.study.protocol.read(dialog.sent, card_order)
    except InvalidAnswer:
        raise WorkRefused(Refusal.INVALID) from None


def refuse_incomplete(hit: FrozenHit, missing: Sequence[tuple[int, int]]) -> WorkRefused:
    return WorkRefused(
        Refusal.INCOMPLETE,
        incomplete_words(missing, hit.study.protocol.still_missing),
        missing=[{"position": position, "cards": count} for position, count in missing],
    )
