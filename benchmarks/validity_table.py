"""Decides whether a measured number keeps its limit, and prints one table of all of them.

How that is decided was fixed before anything was measured. A number is a share of simulated studies, with a Monte Carlo
standard error that takes a study's several intervals together. It is read twice:

    by the number   met if the number itself keeps the limit, missed otherwise
    beyond chance   BROKEN if the limit also lies outside of the number's 95 % interval (Wilson's, with as many trials
                    as the standard error is worth); "may be chance" if it lies inside

A broken limit ends the benchmark with an error. Coverage above 97.5 % breaks nothing, and is called conservative.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hits.stats import wilson_interval

CONSERVATIVE = 0.975
MET, BY_CHANCE, BROKEN = "met", "missed, may be chance", "BROKEN"


@dataclass(frozen=True)
class Limit:
    least: float = 0.0
    most: float = 1.0
    is_coverage: bool = False

    @property
    def words(self) -> str:
        if self.least > 0 and self.most < 1:
            return f"{self.least:.1%} to {self.most:.1%}"
        if self.least > 0:
            return f"at least {self.least:.1%}"
        return f"at most {self.most:.1%}" if self.most < 1 else "no limit"


@dataclass(frozen=True)
class Line:
    """A measured number of a case. `error` is its Monte Carlo standard error, `studies` how many it comes from."""

    case: str
    what: str
    value: float
    error: float
    studies: int
    limit: Limit

    @staticmethod
    def of_studies(case: str, what: str, by_study: Sequence[Sequence[bool] | bool], limit: Limit) -> "Line":
        """Make a line of what held in each study, which may be several things. Studies without any count for
        nothing."""
        told = [(sum(some), len(some)) for some in map(np.atleast_1d, by_study) if len(some)]
        if not told:
            return Line(case, what, math.nan, math.nan, 0, limit)
        held, counts = np.array(told, np.float64).T
        value = float(held.sum() / counts.sum())
        # The deviation of a ratio: a study's things belong together.
        error = float(np.sqrt(((held - value * counts) ** 2).sum() / max(len(held) - 1, 1) * len(held)) / counts.sum())
        return Line(case, what, value, error, len(told), limit)

    @property
    def interval(self) -> tuple[float, float]:
        if self.error == 0:
            return wilson_interval(self.value, self.studies)
        trials = self.value * (1 - self.value) / self.error**2
        return wilson_interval(self.value, max(1, round(trials)))

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return BROKEN  # what was never computed was never checked
        if self.limit.least <= self.value <= self.limit.most:
            return MET
        low, high = self.interval
        return BROKEN if high < self.limit.least or low > self.limit.most else BY_CHANCE

    @property
    def words(self) -> str:
        is_conservative = self.limit.is_coverage and self.value > CONSERVATIVE
        return self.verdict + (", conservative" if is_conservative else "")


def print_heading() -> None:
    print(f"{'case':36}{'what':40}{'number':>8} {'+- error':>9}   {'limit':18}by the number, beyond chance")


def print_line(line: Line) -> None:
    row = f"{line.case:36}{line.what:40}{line.value:>8.1%} {line.error:>9.1%}   {line.limit.words:18}"
    print(row + line.words, flush=True)


def told(lines: Iterable[Line]) -> list[Line]:
    """Print lines as they come, and return them."""
    found = []
    for line in lines:
        print_line(line)
        found.append(line)
    return found
