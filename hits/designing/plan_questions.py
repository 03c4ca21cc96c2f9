"""Answers a planner's question about a study's size: at once if that takes a second, else in the background.

What comes in: a study, and the difference to be found, as it was typed. What goes out: a plan. What is guaranteed: the
same question about the same design has the same answer; `is_quick_to_plan` costs nothing, however large the study is.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.crowds import planned_crowd
from hits.designing.design_problems import check_draft
from hits.designing.planned_size import planned_setting
from hits.designing.power_planning import (
    STOPPING_GAIN,
    STOPPING_STUDIES,
    TOO_LARGE_TO_STOP,
    Plan,
    plan_for_difference,
    plan_for_size,
    plan_stopping,
)
from hits.designing.sizing import size_of_batches
from hits.models import Study
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.protocols import protocol_in, protocol_of, usual_protocol

# Measured: 6 s for 6,000 dialogs with 4 raters, and 1 s to find the size for a difference of 15 points.
MOST_RATINGS_AT_ONCE = 4_000
SMALLEST_DIFFERENCE_AT_ONCE = 0.15


NOT_COVERED = (
    "The planner does not cover this way of asking yet: it can't say which difference a study of this size shows. The "
    "study's cost, its hours and its results are not concerned."
)


def why_not_planned(settings: Mapping[str, Any]) -> str:
    """Tell why nothing can be simulated for this draft; empty if it can. Only its way of asking matters: while a draft
    can't be read, that of its protocol's defaults."""
    try:
        protocol = protocol_of(StudyDesign.model_validate(settings))
    except ValidationError:
        protocol = usual_protocol(protocol_in(settings).name)
    return NOT_COVERED if protocol.planned_shares is None else ""


def is_quick_to_plan(study: Study, difference: str) -> bool:
    """Return whether a page can wait for the plan. It looks only at the draft's numbers: checking a large draft
    takes seconds."""
    hits = study.design.get("hits")
    raters = hits.get("assignments", 4) if isinstance(hits, dict) else 4
    parts = study.design.get("datasets")
    asked = [part.get("dialogs") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    dialogs = sum(count for count in asked if isinstance(count, int))
    is_small = isinstance(raters, int) and dialogs * raters <= MOST_RATINGS_AT_ONCE
    try:
        return is_small and (not difference or float(difference) / 100 >= SMALLEST_DIFFERENCE_AT_ONCE)
    except ValueError:
        return is_small  # what was typed is no number, and will be refused at once


def plan_question_id(study: Study, difference: str) -> str:
    """Return a hash that identifies the question: the same for the same design and difference."""
    design = json.dumps(study.design, sort_keys=True)
    return hashlib.sha256(f"{difference} {design}".encode()).hexdigest()


def plan_study_size(study: Study, difference: str) -> Plan | None:
    """Return the plan, or None if no study of a size that we can simulate finds so small a difference."""
    checked = check_draft(study.design)
    if checked.problems:
        raise EvalPlatformError("Solve the study's problems first.")
    design = study.parsed_design
    if len(design.generators) < 2:
        raise EvalPlatformError("To find a difference, a study needs at least two models; this one has one.")
    try:
        return _plan_for_design(design, difference, sum(len(one.dialogs) for one in checked.selections))
    except (ValueError, OverflowError) as error:
        raise EvalPlatformError(str(error)) from error


def _plan_for_design(design: StudyDesign, wanted: str, chosen_count: int) -> Plan | None:
    if protocol_of(design).planned_shares is None:
        raise ValueError(NOT_COVERED)
    setting = planned_setting(design, size_of_batches(design, chosen_count).different_dialogs)
    pay = (design.pay.reward_cents, design.pay.bonus_cents, planned_crowd(design).fees)
    if not wanted:
        return _with_stopping(plan_for_size(setting, *pay), design)
    try:
        difference = float(wanted) / 100
    except ValueError:
        raise ValueError(f"{wanted!r} is not a number of points.") from None
    return _with_stopping(plan_for_difference(setting, difference, *pay), design)


def _with_stopping(plan: Plan | None, design: StudyDesign) -> Plan | None:
    """Add how the study would end by its own rule, or without one by the rule that it could have: to drop who has lost,
    and to stop when all is decided."""
    rule = design.analysis
    if plan is None:
        return plan
    looks = max(1, -(-plan.hits // rule.wave_hits)) if rule.wave_hits else 10
    indexes = {name: index for index, name in enumerate(design.generators)}
    ended = plan_stopping(
        plan.setting,
        rule.drop_losers or not rule.has_rule,
        rule.equal_within,
        min(looks, 40),
        pairs=[(indexes[first], indexes[second]) for first, second in design.primary_pairs],
        reference=indexes.get(rule.reference) if rule.compare == "one against the others" else None,
    )
    return replace(plan, stopping=ended)


def _stopping_words(plan: Plan) -> str:
    if plan.stopping is None:
        return TOO_LARGE_TO_STOP
    every = plan.setting.dialogs * plan.setting.raters * plan.setting.generators
    needed, ended = round(every * plan.stopping.ratings), plan.stopping
    whose = (
        "its rule" if plan.setting.is_by_sequence else "a rule that drops who has lost and stops when all is decided"
    )
    stopped, mistaken = (round(STOPPING_STUDIES * share) for share in (ended.decided, ended.false_eliminations))
    return (
        f"Without stopping, {every:,} ratings are asked for. If one model is better than all others by "
        f"{100 * STOPPING_GAIN:g} points of good, the study needs about {needed:,} of them with {whose} "
        f"({ended.ratings:.0%} of the ratings, {ended.assignments:.0%} of the assignments). Of {STOPPING_STUDIES} "
        f"simulated studies, {stopped} stopped before their end, and {mistaken or 'none'} dropped the best model by "
        "mistake."
    )


def _what_decides(plan: Plan) -> str:
    if plan.setting.is_by_sequence:
        return "the confidence sequence that decides in the results, at the end of the study"
    return "the test that decides in the results"


def plan_as_json(found: Plan | None, currency: str) -> dict[str, Any]:
    """Return the plan as JSON for a page; empty if there is no plan."""
    if found is None:
        return {}
    good, okay, bad = found.setting.proportions
    effects, pairs = found.setting.effects, found.setting.pairs
    return {
        "dialogs": f"{found.setting.dialogs:,}",
        "raters": found.setting.raters,
        "hits": f"{found.hits:,}",
        "total": money(found.cost.total_cents, currency),
        "detectable": None if found.detectable is None else f"{found.detectable * 100:.1f}",
        "rows": [
            {
                "points": f"{power.difference * 100:.1f}",
                "percent": round(power.power * 100),
                "low": round(power.low * 100),
                "high": round(power.high * 100),
            }
            for power in found.curve
        ],
        "stopping": _stopping_words(found),
        "assumptions": (
            f"Assumed: {good:.0%} good, {okay:.0%} okay, {bad:.0%} bad; {effects.dialog:.0%} of the spread from the "
            f"dialog, {effects.reply:.0%} from the reply, {effects.worker:.0%} from the worker, {effects.taste:.0%} "
            f"from the worker's taste; {count_of(found.setting.worker_count, 'equally busy worker')}; "
            f"{_what_decides(found)}, corrected for {count_of(pairs, 'pair')} of models. The command plan_study takes "
            "other assumptions."
        ),
    }
