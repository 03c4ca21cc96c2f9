"""What the browser gets: the whole HIT at once, in this worker's order, and nothing that tells who wrote what."""

import json
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from hits.designing.describing import dollars
from hits.models import Answer, Assignment
from hits.models.design import StudyDesign
from hits.serving.bonus import Points, bonus_state
from hits.serving.frozen import FrozenHit
from hits.serving.rows import answers_of, checks_of


def as_json_in_html(page: dict[str, Any]) -> SafeString:
    """What Django's json_script writes, without its walk through every character of all the dialogs."""
    text = json.dumps(page)
    return mark_safe(text.replace("&", "\\u0026").replace("<", "\\u003C").replace(">", "\\u003E"))  # noqa: S308


def preview_page(hit: FrozenHit) -> dict[str, Any]:
    return {**_texts(hit), "mode": "preview", "token": "", "dialogs": [], "step": "welcome", "seconds_used": 0}


def work_page(hit: FrozenHit, assignment: Assignment, token: str, seconds_used: float) -> dict[str, Any]:
    answers = answers_of(assignment)
    points = Points(hit.study.design.checkpoints, checks_of(assignment))
    return {
        **_texts(hit),
        "mode": "work",
        "token": token,
        "dialogs": [
            {
                "turns": item.turns,
                "cards": [item.texts[card] for card in item.order(assignment.turn)],
                "has_bonus": item.gold_card is not None,
                "answer": answer_of(answers.get(item.pk)),
                "bonus": bonus_state(item, points),
                "problem": answers[item.pk].problem if item.pk in answers else "",
            }
            for item in hit.items
        ],
        "step": assignment.step,
        "seconds_used": seconds_used,
        "points": points.total,
        "feedback": assignment.feedback,
    }


def answer_of(answer: Answer | None) -> dict[str, Any]:
    """By places, as the page knows the cards."""
    if answer is None:
        return {"revision": 0, "areas": {}, "active_ms": 0, "hidden_ms": 0, "moves": []}
    return {
        "revision": answer.revision,
        "areas": by_place(answer.card_order, answer.value["areas"]),
        "active_ms": answer.active_ms,
        "hidden_ms": answer.hidden_ms,
        "moves": answer.moves,
    }


def by_place(card_order: list[int], areas_by_card: dict[str, str]) -> dict[str, str]:
    return {str(place): areas_by_card[str(card)] for place, card in enumerate(card_order) if str(card) in areas_by_card}


def by_card(card_order: list[int], areas_by_place: dict[str, str]) -> dict[str, str]:
    return {str(card_order[int(place)]): area for place, area in areas_by_place.items()}


def _texts(hit: FrozenHit) -> dict[str, Any]:
    study, design = hit.study, hit.study.design
    return {
        "title": design.task.title,
        "question": design.task.question,
        "areas": [area.model_dump() for area in design.task.areas],
        "welcome": study.welcome,
        "instructions": study.instructions,
        "consent": study.consent,
        "contact": study.contact,
        "facts": _facts(hit),
        "warm_up": {
            "turns": design.warm_up.context,
            "replies": [reply.model_dump() for reply in design.warm_up.replies],
        },
        "seconds_allowed": design.crowd.time_limit_minutes * 60,
        "points": 0,
        "feedback": "",
        "submission": None,
    }


def _facts(hit: FrozenHit) -> dict[str, Any]:
    design = hit.study.design
    bonus_dialogs = sum(item.gold_card is not None for item in hit.items)
    has_bonus = bool(design.pay.bonus_cents and bonus_dialogs)
    return {
        "dialogs": len(hit.items),
        "expected_minutes": design.pay.expected_minutes,
        "time_limit_minutes": design.crowd.time_limit_minutes,
        "reward": dollars(design.pay.reward_cents),
        "bonus": dollars(design.pay.bonus_cents) if has_bonus else "",
        "bonus_rule": _bonus_rule(design, bonus_dialogs) if has_bonus else "",
        "bonus_dialogs": bonus_dialogs,
        "max_hits": design.crowd.max_hits_per_worker,
    }


def _bonus_rule(design: StudyDesign, bonus_dialogs: int) -> str:
    needed = design.pay.bonus_points
    labels = [area.label for area in design.task.areas if area.key in design.checkpoints.passing_areas]
    which = f"all {bonus_dialogs}" if needed >= bonus_dialogs else f"at least {needed} of the {bonus_dialogs}"
    return (
        f"{bonus_dialogs} of the conversations carry a bonus point: one of their replies was written by a human, and "
        f"the point is yours when you put it into {' or '.join(labels)}. Win {which} points and we pay "
        f"{dollars(design.pay.bonus_cents)} on top."
    )
