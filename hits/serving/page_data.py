"""Decides what the worker's browser gets: the HIT in this worker's order, and nothing that tells who wrote what."""

from dataclasses import asdict
from typing import Any

from evalplatform.wording import count_of
from hits.crowds import CrowdWords, crowd_of, planned_crowd
from hits.designing import hourly_pay_cents
from hits.models import Answer, Assignment, Offering
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.protocols import Protocol, is_lost
from hits.serving.bonus import Checks, can_check
from hits.serving.bonus_words import UNPAID_REHEARSAL, bonus_rule
from hits.serving.frozen import FrozenHit, FrozenItem, FrozenStudy
from hits.serving.leases import is_leased
from hits.serving.statements import answers_of, checks_of, has_submitted_before
from hits.serving.work_refusals import Paid, who_pays


def paid_in(offering: Offering) -> Paid:
    return who_pays(offering.study.parsed_design, crowd_of(offering), offering.environment)


def preview_page(hit: FrozenHit, words: CrowdWords, paid: Paid = Paid.BY_CROWD) -> dict[str, Any]:
    """Return what somebody sees who has not accepted the HIT."""
    bonus_dialogs = sum(item.gold_card is not None for item in hit.items)
    return _page_without_work(hit.study, words, len(hit.items), bonus_dialogs, "preview", paid)


def submitted_page(hit: FrozenHit, offering: Offering, submission: dict[str, Any]) -> dict[str, Any]:
    """Return the page after submitting: without dialogs, answers, or a token with which they could be requested."""
    return {**_introduction(hit, offering), "mode": "submitted", "submission": submission}


def _introduction(hit: FrozenHit, offering: Offering) -> dict[str, Any]:
    crowd = crowd_of(offering)
    return preview_page(hit, crowd.words, who_pays(hit.study.design, crowd, offering.environment))


def work_page(hit: FrozenHit, assignment: Assignment, token: str, seconds_used: float) -> dict[str, Any]:
    """Return the page on which a worker works: the dialogs in their order, with what they have answered so far."""
    answers = answers_of(assignment)
    checks = Checks(hit.study.design.checkpoints, checks_of(assignment))
    return {
        **_introduction(hit, assignment.offering),
        **hit.study.protocol.settings_of_worker(assignment.rotation),
        "mode": "work",
        "token": token,
        "has_agreed": assignment.consented_at is not None,
        "is_returning": has_submitted_before(assignment),
        "dialogs": [_page_of_dialog(hit, item, assignment, answers.get(item.pk), checks) for item in hit.items],
        "step": assignment.step,
        "seconds_used": seconds_used,
        "may_be_late": is_leased(assignment.offering),
        "feedback": assignment.feedback,
    }


def page_context(design: StudyDesign, page: dict[str, Any], paid: Paid = Paid.BY_CROWD) -> dict[str, Any]:
    """Return what work/hit.html needs to begin with this page's data."""
    is_paid = bool(design.pay.reward_cents) and paid == Paid.BY_CROWD
    return {
        "title": page["title"],
        "language": design.task.language,
        "protocol": design.protocol,
        "crowd": page["crowd"],
        "page": page,
        "is_paid": is_paid,
    }


# --- Pages for the researcher's eyes: the same data, without a token, so that nothing can be saved -------------------


def shown_pages(hit: FrozenHit, assignment: Assignment | None) -> list[dict[str, Any]]:
    """Return one page for each dialog, which can only be looked at: as this assignment was answered, or, without one,
    as the first worker of these dialogs will see it."""
    answers = {} if assignment is None else answers_of(assignment)
    checks = Checks(hit.study.design.checkpoints, [] if assignment is None else checks_of(assignment))
    seen = assignment or Assignment(rotation=0)
    words = _planned_words(hit.study) if assignment is None else crowd_of(assignment.offering).words
    return [
        {
            **preview_page(hit, words),
            **hit.study.protocol.settings_of_worker(seen.rotation),
            "mode": "shown",
            "title": f"Conversation {item.position + 1} of {len(hit.items)}",
            "dialogs": [_page_of_dialog(hit, item, seen, answers.get(item.pk), checks)],
        }
        for item in hit.items
    ]


def drafted_page(study: FrozenStudy) -> dict[str, Any]:
    """Return what a worker would see before accepting a HIT of a study that is still being designed."""
    design = study.design
    dialogs, bonus_dialogs = design.items_per_hit, design.checkpoints.per_hit
    return _page_without_work(study, _planned_words(study), dialogs, bonus_dialogs, "shown")


def _planned_words(study: FrozenStudy) -> CrowdWords:
    """Return the words of the crowd that the study is meant for: nobody knows yet who will come from where."""
    return planned_crowd(study.design).words


def step_pages(hit: FrozenHit, words: CrowdWords, has_texts: bool) -> dict[str, dict[str, Any]]:
    """Return a page for each step of the work, in order, as it looks when a worker comes to it; of a checkpoint also
    after a check that won and one that did not. Without `has_texts`, the dialog is that of the warm-up, which is the
    study's own: corpora may not be passed on. Where points are told after submission, a checkpoint looks like every
    other dialog, and has no page of its own."""
    study = hit.study
    practice = {
        "turns": study.design.warm_up.context,
        "cards": [reply.text for reply in study.design.warm_up.replies],
        "has_bonus": False,
        "answer": answer_of(study.protocol, None),
        "bonus": None,
        "problem": "",
    }
    no_checks = Checks(study.design.checkpoints, [])
    shown, checkpoint = (
        _page_of_dialog(hit, _first_item(hit, is_checkpoint), Assignment(rotation=0), None, no_checks)
        if has_texts
        else practice
        for is_checkpoint in (False, True)
    )
    page = preview_page(hit, words)
    opening, finish = (
        {step: {**page, "mode": "step", "step": step} for step in steps}
        for steps in (("welcome", "instructions"), ("finish",))
    )
    dialogs = {"dialog": shown, **_checkpoint_states(study, checkpoint)}
    of_dialogs = {
        # As many as the HIT has, so that its heading counts them: the first is shown.
        name: {**page, "mode": "step", "step": "dialog", "dialogs": [{**one}] * len(hit.items)}
        for name, one in dialogs.items()
    }
    return {"preview": page, **opening, **of_dialogs, **finish}


def _first_item(hit: FrozenHit, is_checkpoint: bool) -> FrozenItem:
    return next((one for one in hit.items if (one.gold_card is not None) == is_checkpoint), hit.items[0])


def _checkpoint_states(study: FrozenStudy, shown: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the dialog as a checkpoint: before a check, and after one that won and one that did not."""
    rules, protocol = study.design.checkpoints, study.protocol
    if not rules.per_hit or rules.feedback != "at once":
        return {}
    winning = protocol.passing_levels
    missing = [level for level in reversed(range(len(protocol.scale.values))) if level not in winning]
    left = rules.max_attempts or None
    bonus = {"attempts": 0, "attempts_left": left, "checked": None, "passed": False, "is_lost": False}
    states = {"checkpoint": {**shown, "has_bonus": True, "bonus": bonus}}
    for name, levels in (("won", winning), ("missed", missing)):
        if not levels:
            continue
        sent = protocol.sent_by(levels[:1] * len(shown["cards"]))
        states[f"checkpoint-{name}"] = {
            **shown,
            "has_bonus": True,
            "answer": {**shown["answer"], **sent},
            "bonus": {
                "attempts": 1,
                "attempts_left": None if left is None else left - 1,
                "checked": sent,
                "passed": name == "won",
                "is_lost": is_lost(rules, name == "won"),
            },
        }
    return states


# --- Parts of a page -------------------------------------------------------------------------------------------------


def _page_of_dialog(
    hit: FrozenHit, item: FrozenItem, assignment: Assignment, answer: Answer | None, checks: Checks
) -> dict[str, Any]:
    has_bonus = can_check(hit.study.design.checkpoints, item)
    return {
        "turns": item.turns,
        "cards": [item.texts[card] for card in item.order(assignment.rotation, assignment.turned)],
        **({"told": item.told_words} if item.told_words else {}),
        "has_bonus": has_bonus,
        "answer": answer_of(hit.study.protocol, answer),
        "bonus": bonus_of(hit, item, assignment, checks) if has_bonus else None,
        "problem": answer.problem if answer else "",
    }


def answer_of(protocol: Protocol[Any], answer: Answer | None) -> dict[str, Any]:
    """Return an answer by places, as the page knows the cards. The protocol's own fields stand beside the common
    ones."""
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
    """Return what the page may know of a checkpoint: the placement that was last checked, and what the check said.

    It never says whether the cards as they are now would win: that would be a check that nobody counts.
    """
    known = checks.of_item(item.pk)
    order = item.order(assignment.rotation, assignment.turned)
    return {
        "attempts": len(known),
        "attempts_left": checks.attempts_left(item.pk),
        "checked": hit.study.protocol.show(known[-1].value, order) if known else None,
        "passed": bool(known) and known[-1].is_passed,
        "is_lost": checks.is_lost(item.pk),
    }


def _page_without_work(
    study: FrozenStudy,
    words: CrowdWords,
    dialogs: int,
    bonus_dialogs: int,
    mode: str,
    paid: Paid = Paid.BY_CROWD,
) -> dict[str, Any]:
    design = study.design
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
        "facts": _study_facts(study, words, dialogs, bonus_dialogs, paid == Paid.REHEARSED),
        "warm_up": {
            "turns": design.warm_up.context,
            "replies": [reply.model_dump() for reply in design.warm_up.replies],
        },
        "seconds_allowed": design.crowd.time_limit_minutes * 60,
        "feedback": "",
        "submission": None,
        "mode": mode,
        "token": "",
        "dialogs": [],
        "step": "welcome",
        "seconds_used": 0,
        "may_be_late": False,
    }


def _study_facts(
    study: FrozenStudy, words: CrowdWords, dialogs: int, bonus_dialogs: int, is_rehearsal: bool
) -> dict[str, Any]:
    design = study.design
    is_paid = bool(design.pay.reward_cents) and not is_rehearsal
    has_bonus = bool(design.pay.bonus_cents and bonus_dialogs)
    told = bonus_dialogs if design.tells_points else 0
    return {
        "requester": design.task.requester or words.requester,
        "dialogs": dialogs,
        "expected_minutes": design.pay.expected_minutes,
        "time_limit_minutes": design.crowd.time_limit_minutes,
        "reward": money(design.pay.reward_cents, design.pay.currency) if is_paid else "",
        "unpaid": "" if is_paid else UNPAID_REHEARSAL if design.pay.reward_cents else "none: this study is unpaid",
        "hourly": money(hourly_pay_cents(design), design.pay.currency),
        "approval": _describe_approval(design, words),
        "bonus": money(design.pay.bonus_cents, design.pay.currency) if has_bonus and not is_rehearsal else "",
        "bonus_rule": bonus_rule(study.protocol, bonus_dialogs, is_rehearsal) if has_bonus else "",
        "what_counts": study.protocol.what_counts() if told else "",
        "bonus_dialogs": told,
        "max_hits": design.crowd.max_hits_per_worker,
    }


def _describe_approval(design: StudyDesign, words: CrowdWords) -> str:
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
