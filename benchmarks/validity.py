"""Check whether the statistics are right, on simulated studies with a known truth.

python -m benchmarks.validity [--studies 400]

In these studies, dialogs, replies and workers have effects on ratings (hits.stats.power, Effects), and few workers do
most of the work. We print how often 95 % intervals contain the truth; how often the corrected tests find a difference
that does not exist; the power beside the planner's promise; how often the Bradley-Terry ranking is in the true order;
and how many of table 5's numbers lie within their intervals if that table is the truth and some workers are spammers.
benchmarks.audited_cases adds the cases in which an audit found the first form wrong.
For truths that have no formula (alpha, superiority, strengths), we take those of a study a thousand times as large.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
django.setup()

from benchmarks.audited_cases import audited_cases  # noqa: E402
from hits.screening import every_rule  # noqa: E402
from hits.screening.rules import apply_rules  # noqa: E402
from hits.stats import (  # noqa: E402
    CodedRatings,
    Estimate,
    Interval,
    Plan,
    Setting,
    Undefined,
    agreement,
    code_ratings,
    compare_generators,
    rank_generators,
    table_rows,
)
from hits.stats.power import power_of  # noqa: E402
from simulated_crowd.drawing import Drawing, StudySize, draw_frames  # noqa: E402
from simulated_crowd.truths import Truth, read_truth  # noqa: E402
from simulated_crowd.worker_types import USUAL_SHARES  # noqa: E402

COVERED = (0.93, 0.97)
MOST_FALSE = 0.05
POWER_WITHIN = 0.05
LEAST_ORDERED = 0.95
LEAST_WITHIN = 0.90  # of table 5, after screening by the paper's rules, which let some spammers pass

TRUTH = Truth(generators={"A": (0.25, 0.30, 0.45), "B": (0.32, 0.31, 0.37), "C": (0.40, 0.30, 0.30)})
ALIKE = Truth(generators=dict.fromkeys("ABC", (0.32, 0.31, 0.37)))
APART = Truth(generators={"A": (0.2, 0.3, 0.5), "B": (0.3, 0.3, 0.4), "C": (0.4, 0.3, 0.3), "D": (0.5, 0.3, 0.2)})
TABLE5 = read_truth("table5")
EVERY = every_rule()
PAPER = [rule for rule in EVERY if rule.is_default]
POWER_AT = (Setting(dialogs=100, raters=4), 0.10)
TABLE5_STUDIES = 60  # a study's 36 numbers come from the same workers, so few studies would say little
FIRST_SEED = 1001  # the constants of hits.stats.clusters were chosen looking at seeds 1 to 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    count = parser.parse_args().studies
    with ProcessPoolExecutor(2) as pool:

        def over(work: Callable[[int], Any], studies: int = count) -> list[Any]:
            seeds = range(FIRST_SEED, FIRST_SEED + studies)
            return list(pool.map(work, seeds, chunksize=max(1, studies // 16)))

        parts = [
            _coverage(over),
            _false_findings(over),
            _power(over),
            _order(over),
            _table5(over),
            audited_cases(over, _told),
        ]
    if broken := [name for part in parts for name in part]:
        sys.exit("A limit is broken: " + "; ".join(broken) + ".")


def _draw(truth: Truth, dialogs: int, workers: int, seed: int) -> CodedRatings:
    size = StudySize({"ED": dialogs}, list(truth.generators), workers, checkpoints=0)
    return code_ratings(draw_frames(Drawing(size, truth), seed).ratings)


# --- Intervals -------------------------------------------------------------------------------------------------------


def _estimates(ratings: CodedRatings) -> dict[str, list[Estimate]]:
    [table] = compare_generators(ratings)
    ranking, agreed = rank_generators(ratings, "ED"), agreement(ratings.cards)
    rows = table_rows(ratings)
    found: dict[str, list[Any]] = {
        "shares (table 5)": [
            Estimate(share.share, share.interval)
            for row in rows
            if not isinstance(row.shares, Undefined)
            for share in row.shares
        ],
        "mean scores": [row.mean_score for row in rows],
        "differences of pairs": [one.difference for one in table.comparisons],
        "probability of superiority": [one.superiority for one in table.comparisons],
        "Bradley-Terry strengths": []
        if isinstance(ranking.ranked, Undefined)
        else [one.strength for one in sorted(ranking.ranked, key=lambda one: one.generator)],
        "alpha, nominal": [agreed.alpha_nominal],
        "alpha, ordinal": [agreed.alpha_ordinal],
        "alpha, interval": [agreed.alpha_interval],
        "Fleiss' kappa": [agreed.fleiss_kappa],
        "raw agreement": [agreed.raw],
    }
    return found


def _held(true: dict[str, list[float]], seed: int) -> dict[str, list[bool]]:
    found = _estimates(_draw(TRUTH, 150, 30, seed))
    return {
        name: [
            isinstance(one.interval, Interval) and one.interval.low <= truth <= one.interval.high
            for one, truth in zip(some, true[name], strict=True)
        ]
        for name, some in found.items()
    }


def _coverage(over: Callable[..., list[Any]]) -> list[str]:
    large = _estimates(_draw(TRUTH, 60_000, 12_000, 999))
    true = {name: [one.value for one in some] for name, some in large.items()}
    true["shares (table 5)"] = [share for name in "ABC" for share in TRUTH.generators[name]]
    studies = over(partial(_held, true))
    print(f"95 % intervals that hold the truth, {len(studies)} studies of 150 dialogs, 4 ratings each, 30 workers")
    broken = []
    for name in true:
        share = float(np.mean([study[name] for study in studies]))
        broken += _told(
            name, f"{share:.1%}", COVERED[0] <= share <= COVERED[1], f"{COVERED[0]:.0%} to {COVERED[1]:.0%}"
        )
    return broken


# --- Tests -----------------------------------------------------------------------------------------------------------


def _tested(truth: Truth, dialogs: int, workers: int, seed: int) -> bool:
    """Return whether the test that decides finds any difference."""
    [table] = compare_generators(_draw(truth, dialogs, workers, seed))
    return any(one.is_different for one in table.comparisons)


def _false_findings(over: Callable[..., list[Any]]) -> list[str]:
    broken = []
    for dialogs, workers in ((150, 30), (60, 12)):
        share = float(np.mean(over(partial(_tested, ALIKE, dialogs, workers))))
        print(f"\nStudies of three equal models in which any difference is found, {dialogs} dialogs, {workers} workers")
        broken += _told("permutation test", f"{share:.1%}", share <= MOST_FALSE, f"at most {MOST_FALSE:.0%}")
    return broken


def _found_as_planned(truth: Truth, setting: Setting, seed: int) -> bool:
    """Return whether the difference is found by the planned outcome, with as many equally busy workers as planned."""
    size = StudySize(
        {"ED": setting.dialogs}, list(truth.generators), setting.worker_count, setting.raters, checkpoints=0
    )
    ratings = code_ratings(draw_frames(Drawing(size, truth, activity=0.0), seed).ratings)
    [table] = compare_generators(ratings, plan=Plan(setting.outcome))
    return any(one.is_different for one in table.comparisons)


def _power(over: Callable[..., list[Any]]) -> list[str]:
    setting, difference = POWER_AT
    good, okay, bad = setting.proportions
    promised = power_of(setting, difference, simulations=4000).power
    shifted = _shifted((good, okay, bad), difference)
    truth = Truth(generators={"A": setting.proportions, "B": shifted}, effects=setting.effects)
    share = float(np.mean(over(partial(_found_as_planned, truth, setting))))
    print(f"\nPower for {100 * difference:g} points more of good, 100 dialogs, 4 ratings each: planned {promised:.1%}")
    is_close = abs(share - promised) <= POWER_WITHIN
    return _told("permutation test", f"{share:.1%}", is_close, f"within {100 * POWER_WITHIN:g} points")


def _shifted(shares: tuple[float, float, float], difference: float) -> tuple[float, float, float]:
    """Shift the latent opinion as the planner does (hits.stats.power)."""
    from scipy.special import ndtr, ndtri

    shift = ndtri(shares[0] + difference) - ndtri(shares[0])
    bad = float(ndtr(ndtri(shares[2]) - shift))
    return shares[0] + difference, 1 - shares[0] - difference - bad, bad


def _is_ordered(seed: int) -> bool:
    ranked = rank_generators(_draw(APART, 150, 30, seed), "ED").ranked
    return not isinstance(ranked, Undefined) and [one.generator for one in ranked] == ["D", "C", "B", "A"]


def _order(over: Callable[..., list[Any]]) -> list[str]:
    share = float(np.mean(over(_is_ordered)))
    print("\nFour models ten points of good apart, 150 dialogs, 30 workers")
    return _told(
        "Bradley-Terry in the true order", f"{share:.1%}", share >= LEAST_ORDERED, f"at least {LEAST_ORDERED:.0%}"
    )


# --- Table 5 ---------------------------------------------------------------------------------------------------------


def _within(seed: int) -> tuple[float, float]:
    """Return the share of table 5's 36 numbers within their intervals: with everybody's ratings, and after
    screening."""
    generators = list(TABLE5.datasets["OS"].generators)
    size = StudySize(dict.fromkeys(TABLE5.datasets, 2000), generators, 240, checkpoint_dataset="ED")
    frames = draw_frames(Drawing(size, TABLE5, USUAL_SHARES), seed)
    findings = [one for found in apply_rules(frames, PAPER) for one in found]
    workers = {one.worker for one in findings if one.submission is None}
    single = {one.submission for one in findings if one.submission is not None}
    is_out = frames.ratings["worker"].isin(workers) | frames.ratings["submission"].isin(single)
    return _share_within(code_ratings(frames.ratings)), _share_within(code_ratings(frames.ratings[~is_out]))


def _share_within(ratings: CodedRatings) -> float:
    held: list[bool] = []
    for row in table_rows(ratings):
        if row.dataset is not None and row.generator is not None and not isinstance(row.shares, Undefined):
            truths: Sequence[float] = TABLE5.shares(row.dataset, row.generator)
            held += [
                isinstance(share.interval, Interval) and share.interval.low <= truth <= share.interval.high
                for share, truth in zip(row.shares, truths, strict=True)
            ]
    return float(np.mean(held))


def _table5(over: Callable[..., list[Any]]) -> list[str]:
    everything, screened = np.mean(over(_within, TABLE5_STUDIES), axis=0)
    print(f"\nTable 5's 36 numbers within their intervals, {TABLE5_STUDIES} studies of 6,000 dialogs, 14 % spammers")
    print(f"  {'with everybody':36}{everything:>8.1%}")
    return _told(
        "screened by the paper's rules", f"{screened:.1%}", screened >= LEAST_WITHIN, f"at least {LEAST_WITHIN:.0%}"
    )


def _told(name: str, shown: str, is_right: bool, limit: str) -> list[str]:
    print(f"  {name:36}{shown:>8}   ({limit}){'' if is_right else '   BROKEN'}", flush=True)
    return [] if is_right else [f"{name} {shown}, {limit}"]


if __name__ == "__main__":
    main()
