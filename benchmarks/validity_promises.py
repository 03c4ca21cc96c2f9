"""Measures what studies are promised: the planner's power, the order of a ranking, table 5 within its intervals.

benchmarks.validity runs it. Power is planned (hits.stats.power) and then reached by the test that decides in the
results, with as many equally busy workers as planned. Table 5 is simulated as the truth of a crowd with spammers.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from scipy.special import ndtr, ndtri

from benchmarks.validity_cases import Over
from benchmarks.validity_table import Limit, Line
from hits.screening import every_rule
from hits.screening.rules import apply_rules
from hits.stats import (
    CodedRatings,
    Effects,
    Interval,
    Plan,
    Setting,
    Undefined,
    code_ratings,
    compare_generators,
    power_curve,
    rank_generators,
    table_rows,
)
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth, read_truth
from simulated_crowd.worker_types import USUAL_SHARES

POWER_WITHIN = 0.05
LEAST_ORDERED = 0.95
LEAST_WITHIN = 0.90  # of table 5, after screening by the paper's rules, which let some spammers pass
SIMULATIONS = 10_000
TABLE5_STUDIES = 60  # a study's 36 numbers come from the same workers, so few studies would say little

POWER_AT = {
    "100 dialogs, taste 5 %, 10 points": (Setting(dialogs=100, raters=4), 0.10),
    "100 dialogs, no taste, 10 points": (Setting(dialogs=100, raters=4, effects=Effects()), 0.10),
    "100 dialogs, taste 10 %, 10 points": (Setting(dialogs=100, raters=4, effects=Effects(taste=0.1)), 0.10),
    "30 dialogs, taste 5 %, 20 points": (Setting(dialogs=30, raters=3, workers=12), 0.20),
    "five raters, taste 5 %, 15 points": (Setting(dialogs=150, raters=5, workers=5), 0.15),
}
APART = Truth(generators={"A": (0.2, 0.3, 0.5), "B": (0.3, 0.3, 0.4), "C": (0.4, 0.3, 0.3), "D": (0.5, 0.3, 0.2)})
TABLE5 = read_truth("table5")


def power_lines(over: Over) -> Iterator[Line]:
    for name, (setting, difference) in POWER_AT.items():
        [planned] = power_curve(setting, [difference], SIMULATIONS)
        limit = Limit(planned.power - POWER_WITHIN, planned.power + POWER_WITHIN)
        line = Line.of_studies(name, f"power; planned {planned.power:.1%}", over(partial(_found, name)), limit)
        # The plan is simulated too, and has an error of its own.
        error = math.hypot(line.error, math.sqrt(planned.power * (1 - planned.power) / SIMULATIONS))
        yield Line(line.case, line.what, line.value, error, line.studies, limit)


def _found(name: str, seed: int) -> bool:
    """Return whether the difference is found by the planned outcome."""
    setting, difference = POWER_AT[name]
    truth = Truth(generators={"A": setting.proportions, "B": _shifted(setting, difference)}, effects=setting.effects)
    size = StudySize({"ED": setting.dialogs}, "AB", setting.worker_count, setting.raters, checkpoints=0)
    ratings = code_ratings(draw_frames(Drawing(size, truth, activity=0.0), seed).ratings)
    [table] = compare_generators(ratings, plan=Plan(setting.outcome))
    return any(one.is_different for one in table.comparisons)


def _shifted(setting: Setting, difference: float) -> tuple[float, float, float]:
    """Shift the latent opinion as the planner does (hits.stats.simulated_studies)."""
    good, _, bad = setting.proportions
    shift = ndtri(good + difference) - ndtri(good)
    lower = float(ndtr(ndtri(bad) - shift))
    return good + difference, 1 - good - difference - lower, lower


def order_lines(over: Over) -> Iterator[Line]:
    case = "four models ten points apart"
    yield Line.of_studies(case, "Bradley-Terry in the true order", over(_is_ordered), Limit(least=LEAST_ORDERED))


def _is_ordered(seed: int) -> bool:
    size = StudySize({"ED": 150}, "ABCD", 30, checkpoints=0)
    ranked = rank_generators(code_ratings(draw_frames(Drawing(size, APART), seed).ratings), "ED").ranked
    return not isinstance(ranked, Undefined) and [one.generator for one in ranked] == ["D", "C", "B", "A"]


def table5_lines(over: Over) -> Iterator[Line]:
    case = "table 5, 14 % spammers"
    studies = over(_within, TABLE5_STUDIES)
    yield Line.of_studies(case, "its 36 numbers, everybody", [one for one, _ in studies], Limit())
    screened = [one for _, one in studies]
    yield Line.of_studies(case, "its 36 numbers, the paper's rules", screened, Limit(least=LEAST_WITHIN))


def _within(seed: int) -> tuple[list[bool], list[bool]]:
    """Return which of table 5's 36 numbers lie in their intervals: with everybody's ratings, and after screening."""
    generators = list(TABLE5.datasets["OS"].generators)
    size = StudySize(dict.fromkeys(TABLE5.datasets, 2000), generators, 240, checkpoint_dataset="ED")
    frames = draw_frames(Drawing(size, TABLE5, USUAL_SHARES), seed)
    rules = [rule for rule in every_rule() if rule.is_default]
    findings = [one for found in apply_rules(frames, rules) for one in found]
    workers = {one.worker for one in findings if one.submission is None}
    single = {one.submission for one in findings if one.submission is not None}
    is_out = frames.ratings["worker"].isin(workers) | frames.ratings["submission"].isin(single)
    return _held(code_ratings(frames.ratings)), _held(code_ratings(frames.ratings[~is_out]))


def _held(ratings: CodedRatings) -> list[bool]:
    held: list[bool] = []
    for row in table_rows(ratings):
        if row.dataset is not None and row.generator is not None and not isinstance(row.shares, Undefined):
            truths: Sequence[float] = TABLE5.shares(row.dataset, row.generator)
            held += [
                isinstance(share.interval, Interval) and share.interval.low <= truth <= share.interval.high
                for share, truth in zip(row.shares, truths, strict=True)
            ]
    return held
