"""A planner's question about a study: answered at once where that takes a second, else by a background process.

In: a study, and the difference that is wanted, as it was typed. Out: a plan. Guaranteed: the same question about the
same design has the same answer; `is_quick` costs nothing, however large the study is.
"""

import hashlib
import json
from typing import Any

from evalplatform.errors import EvalPlatformError
from hits.designing.design_problems import check_draft
from hits.designing.power_planning import Plan, plan_for_difference, plan_for_size
from hits.designing.sizing import size_of_batches
from hits.models import Study
from hits.models.design import StudyDesign
from hits.stats import Setting

# Measured: 1 s for 4,000 dialogs of 4 raters; and for 4 points, which take some 750 dialogs, of which 6,000 studies
# are simulated. Half a point less takes twice as long.
MOST_RATINGS_AT_ONCE = 12_000
SMALLEST_DIFFERENCE_AT_ONCE = 0.045


def is_quick(study: Study, difference: str) -> bool:
    """By the numbers in the draft: even checking a large one takes seconds."""
    hits = study.design.get("hits")
    raters = hits.get("assignments", 4) if isinstance(hits, dict) else 4
    parts = study.design.get("datasets")
    asked = [part.get("dialogs") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    dialogs = sum(count for count in asked if isinstance(count, int))
    is_small = isinstance(raters, int) and dialogs * raters <= MOST_RATINGS_AT_ONCE
    try:
        return is_small and (not difference or float(difference) / 100 >= SMALLEST_DIFFERENCE_AT_ONCE)
    except ValueError:
        return is_small  # it will be refused


def question_of(study: Study, difference: str) -> str:
    design = json.dumps(study.design, sort_keys=True)
    return hashlib.sha256(f"{difference} {design}".encode()).hexdigest()


def plan(study: Study, difference: str) -> Plan | None:
    """None: no study of a size that can be simulated finds so small a difference."""
    checked = check_draft(study.design)
    if checked.problems:
        raise EvalPlatformError("Solve the study's problems first.")
    design = study.parsed_design
    if len(design.generators) < 2:
        raise EvalPlatformError("A difference takes two models; this study has one.")
    try:
        return _plan(design, difference, sum(len(one.dialogs) for one in checked.selections))
    except (ValueError, OverflowError) as error:
        raise EvalPlatformError(str(error)) from error


def _plan(design: StudyDesign, wanted: str, chosen_count: int) -> Plan | None:
    setting = Setting(
        dialogs=size_of_batches(design, chosen_count).dialog_count,
        raters=design.hits.assignments,
        generators=len(design.generators),
        dialogs_per_hit=design.hits.dialogs_per_hit,
    )
    pay = (design.pay.reward_cents, design.pay.bonus_cents)
    if not wanted:
        return plan_for_size(setting, *pay)
    try:
        difference = float(wanted) / 100
    except ValueError:
        raise ValueError(f"{wanted!r} is no number of points.") from None
    return plan_for_difference(setting, difference, *pay)


def describe(found: Plan | None) -> dict[str, Any]:
    """As JSON, for a page. Empty if there is none."""
    if found is None:
        return {}
    good, okay, bad = found.setting.proportions
    effects, pairs = found.setting.effects, found.setting.pairs
    return {
        "dialogs": f"{found.setting.dialogs:,}",
        "raters": found.setting.raters,
        "hits": f"{found.hits:,}",
        "total": f"${found.cost.total_cents / 100:,.2f}",
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
        "assumptions": (
            f"Assumed: {good:.0%} good, {okay:.0%} okay, {bad:.0%} bad; {effects.dialog:.0%} of the spread from the "
            f"dialog, {effects.reply:.0%} from the reply, {effects.worker:.0%} from the worker; a t test over dialogs, "
            f"corrected for {pairs} pairs of models. The command plan_study takes other assumptions."
        ),
    }
