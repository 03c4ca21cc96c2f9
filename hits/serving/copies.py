"""Writes the signed copy of the answers that the marketplace stores, and rebuilds lost answers from it."""

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
    """A part of a copy. Fields beside the declared ones were sent by the page, and belong to the protocol."""

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
    rotation: int
    turned: list[int] = []
    feedback: str
    dialogs: list[DialogCopy]
    consent: ConsentCopy | None = None


def write_copy(hit: FrozenHit, assignment: Assignment, answers: Mapping[int, Answer], checks: Checks) -> dict[str, str]:
    """Return the fields of the form. They name cards by their places, because the form passes through the worker's
    browser."""
    protocol = hit.study.protocol
    copy: dict[str, Any] = {
        "version": 1,
        "rotation": assignment.rotation,
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
    if assignment.turned:
        copy["turned"] = assignment.turned
    if assignment.consented_at is not None:
        copy["consent"] = {"version": assignment.consent_version, "at": assignment.consented_at.isoformat()}
    text = json.dumps(copy, separators=(",", ":"))
    return {"answers": text, "signature": sign_copy(copy_of(hit, assignment), text)}


def copy_of(hit: FrozenHit, assignment: Assignment) -> CopyOf:
    """Return whose work a copy of this assignment would be."""
    return CopyOf(
        *(hit.study.key, hit.number),
        *(assignment.offering.marketplace, assignment.crowd_assignment_id, assignment.crowd_worker_id),
    )


def read_copy(hit: FrozenHit, whose: CopyOf, fields: dict[str, str]) -> AnswersCopy | None:
    """Return the copy, or None unless we signed it for this worker, assignment and HIT, and it fits the HIT."""
    text = fields.get("answers", "")
    if not is_our_copy(whose, text, fields.get("signature", "")):
        return None
    try:
        copy = AnswersCopy.model_validate_json(text)
    except ValidationError:
        return None
    return copy if _fits_hit(hit, copy) else None


def _fits_hit(hit: FrozenHit, copy: AnswersCopy) -> bool:
    """Return whether the copy fits the HIT. Ours always do, unless the database was restored to another study; no
    copy may ever make a sync fail."""
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
    """Replace whatever answers there are by what the copy says.

    Checks are evidence, so those that exist stay: a copy of answers that were sent again contains none.
    """
    protocol = hit.study.protocol
    # The copy names cards by their places, in the order that its own page showed. The row may have another rotation, if
    # the page was opened again after our database was restored.
    assignment.rotation, assignment.turned = copy.rotation, copy.turned
    if copy.consent is not None and assignment.consented_at is None:
        assignment.consented_at, assignment.consent_version = copy.consent.at, copy.consent.version
        assignment.save(update_fields=["consented_at", "consent_version"])
    known_checks = list(BonusCheck.objects.filter(assignment=assignment))
    BonusCheck.objects.filter(assignment=assignment).delete()
    Answer.objects.filter(assignment=assignment).delete()
    for item, dialog in zip(hit.items, copy.dialogs, strict=True):
        order = item.order(assignment.rotation, assignment.turned)
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
                is_passed=item.gold_card is not None and protocol.passes(value, item.gold_card),
                active_ms=told.active_ms,
                checked_at=told.at,
            )
        for number, (_, check) in enumerate(sorted(checks.items()), start=1):
            check.pk, check.attempt = None, number
            check.save(force_insert=True)


def says_the_same(hit: FrozenHit, copy: AnswersCopy, answers: Mapping[int, Answer]) -> bool:
    """Return whether these rows, which are complete, say the same as the copy."""
    return all(
        answers[item.pk].value == hit.study.protocol.read(dialog.sent, item.order(copy.rotation, copy.turned))
        and answers[item.pk].problem == dialog.problem
        for item, dialog in zip(hit.items, copy.dialogs, strict=True)
    )
