"""The answers that the marketplace keeps for us, and how ours come back from them."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.crypto import constant_time_compare
from pydantic import BaseModel, ConfigDict, ValidationError

from hits.models import Answer, Assignment, BonusCheck
from hits.serving.bonus import Points
from hits.serving.frozen import FrozenHit
from hits.serving.page import answer_of, by_card, by_place
from hits.serving.rows import checks_of
from hits.serving.tokens import sign_copy


class CheckCopy(BaseModel):
    areas: dict[str, str]
    active_ms: int
    at: datetime


class DialogCopy(BaseModel):
    revision: int
    areas: dict[str, str]
    active_ms: int
    hidden_ms: int
    moves: list[Any]
    problem: str
    checks: list[CheckCopy]


class AnswersCopy(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int
    turn: int
    feedback: str
    dialogs: list[DialogCopy]


def write_copy(hit: FrozenHit, assignment: Assignment, answers: Mapping[int, Answer]) -> dict[str, str]:
    """The fields of the form. Cards by their places: it passes through the worker's browser."""
    points = Points(hit.study.design.checkpoints, checks_of(assignment))
    copy = {
        "version": 1,
        "turn": assignment.turn,
        "feedback": assignment.feedback,
        "dialogs": [
            {
                **answer_of(answers[item.pk]),
                "problem": answers[item.pk].problem,
                "checks": [
                    {
                        "areas": by_place(answers[item.pk].card_order, check.value["areas"]),
                        "active_ms": check.active_ms,
                        "at": check.checked_at.isoformat(),
                    }
                    for check in points.of_item(item.pk)
                ],
            }
            for item in hit.items
        ],
    }
    text = json.dumps(copy, separators=(",", ":"))
    return {"answers": text, "signature": sign_copy(assignment.mturk_assignment_id, assignment.mturk_worker_id, text)}


def read_copy(assignment_id: str, worker_id: str, fields: dict[str, str]) -> AnswersCopy | None:
    """None unless we wrote it ourselves, for this worker and this assignment."""
    text = fields.get("answers", "")
    if not constant_time_compare(fields.get("signature", ""), sign_copy(assignment_id, worker_id, text)):
        return None
    try:
        return AnswersCopy.model_validate_json(text)
    except ValidationError:
        return None


def rebuild_answers(hit: FrozenHit, assignment: Assignment, copy: AnswersCopy, submitted_at: datetime) -> None:
    """Puts back what the copy says, instead of whatever is there."""
    passing = hit.study.design.checkpoints.passing_areas
    BonusCheck.objects.filter(assignment=assignment).delete()
    Answer.objects.filter(assignment=assignment).delete()
    for item, dialog in zip(hit.items, copy.dialogs, strict=True):
        order = item.order(assignment.turn)
        Answer.objects.create(
            assignment=assignment,
            item_id=item.pk,
            card_order=order,
            value={"areas": by_card(order, dialog.areas)},
            revision=dialog.revision,
            active_ms=dialog.active_ms,
            hidden_ms=dialog.hidden_ms,
            moves=dialog.moves,
            problem=dialog.problem,
            saved_at=submitted_at,
        )
        for number, check in enumerate(dialog.checks, start=1):
            areas = by_card(order, check.areas)
            BonusCheck.objects.create(
                assignment=assignment,
                item_id=item.pk,
                attempt=number,
                value={"areas": areas},
                is_won=areas[str(item.gold_card)] in passing,
                active_ms=check.active_ms,
                checked_at=check.at,
            )
