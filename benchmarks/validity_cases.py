"""Simulates the cases in which an audit found the statistics wrong, and measures intervals, tests and warnings in them.

benchmarks.validity runs it. In every case three models are equally good, so that each truth has a formula: the shares,
the mean score, a difference of 0 and a superiority of 1/2. Taste is what a worker likes about one model more than
others do, as a share of the latent variance. An interval must hold the truth in at least 93 % of the studies, and one
that holds it in more than 97.5 % is called conservative. The test that decides may find any difference in at most 6 %.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hits.stats import Effects, Estimate, Interval, Undefined, code_ratings, compare_generators, table_rows
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

LEAST_COVERED, CONSERVATIVE = 0.93, 0.975
MOST_FALSE, MOST_FALSE_OF_THREE_RATERS = 0.06, 0.10
USUAL = (0.32, 0.31, 0.37)
SCORES = (3, 2, 1)


@dataclass(frozen=True)
class Case:
    """`activity` is how unevenly workers take HITs (simulated_crowd.drawing): 1 is usual, and at 2 the busiest of 30
    does about a quarter of the work, as under Zipf's law."""

    name: str
    taste: float = 0.0
    dialogs: int = 150
    workers: int = 30
    raters: int = 4
    activity: float = 1.0
    shares: tuple[float, float, float] = USUAL
    most_false: float = MOST_FALSE
    is_warned: bool = False  # whether the results must warn about raters


CASES = (
    Case("no taste"),
    Case("taste 2 %", taste=0.02),
    Case("taste 5 %", taste=0.05),
    Case("taste 10 %", taste=0.10),
    Case("Zipf's loads, taste 5 %", taste=0.05, activity=2.0),
    Case(
        "three crossed raters, taste 5 %",
        taste=0.05,
        workers=3,
        raters=3,
        most_false=MOST_FALSE_OF_THREE_RATERS,
        is_warned=True,
    ),
    Case("five crossed raters, taste 5 %", taste=0.05, workers=5, raters=5, is_warned=True),
    Case("a share of .02, taste 5 %", taste=0.05, shares=(0.02, 0.30, 0.68)),
    Case("20 dialogs, 12 workers, taste 5 %", taste=0.05, dialogs=20, workers=12),
)
# The case of ten looks at a growing study belongs to the confidence sequence, and has a function of its own there.


def audited_cases(over: Callable[..., list[Any]], told: Callable[[str, str, bool, str], list[str]]) -> list[str]:
    """Measure every case and return the limits that are broken. `over` runs a function over the seeds of the studies,
    `told` prints a line."""
    broken: list[str] = []
    for case in CASES:
        studies = over(partial(_study, case))
        print(f"\n{case.name}: {len(studies)} studies of {case.dialogs} dialogs, {case.workers} workers")
        for name in studies[0].held:
            share = float(np.mean([one for study in studies for one in study.held[name]]))
            limit = f"at least {LEAST_COVERED:.0%}" + (", conservative" if share > CONSERVATIVE else "")
            broken += told(f"intervals of {name}", f"{share:.1%}", share >= LEAST_COVERED, limit)
        false = float(np.mean([study.is_false for study in studies]))
        broken += told(
            "any difference found", f"{false:.1%}", false <= case.most_false, f"at most {case.most_false:.0%}"
        )
        if case.is_warned:
            warned = float(np.mean([study.is_warned for study in studies]))
            broken += told("warned about few raters", f"{warned:.0%}", warned == 1, "always")
    return broken


@dataclass(frozen=True)
class _Study:
    held: dict[str, list[bool]]
    is_false: bool
    is_warned: bool


def _study(case: Case, seed: int) -> _Study:
    truth = Truth(generators=dict.fromkeys("ABC", case.shares), effects=Effects(taste=case.taste))
    size = StudySize({"ED": case.dialogs}, "ABC", case.workers, raters=case.raters, checkpoints=0)
    ratings = code_ratings(draw_frames(Drawing(size, truth, activity=case.activity), seed).ratings)
    [table] = compare_generators(ratings)
    rows = [row for row in table_rows(ratings) if not isinstance(row.shares, Undefined)]
    mean = float(np.dot(case.shares, SCORES))
    held: dict[str, list[bool]] = {
        f"the share of {word}": [
            _holds(row.shares[place].interval, case.shares[place])
            for row in rows
            if not isinstance(row.shares, Undefined)
        ]
        for place, word in enumerate(ratings.values)
    }
    held["mean scores"] = _held([row.mean_score for row in rows], mean)
    held["differences of scores"] = _held([one.score_difference for one in table.comparisons], 0)
    held["differences of the share of good"] = _held([one.best_difference for one in table.comparisons], 0)
    held["superiority"] = _held([one.superiority for one in table.comparisons], 0.5)
    is_warned = any("workers who rate equally much" in warning for warning in table.warnings)
    return _Study(held, any(one.is_different for one in table.comparisons), is_warned)


def _held(estimates: Sequence[Estimate | Undefined], truth: float) -> list[bool]:
    return [isinstance(one, Estimate) and _holds(one.interval, truth) for one in estimates]


def _holds(interval: Interval | Undefined, truth: float) -> bool:
    return isinstance(interval, Interval) and interval.low <= truth <= interval.high
