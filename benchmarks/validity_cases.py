"""Simulates the cases in which an audit found the statistics wrong, and measures intervals, tests and warnings in them.

benchmarks.validity runs it. Taste is what a worker likes about one model more than others do, as a share of the latent
variance. An interval must hold the truth in at least 93 % of the studies. The test that decides may find any difference
between equal models in at most 6 % of them; with three raters of everything in at most 10 %, and with a warning. Two
cases are older than the audit, and keep their stricter limits: at most 97 % for intervals, at most 5 % for the test.

Shares, mean scores, differences and superiority have truths by formula. Those of agreement, strengths and the deviation
between workers come from a study that is a hundred times as large.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.validity_table import Limit, Line
from hits.stats import (
    SHARE_OF_BEST,
    CodedRatings,
    Comparison,
    Effects,
    Estimate,
    Interval,
    Plan,
    Undefined,
    agreement,
    code_ratings,
    compare_generators,
    rank_generators,
    table_rows,
    worker_effect,
)
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

LEAST_COVERED = 0.93
MOST_FALSE, MOST_FALSE_OF_THREE_RATERS = 0.06, 0.10
SCORES = (3, 2, 1)
USUAL = dict.fromkeys("ABC", (0.32, 0.31, 0.37))
APART = {"A": (0.25, 0.30, 0.45), "B": (0.32, 0.31, 0.37), "C": (0.40, 0.30, 0.30)}
RARE = dict.fromkeys("ABC", (0.02, 0.30, 0.68))
DEVIATION = "deviation between workers"
LARGE = (20_000, 4_000)  # dialogs and workers of the study whose results count as the truth

Shares = dict[str, tuple[float, float, float]]
Estimates = dict[str, list[Estimate | Undefined]]  # by what they are of
Over = Callable[..., list[Any]]  # runs a function over the seeds of the studies


@dataclass(frozen=True)
class Case:
    """`activity` is how unevenly workers take HITs (simulated_crowd.drawing): 1 is usual, and at 2 the busiest of 30
    does about a quarter of the work, as under Zipf's law. With `is_split`, no worker rates two models, but for a share
    `overlap` of the dialogs, in which all workers rate everything. With `is_compared`, each worker compares two of the
    replies to a dialog instead of rating them."""

    name: str
    taste: float = 0.0
    dialogs: int = 150
    workers: int = 30
    raters: int = 4
    activity: float = 1.0
    shares: tuple[tuple[str, tuple[float, float, float]], ...] = tuple(USUAL.items())
    most_false: float = MOST_FALSE
    most_covered: float = 1.0
    is_warned: bool = False  # whether the results must warn about raters
    is_split: bool = False
    overlap: float = 0.0
    is_compared: bool = False

    @property
    def truth(self) -> Truth:
        return Truth(generators=dict(self.shares), effects=Effects(taste=self.taste))

    @property
    def are_equal(self) -> bool:
        return len({shares for _, shares in self.shares}) == 1


CASES = (
    Case("models apart", shares=tuple(APART.items()), most_covered=0.97),
    Case("no taste", most_false=0.05),
    Case("taste 2 %", taste=0.02),
    Case("taste 5 %", taste=0.05),
    Case("taste 10 %", taste=0.10),
    Case("Zipf loads, taste 5 %", taste=0.05, activity=2.0),
    Case("three raters, taste 5 %", 0.05, workers=3, raters=3, most_false=MOST_FALSE_OF_THREE_RATERS, is_warned=True),
    Case("five raters, taste 5 %", 0.05, workers=5, raters=5, is_warned=True),
    Case("a share of .02, taste 5 %", 0.05, shares=tuple(RARE.items())),
    Case("60 dialogs, 12 workers, no taste", dialogs=60, workers=12, most_false=0.05),
    Case("20 dialogs, 12 workers, taste 5 %", 0.05, dialogs=20, workers=12),
    Case("different raters, taste 5 %", 0.05, workers=90, is_split=True),
    # Side by side in hardly any dialogs (4 of 150, 12), in enough to be compared there, and in most.
    *(
        Case(f"partial overlap {overlap:.0%}, taste 5 %", 0.05, workers=90, is_split=True, overlap=overlap)
        for overlap in (0.025, 0.08, 0.2, 0.65)
    ),
    Case("win rate, taste 5 %", 0.05, is_compared=True),
    Case("win rate, 30 dialogs, taste 5 %", 0.05, dialogs=30, workers=12, is_compared=True),
)


def case_lines(case: Case, over: Over) -> Iterator[Line]:
    true = truths(Case("truth", case.taste, *LARGE, shares=case.shares, is_compared=case.is_compared))
    studies = over(partial(_study, case, true))
    for name in studies[0].held:
        most = 1.0 if name == DEVIATION else case.most_covered  # it was not measured before the audit
        limit = Limit(LEAST_COVERED, most, is_coverage=True)
        yield Line.of_studies(case.name, f"intervals: {name}", [study.held[name] for study in studies], limit)
    if case.are_equal:
        for name in studies[0].is_found:
            found = [study.is_found[name] for study in studies]
            yield Line.of_studies(case.name, name, found, Limit(most=case.most_false))
    if case.is_warned:
        warned = [study.is_warned for study in studies]
        yield Line.of_studies(case.name, "warned about few raters", warned, Limit(least=1.0))


@dataclass(frozen=True)
class _Study:
    held: dict[str, list[bool]]
    is_found: dict[str, bool]
    is_warned: bool


def _study(case: Case, true: dict[str, list[float]], seed: int) -> _Study:
    ratings = draw(case, seed)
    estimates, is_found, is_warned = _estimates(case, ratings)
    held = {
        name: [holds(one, truth) for one, truth in zip(some, true[name], strict=True)]
        for name, some in estimates.items()
    }
    return _Study(held, is_found, is_warned)


def draw(case: Case, seed: int) -> CodedRatings:
    size = StudySize({"ED": case.dialogs}, [name for name, _ in case.shares], case.workers, case.raters, checkpoints=0)
    frame = draw_frames(Drawing(size, case.truth, activity=case.activity), seed).ratings
    if case.is_split:
        is_overlap = frame["dialog"].rank(method="dense") <= round(case.overlap * case.dialogs)
        is_own = frame["worker"].cat.codes % len(case.shares) == frame["generator"].cat.codes
        frame = frame[is_own | is_overlap]
    return code_ratings(_compared(frame) if case.is_compared else frame)


def _compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what workers would say of two replies, whose opinions they have of each: one pair in each answer, and each
    pair equally often."""
    names = list(frame["generator"].cat.categories)
    pairs = list(combinations(names, 2))
    answers = frame.pivot_table(index=["dialog", "worker"], columns="generator", values="score", observed=True)
    answers = answers.reset_index()
    chosen = [pairs[(row + dialog) % len(pairs)] for row, dialog in enumerate(answers["dialog"])]
    first, second = (pd.Categorical(column, categories=names) for column in zip(*chosen, strict=True))
    scores = answers[names].to_numpy()
    rows = np.arange(len(scores))
    gain = np.sign(scores[rows, first.codes] - scores[rows, second.codes])
    words = ["first better", "both alike", "second better"]
    return answers[["dialog", "worker"]].assign(
        dataset="ED",
        generator=first,
        opponent=second,
        value=pd.Categorical.from_codes((1 - gain).astype(np.int64), pd.Index(words)),
        score=gain,
    )


def _estimates(case: Case, ratings: CodedRatings) -> tuple[Estimates, dict[str, bool], bool]:
    """Return every interval of these ratings by its name, whether a difference is found, and the warning. Models that
    are partly compared by different raters are compared twice, by their mean scores and by their shares of good."""
    [table] = compare_generators(ratings)
    is_found = any(one.is_different for one in table.comparisons)
    is_warned = any("workers who rate equally much" in warning for warning in table.warnings)
    if case.is_compared:
        return _of_comparisons(case, ratings, table.comparisons), {"any difference found": is_found}, is_warned
    found = _of_ratings(case, ratings, table.comparisons)
    [by_share] = compare_generators(ratings, plan=Plan(SHARE_OF_BEST))
    tests = {"any difference found": is_found}
    if case.is_split:
        tests["any difference of good found"] = any(one.is_different for one in by_share.comparisons)
    return found, tests, is_warned


def _of_comparisons(case: Case, ratings: CodedRatings, pairs: Sequence[Comparison]) -> Estimates:
    return {
        "difference of win rates": [one.difference for one in pairs],
        "superiority": [one.superiority for one in pairs],
        "win rate": [row.win_rate for row in table_rows(ratings)],
        "Bradley-Terry strength": _strengths(case, ratings),
    }


def _strengths(case: Case, ratings: CodedRatings) -> list[Estimate | Undefined]:
    ranked = rank_generators(ratings, "ED").ranked
    by_name = {} if isinstance(ranked, Undefined) else {one.generator: one.strength for one in ranked}
    return [by_name.get(name, Undefined("there is no ranking")) for name, _ in case.shares]


def _of_ratings(case: Case, ratings: CodedRatings, pairs: Sequence[Comparison]) -> Estimates:
    rows = [row for row in table_rows(ratings) if not isinstance(row.shares, Undefined)]
    found: Estimates = {
        f"share of {word}": [
            Estimate(row.shares[place].share, row.shares[place].interval)
            for row in rows
            if not isinstance(row.shares, Undefined)
        ]
        for place, word in enumerate(ratings.values)
    }
    found["mean score"] = [row.mean_score for row in rows]
    found["difference of scores"] = [one.score_difference for one in pairs]
    found["difference of good"] = [one.best_difference for one in pairs]
    if not case.is_split:
        found["superiority"] = [one.superiority for one in pairs]
        found["Bradley-Terry strength"] = _strengths(case, ratings)
        agreed = agreement(ratings.cards)
        found["alpha, nominal"], found["alpha, ordinal"] = [agreed.alpha_nominal], [agreed.alpha_ordinal]
        found["alpha, interval"], found["Fleiss' kappa"] = [agreed.alpha_interval], [agreed.fleiss_kappa]
        found["raw agreement"] = [agreed.raw]
        found[DEVIATION] = [worker_effect(ratings).deviation]
    return found


@lru_cache
def truths(large: Case) -> dict[str, list[float]]:
    """Return the truth of each interval, by formula where there is one, or else as this large study has it."""
    estimates, _, _ = _estimates(large, draw(large, 999))
    true = {name: [one.value for one in some if isinstance(one, Estimate)] for name, some in estimates.items()}
    if large.is_compared:  # all models are equal
        return {name: [0.0 if "difference" in name or "strength" in name else 0.5] * 3 for name in true}
    shares = [shares for _, shares in large.shares]
    means = [float(np.dot(one, SCORES)) for one in shares]
    for place, name in enumerate(("share of good", "share of okay", "share of bad")):
        true[name] = [one[place] for one in shares]
    true["mean score"] = means
    true["difference of scores"] = [means[one] - means[other] for one, other in ((0, 1), (0, 2), (1, 2))]
    true["difference of good"] = [shares[one][0] - shares[other][0] for one, other in ((0, 1), (0, 2), (1, 2))]
    if large.are_equal:
        true["superiority"], true["Bradley-Terry strength"] = [0.5] * 3, [0.0] * 3
    return true


def holds(found: Estimate | Undefined, truth: float) -> bool:
    """Say whether the interval holds the truth. An interval that is undefined holds nothing."""
    if isinstance(found, Undefined) or not isinstance(interval := found.interval, Interval):
        return False
    return interval.low <= truth <= interval.high
