"""Defines what a statistic can be: a number with its 95 % interval, or undefined, with the reason.

It is never NaN, and never a made-up 0.
"""

from dataclasses import dataclass

CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959963984540054  # of .975
EVERYTHING_POSSIBLE = "it would hold every possible difference"
ALPHA = 0.05  # two generators are different if the corrected p-value is not above it


@dataclass(frozen=True)
class Undefined:
    """A statistic that can't be computed. `reason` is for the researcher, and continues after "undefined: "."""

    reason: str


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    value: float
    interval: Interval | Undefined
