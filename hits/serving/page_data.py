"""What the browser gets: the whole HIT at once, in this worker's order, and nothing that tells who wrote what."""

import json
from dataclasses import asdict
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from evalplatform.wording import count_of
from hits.crowds.crowd_words import CrowdWords
from hits.crowds.registry import crowd_of
from hits.designing.design_words import dollars
from hits.designing.sizing import hourly_pay_cents
from hits.models import Answer, Assignment
from hits.models.design import StudyDesign
from hits.protocols import Protocol
from hits.serving.bonus import Checks, can_check
from hits.serving.bonus_words import bonus_rule
from hits.serving.frozen import FrozenHit, FrozenItem
from hits.serving.statements import answers_of, checks_of, has_submitted_before


def as_json_in_html(page: dict[str, Any]) -> SafeString:
    """What Django's json_script writes, without its walk through every character of all the dialogs."""
    text = json.dumps(page)
    return mark_safe(text.replace("&", "\\u0026").replace("<", "\\u003C").replace(">", "\\u003E"))  # noqa: S308


def preview_page(hit: FrozenHit, words: CrowdWords) -> dict[str, Any]:
    return {**_texts(hit, words), "mode": "preview", "token": "", "dialogs": [], "step": "welcome", "seconds_used": 0}


def submitted_page(hit: FrozenHit, words: CrowdWords, submission: dict[str, Any]) -> dict[str, Any]:
    """No dialogs, no answers, and no token with which they could be asked for."""
    return {**preview_page(hit, words), "mode": "submitted", "submission": submission}


def work_page(hit: FrozenHit, assignment: Assignment, token: str, seconds_used: float) -> dict[str, Any]:
    answers = answers_of(assignment)
    rules = hit.study.design.checkpoints
    checks = Checks(rules, checks_of(assignment))
    return {
        **_texts(hit, crowd_of(assignment.offering).words),
        "mode": "work",
        "token": token,
        "has_agreed": assignment.consented_at is not None,
        "is_returning": has_submitted_before(assignment),
        "dialogs": [
            {
                "turns": item.turns,
                "cards": [item.texts[card] for card in item.order(assignment.turn)],
                "has_bonus": can_check(rules, item),
                "answer": answer_of(hit.study.protocol, answers.get(item.pk)),
                "bonus": bonus_of(hit, item, assignment, checks) if can_check(rules, item) else None,
                "problem": answers[item.pk].problem if item.pk in answers else "",
            }
            for item in hit.items
        ],
        "step": assignment.step,
        "seconds_used": seconds_used,
        "feedback": assignment.feedback,
    }


def answer_of(protocol: Protocol[Any], answer: Answer | None) -> dict[str, Any]:
    """By places, as the page knows the cards. The protocol's own fields stand beside the common ones."""
    if answer is None:
        return {"revision": 0, **protocol.show(None, ()), "active_ms": 0, "hidden_ms": 0, "moves": []}
    return {
        "revision": answer.revision,
        **protocol.show(answer.value, answer.card_order),
        "active_ms": answer.active_ms,
        "hidden_ms": answer.hidden_ms,
        "moves": answer.moves,
    }


def bonus_of(hit: FrozenHit, item: FrozenItem, assignment: Assignment, checks: Checks) -> dict[str, Any]:
    """What the page may know of a checkpoint: the placement that was checked last, and what was said of it then.

    Never whether the cards as they are now would win: that would be a check that nobody counts.
    """
    known = checks.of_item(item.pk)
    order = item.order(assignment.turn)
    return {
        "attempts": len(known),
        "attempts_left": checks.attempts_left(item.pk),
        "checked": hit.study.protocol.show(known[-1].value, order) if known else None,
        "passed": bool(known) and known[-1].is_won,
        "is_lost": checks.is_lost(item.pk),
    }


def _texts(hit: FrozenHit, words: CrowdWords) -> dict[str, Any]:
    study, design = hit.study, hit.study.design
    return {
        "crowd": asdict(words),
        "title": design.task.title,
        "question": design.task.question,
        **study.protocol.page_settings(),
        "welcome": study.welcome,
        "instructions": study.instructions,
        "consent": study.consent,
        "consent_version": design.task.consent_version,
        "has_agreed": False,
        "is_returning": False,
        "contact": study.contact,
        "facts": _facts(hit, words),
        "warm_up": {
            "turns": design.warm_up.context,
            "replies": [reply.model_dump() for reply in design.warm_up.replies],
        },
        "seconds_allowed": design.crowd.time_limit_minutes * 60,
        "feedback": "",
        "submission": None,
    }


def _facts(hit: FrozenHit, words: CrowdWords) -> dict[str, Any]:
    design = hit.study.design
    bonus_dialogs = sum(item.gold_card is not None for item in hit.items)
    has_bonus = bool(design.pay.bonus_cents and bonus_dialogs)
    return {
        "requester": design.task.requester or words.requester,
        "dialogs": len(hit.items),
        "expected_minutes": design.pay.expected_minutes,
        "time_limit_minutes": design.crowd.time_limit_minutes,
        "reward": dollars(design.pay.reward_cents),
        "hourly": dollars(hourly_pay_cents(design)),
        "approval": _approval(design, words),
        "bonus": dollars(design.pay.bonus_cents) if has_bonus else "",
        "bonus_rule": bonus_rule(hit.study.protocol, bonus_dialogs) if has_bonus else "",
        "what_counts": hit.study.protocol.what_counts() if bonus_dialogs else "",
        "bonus_dialogs": bonus_dialogs,
        "max_hits": design.crowd.max_hits_per_worker,
    }


def _approval(design: StudyDesign, words: CrowdWords) -> str:
    days = design.crowd.auto_approval_days
    when = {
        "at once": "at once, when your complete work has reached us",
        "after a delay": f"{count_of(design.pay.approval_delay_hours, 'hour')} after you submit",
        "by hand": (
            f"by a person, at the latest {count_of(days, 'day')} after you submit: {words.approved_by_itself}"
            if days
            else words.approved_at_once
        ),
    }[design.pay.approval]
    return f"{when}; how you rate the replies never leads to a rejection"
