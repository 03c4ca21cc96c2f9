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
from hits.protocols import Protocol, protocol_in, protocol_of, usual_protocol
from hits.stats import Setting

# Measured: 6 s for 6,000 dialogs with 4 raters, and 1 s to find the size for a difference of 15 points.
MOST_RATINGS_AT_ONCE = 4_000
SMALLEST_DIFFERENCE_AT_ONCE = 0.15


NOT_COVERED = (
    "The planner does not cover this way of asking yet: it can't say which difference a study of this size shows. The "
    "study's cost, its hours and its results are not concerned."
)


STOPPING_NOT_COMPARED = (
    "How many ratings it needs with stopping is not simulated where replies are compared two by two."
)


def why_not_planned(settings: Mapping[str, Any]) -> str:
    """Tell why nothing can be simulated for this draft; empty if it can."""
    return "" if _is_covered(_protocol_of_draft(settings)) else NOT_COVERED


def planned_measure(settings: Mapping[str, Any]) -> str:
    """Return what a difference is meant in: points of "good", "the mean" or "wins minus losses"."""
    return _measure(planned_setting(_protocol_of_draft(settings).design, 2))


def _protocol_of_draft(settings: Mapping[str, Any]) -> Protocol[Any]:
    """Return how a draft asks. While it can't be read, that is its protocol with its defaults."""
    try:
        return protocol_of(StudyDesign.model_validate(settings))
    except ValidationError:
        return usual_protocol(protocol_in(settings).name)


def _is_covered(protocol: Protocol[Any]) -> bool:
    return protocol.planned_shares(protocol.criteria[0]) is not None


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
    if not _is_covered(protocol_of(design)):
        raise ValueError(NOT_COVERED)
    setting = planned_setting(design, size_of_batches(design, chosen_count).different_dialogs)
    pay = (design.pay.reward_cents, design.pay.bonus_cents, planned_crowd(design).fees)
    if not wanted:
        return _with_stopping(plan_for_size(setting, *pay), design)
    try:
        difference = float(wanted) / _unit(setting)
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
        return STOPPING_NOT_COMPARED if plan.setting.is_comparison else TOO_LARGE_TO_STOP
    every = plan.setting.dialogs * plan.setting.raters * plan.setting.generators
    gain = f"{_points(plan.setting, STOPPING_GAIN)} of {_measure(plan.setting)}"
    needed, ended = round(every * plan.stopping.ratings), plan.stopping
    whose = (
        "its rule" if plan.setting.is_by_sequence else "a rule that drops who has lost and stops when all is decided"
    )
    stopped, mistaken = (round(STOPPING_STUDIES * share) for share in (ended.decided, ended.false_eliminations))
    return (
        f"Without stopping, {every:,} ratings are asked for. If one model is better than all others by "
        f"{gain}, the study needs about {needed:,} of them with {whose} "
        f"({ended.ratings:.0%} of the ratings, {ended.assignments:.0%} of the assignments). Of {STOPPING_STUDIES} "
        f"simulated studies, {stopped} stopped before their end, and {mistaken or 'none'} dropped the best model by "
        "mistake."
    )


def _points(setting: Setting, difference: float) -> str:
    """Write a difference in what it is measured in.

    >>> _points(Setting(10, 3), 0.05), _points(Setting(10, 3, is_by_mean=True, score_range=4), 0.05)
    ('5 points', '0.2 points')
    """
    return count_of(round(difference * _unit(setting), 2 if setting.is_by_mean else 1), "point")


def _unit(setting: Setting) -> float:
    """Return how many points the largest difference has: those of the scale, or of a hundred."""
    return setting.score_range if setting.is_by_mean else 100


def _measure(setting: Setting) -> str:
    if setting.is_comparison:
        return "wins minus losses"
    return "the mean" if setting.is_by_mean else "good"


def _assumed_shares(setting: Setting) -> str:
    shares = [f"{share:.0%}" for share in setting.proportions]
    if setting.is_comparison:
        return f"of two equal models, {shares[1]} ties" if len(shares) > 2 else "no ties"
    if setting.is_by_mean:
        return f"{', '.join(shares)} of the ratings at the points from the best to the worst"
    return ", ".join(f"{share} {name}" for share, name in zip(shares, ("good", "okay", "bad"), strict=False))


def _what_decides(plan: Plan) -> str:
    if plan.setting.is_by_sequence:
        return "the confidence sequence that decides in the results, at the end of the study"
    return "the test that decides in the results"


def plan_as_json(found: Plan | None, currency: str) -> dict[str, Any]:
    """Return the plan as JSON for a page; empty if there is no plan."""
    if found is None:
        return {}
    setting = found.setting
    effects, pairs = setting.effects, setting.pairs
    return {
        "dialogs": f"{setting.dialogs:,}",
        "is_part": setting.line_ups > 1,
        "measure": _measure(setting),
        "raters": found.setting.raters,
        "hits": f"{found.hits:,}",
        "total": money(found.cost.total_cents, currency),
        "detectable": None if found.detectable is None else _points(setting, found.detectable),
        "rows": [
            {
                "points": _points(setting, power.difference),
                "percent": round(power.power * 100),
                "low": round(power.low * 100),
                "high": round(power.high * 100),
            }
            for power in found.curve
        ],
        "stopping": _stopping_words(found),
        "assumptions": (
            f"Assumed: {_assumed_shares(setting)}; {effects.dialog:.0%} of the spread from the "
            f"dialog, {effects.reply:.0%} from the reply, {effects.worker:.0%} from the worker, {effects.taste:.0%} "
            f"from the worker's taste; {count_of(found.setting.worker_count, 'equally busy worker')}; "
            f"{_what_decides(found)}, corrected for {count_of(pairs, 'pair')} of models. The command plan_study takes "
            "other assumptions."
        ),
    }
