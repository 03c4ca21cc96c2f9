"""Plans how large a study must be to find a difference between models, with its power and cost.

What comes in: a setting, what an assignment pays, and the crowd's fees. What goes out: a plan with its power, its HITs
and its worst-case cost. What is guaranteed: the database is neither read nor written, and the same seed gives the same
plan.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hits.crowds import Cost, Fees
from hits.stats import (
    DIFFERENCES,
    SIMULATIONS,
    Power,
    Setting,
    Stopped,
    detectable_difference,
    dialogs_needed,
    power_curve,
    simulate_stopping,
)

# The standard error of a power of 80 % is .9 points then: the size that is found varies by some 2 %.
FEWEST_SIMULATIONS_FOR_A_SIZE = 2_000
STOPPING_GAIN = 0.15  # what one model is assumed to be better by, where the planner says how many ratings are needed
STOPPING_STUDIES = 50
MOST_ANSWERS_SIMULATED = 100_000  # of one study; a larger one is not simulated whole
MOST_MODELS_SIMULATED = 8
TOO_LARGE_TO_STOP = (
    "How many ratings it needs with stopping can't be simulated: that is done up to "
    f"{MOST_ANSWERS_SIMULATED:,} ratings and {MOST_MODELS_SIMULATED} models."
)


@dataclass(frozen=True)
class Plan:
    """A study's size, what it can find, and what it costs."""

    setting: Setting
    curve: list[Power]
    detectable: float | None  # None if it would not find even the largest possible difference
    hits: int
    cost: Cost
    # How the study would end if it may stop, with one model better by `STOPPING_GAIN`; None if it is too large.
    stopping: Stopped | None = None


def plan_for_size(
    setting: Setting,
    reward_cents: int,
    bonus_cents: int,
    fees: Fees,
    power: float = 0.8,
    *,
    simulations: int = SIMULATIONS,
    seed: int = 1,
) -> Plan:
    """Return what a study of this size finds with the given power, and what it costs."""
    detectable = detectable_difference(setting, power, simulations, seed)
    possible = {difference for difference in DIFFERENCES if difference <= setting.largest_difference}
    # The curve includes the point where it crosses the wanted power, which may lie far below the usual differences.
    shown = sorted(possible | ({detectable} if detectable else set()))
    assignments_of_hits = _assignments_of_hits(setting, fees)
    return Plan(
        setting=setting,
        curve=power_curve(setting, shown, simulations, seed),
        detectable=detectable,
        hits=sum(assignments_of_hits.values()),
        cost=fees.worst_case_cost(reward_cents, bonus_cents, assignments_of_hits),
    )


def plan_for_difference(
    setting: Setting,
    difference: float,
    reward_cents: int,
    bonus_cents: int,
    fees: Fees,
    power: float = 0.8,
    *,
    simulations: int = SIMULATIONS,
    seed: int = 1,
) -> Plan | None:
    """Return the smallest plan that finds the difference; `dialogs` of the setting is replaced by the number needed.

    Returns None if no study of a size that we simulate would find it.
    """
    many = max(simulations, FEWEST_SIMULATIONS_FOR_A_SIZE)
    dialogs = dialogs_needed(setting, difference, power, simulations=many, seed=seed)
    if dialogs is None:
        return None
    needed = replace(setting, dialogs=dialogs)
    # Use other random numbers than those that chose the size, or a size that was merely lucky with them would pass.
    return plan_for_size(needed, reward_cents, bonus_cents, fees, power, simulations=simulations, seed=seed + 1)


def plan_stopping(
    setting: Setting,
    drops: bool,
    equal_within: float = 0.0,
    looks: int = 10,
    *,
    pairs: Sequence[tuple[int, int]] = (),
    reference: int | None = None,
) -> Stopped | None:
    """Return how a study that may stop by itself would end if one model is better than all others; None if it is too
    large to be simulated, or compares replies, where nobody loses all pairs at once. `pairs` are the primary ones, by
    the models' indexes: the second model of the first pair is the better one, so that the family has something to
    find."""
    if setting.is_comparison or setting.dialogs * setting.raters * setting.generators > MOST_ANSWERS_SIMULATED:
        return None
    if setting.generators > MOST_MODELS_SIMULATED:
        return None
    gains = [0.0] * setting.generators
    gains[pairs[0][1] if pairs else -1] = min(STOPPING_GAIN, setting.largest_difference)
    return simulate_stopping(
        setting,
        gains,
        STOPPING_STUDIES,
        looks,
        drops=drops,
        equal_within=equal_within,
        pairs=pairs,
        reference=reference,
    )


def _assignments_of_hits(setting: Setting, fees: Fees) -> dict[int, int]:
    """Return {assignments a HIT: number of such HITs}."""
    blocks = math.ceil(round(setting.dialogs * setting.line_ups, 6) / setting.dialogs_per_hit)
    return {size: count * blocks for size, count in Counter(fees.split_assignments(setting.raters)).items()}
