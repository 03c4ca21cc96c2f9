"""The signed copy of the answers that the marketplace keeps, and how lost answers come back from it."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from hits.models import Answer, Assignment, BonusCheck
from hits.protocols import InvalidAnswer
from hits.serving.assignment_tokens import CopyOf, is_our_copy, sign_copy
from hits.serving.bonus import Checks
from hits.serving.frozen import FrozenHit
from hits.serving.page_data import answer_of


class Copied(BaseModel):
    """What is beside these fields was sent by the page, and belongs to the protocol."""

    model_config = ConfigDict(extra="allow")

    @property
    def sent(self) -> dict[str, Any]:
        return self.model_extra or {}


class CheckCopy(Copied):
    active_ms: int
    at: datetime


class DialogCopy(Copied):
    revision: int
    active_ms: int
    hidden_ms: int
    moves: list[Any]
    problem: str
    checks: list[CheckCopy]
    saved_at: datetime


class ConsentCopy(BaseModel):
    version: str
    at: datetime


class AnswersCopy(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int
    turn: int
    feedback: str
    dialogs: list[DialogCopy]
    consent: ConsentCopy | None = None


def write_copy(hit: FrozenHit, assignment: Assignment, answers: Mapping[int, Answer], checks: Checks) -> dict[str, str]:
    """The fields of the form. Cards by their places: it passes through the worker's browser."""
    protocol = hit.study.protocol
    copy: dict[str, Any] = {
        "version": 1,
        "turn": assignment.turn,
        "feedback": assignment.feedback,
        "dialogs": [
            {
                **answer_of(protocol, answers[item.pk]),
                "problem": answers[item.pk].problem,
                "checks": [
                    {
                        **protocol.show(check.value, answers[item.pk].card_order),
                        "active_ms": check.active_ms,
                        "at": check.checked_at.isoformat(),
                    }
                    for check in checks.of_item(item.pk)
                ],
                "saved_at": answers[item.pk].saved_at.isoformat(),
            }
            for item in hit.items
        ],
    }
    if assignment.consented_at is not None:
        copy["consent"] = {"version": assignment.consent_version, "at": assignment.consented_at.isoformat()}
    text = json.dumps(copy, separators=(",", ":"))
    return {"answers": text, "signature": sign_copy(copy_of(hit, assignment), text)}


def copy_of(hit: FrozenHit, assignment: Assignment) -> CopyOf:
    return CopyOf(
        *(hit.study.key, hit.number),
        *(assignment.offering.environment, assignment.crowd_assignment_id, assignment.crowd_worker_id),
    )


def read_copy(hit: FrozenHit, whose: CopyOf, fields: dict[str, str]) -> AnswersCopy | None:
    """None unless we wrote it ourselves, for this worker, this assignment and this HIT, and it fits the HIT."""
    text = fields.get("answers", "")
    if not is_our_copy(whose, text, fields.get("signature", "")):
        return None
    try:
        copy = AnswersCopy.model_validate_json(text)
    except ValidationError:
        return None
    return copy if _fits(hit, copy) else None


def _fits(hit: FrozenHit, copy: AnswersCopy) -> bool:
    """Ours always do, unless the database was restored to another study: and no copy may ever end a sync."""
    if len(copy.dialogs) != len(hit.items):
        return False
    try:
        for item, dialog in zip(hit.items, copy.dialogs, strict=True):
            for copied in (dialog, *dialog.checks):
                hit.study.protocol.read(copied.sent, item.shuffled)
    except InvalidAnswer:
        return False
    return True


def rebuild_answers(hit: FrozenHit, assignment: Assignment, copy: AnswersCopy) -> None:
    """Puts back what the copy says, instead of whatever answers are there. Checks are evidence: those that are there
    stay, too, since a copy of answers that were sent again has none."""
    protocol = hit.study.protocol
    # The copy has cards by their places, in the order that its own page showed. The row may have another turn: it is
    # made anew when the page is opened after our database was restored.
    assignment.turn = copy.turn
    if copy.consent is not None and assignment.consented_at is None:
        assignment.consented_at, assignment.consent_version = copy.consent.at, copy.consent.version
        assignment.save(update_fields=["consented_at", "consent_version"])
    known_checks = list(BonusCheck.objects.filter(assignment=assignment))
    BonusCheck.objects.filter(assignment=assignment).delete()
    Answer.objects.filter(assignment=assignment).delete()
    for item, dialog in zip(hit.items, copy.dialogs, strict=True):
        order = item.order(assignment.turn)
        Answer.objects.create(
            assignment=assignment,
            item_id=item.pk,
            card_order=order,
            value=protocol.read(dialog.sent, order),
            revision=dialog.revision,
            active_ms=dialog.active_ms,
            hidden_ms=dialog.hidden_ms,
            moves=dialog.moves,
            problem=dialog.problem,
            saved_at=dialog.saved_at,
        )
        checks = {check.checked_at: check for check in known_checks if check.item_id == item.pk}
        for told in dialog.checks:
            value = protocol.read(told.sent, order)
            checks[told.at] = BonusCheck(
                assignment=assignment,
                item_id=item.pk,
                value=value,
                is_won=item.gold_card is not None and protocol.passes(value, item.gold_card),
                active_ms=told.active_ms,
                checked_at=told.at,
            )
        for number, (_, check) in enumerate(sorted(checks.items()), start=1):
            check.pk, check.attempt = None, number
            check.save(force_insert=True)


def says_the_same(hit: FrozenHit, copy: AnswersCopy, answers: Mapping[int, Answer]) -> bool:
    """Whether these rows, which are complete, are what the copy says."""
    return all(
        answers[item.pk].value == hit.study.protocol.read(dialog.sent, item.order(copy.turn))
        and answers[item.pk].problem == dialog.problem
        for item, dialog in zip(hit.items, copy.dialogs, strict=True)
    )
