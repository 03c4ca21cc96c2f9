"""What a statistic may be: a number with its 95 % interval, or undefined, with the reason. Never NaN, never a made-up
0."""

from dataclasses import dataclass

CONFIDENCE = 0.95
ALPHA = 0.05  # below it a corrected p-value counts as a difference


@dataclass(frozen=True)
class Undefined:
    """`reason` is for the researcher, and reads on after "undefined: "."""

    reason: str


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    value: float
    interval: Interval | Undefined


Number = float | Undefined
Estimated = Estimate | Undefined
