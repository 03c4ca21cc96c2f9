"""Measure whether screening finds planted spammers: precision and recall of its rules on simulated crowds.

python -m benchmarks.screening [--hits 600] [--seeds 3]

The study is the paper's (600 HITs of 10 dialogs, 4 assignments each, table 5 as the truth). In the crowds that work on
it, a fifth or more are not careful workers. We count assignments, since they hold the answers: precision is the share
of excluded assignments that were not done by careful workers; recall is the share of the others' assignments that are
excluded. The same is counted for workers whom a rule excludes as a whole. Screening never knows the types. `usual` is
the crowd of simulate_crowd; `wider` has four further types of spammers, for which the paper's rules were not made. On
average, workers do 20 HITs in the small crowds and 4 in the large ones.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
django.setup()

from benchmarks.screening_crowd import BY_PLACE, COPYING, LINES, SHUFFLING, simulate_frames  # noqa: E402
from hits.screening import every_rule  # noqa: E402
from hits.screening.rules import apply_rules  # noqa: E402
from simulated_crowd.people import Crowd  # noqa: E402
from simulated_crowd.truths import read_truth  # noqa: E402
from simulated_crowd.worker_types import CAREFUL, USUAL_SHARES, WorkerType  # noqa: E402

EVERY = every_rule()
PAPER = [rule for rule in EVERY if rule.is_default]
FURTHER = {BY_PLACE: 0.03, LINES: 0.03, COPYING: 0.03, SHUFFLING: 0.03}
WIDER = {**USUAL_SHARES, CAREFUL: USUAL_SHARES[CAREFUL] - sum(FURTHER.values()), **FURTHER}
CROWDS: dict[str, tuple[int, Mapping[WorkerType, float]]] = {
    "usual, 120 workers": (120, USUAL_SHARES),
    "usual, 600 workers": (600, USUAL_SHARES),
    "wider, 120 workers": (120, WIDER),
    "wider, 600 workers": (600, WIDER),
}
FIRST_SEED = 21  # some rules' defaults were chosen looking at seeds 1 and 11
# Limits for precision and recall in the usual crowds. Since the final placement decides, workers who never ask win two
# of three points by chance, and the paper's rules find fewer of them: recall missed its limit (docs/screening.md),
# which we left as it was.
LEAST = {"the paper's rules": (0.80, 0.70), "all rules": (0.80, 0.85)}


@dataclass(frozen=True)
class Found:
    """The outcome of one simulated study: by type of worker, how many assignments there were, and how many each rule
    excluded."""

    there: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]]  # by set of rules, then by type
    workers_there: Mapping[str, int]
    workers_named: Mapping[str, Mapping[str, int]]
    seconds: float  # of the rules


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hits", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    is_broken = False
    with ProcessPoolExecutor(2) as pool:
        jobs = {
            name: [
                pool.submit(_simulate, *crowd, seed, options.hits)
                for seed in range(FIRST_SEED, FIRST_SEED + options.seeds)
            ]
            for name, crowd in CROWDS.items()
        }
        for name, futures in jobs.items():
            results = [future.result() for future in futures]
            _print(name, results)
            is_broken |= name.startswith("usual") and not all(_is_enough(results, rules) for rules in LEAST)
    print("limits in the usual crowds: " + "; ".join(f"{name}: {_percents(limits)}" for name, limits in LEAST.items()))
    if is_broken:
        sys.exit("A limit is broken: see above.")


def _simulate(size: int, shares: Mapping[WorkerType, float], seed: int, hit_count: int) -> Found:
    simulated = simulate_frames(Crowd(size, read_truth("table5"), shares, seed), hit_count)
    frames = simulated.frames
    types = frames.submissions["worker"].astype(str).map(simulated.types)
    started = time.perf_counter()
    findings = apply_rules(frames, EVERY)
    seconds = time.perf_counter() - started
    sets = {"the paper's rules": findings[: len(PAPER)], "all rules": findings}
    sets |= {f"  {rule.rule}": [found] for rule, found in zip(EVERY, findings, strict=True)}
    every = {name: [one for found in some for one in found] for name, some in sets.items()}
    named = {name: {one.worker for one in some if one.submission is None} for name, some in every.items()}
    single = {name: {one.submission for one in some} for name, some in every.items()}
    submissions = frames.submissions
    left_out = {
        name: types[submissions["worker"].isin(named[name]) | submissions["submission"].isin(single[name])]
        for name in sets
    }
    return Found(
        Counter(types),
        {name: Counter(some) for name, some in left_out.items()},
        Counter(simulated.types[worker] for worker in submissions["worker"].unique()),
        {name: Counter(simulated.types[worker] for worker in workers) for name, workers in named.items()},
        seconds,
    )


def _print(name: str, results: Sequence[Found]) -> None:
    types = sorted({one for result in results for one in result.there}, key=lambda one: (one == CAREFUL.name, one))
    there = {one: sum(result.there.get(one, 0) for result in results) for one in types}
    seconds = sum(result.seconds for result in results) / len(results)
    print(f"\n{name}, {len(results)} studies of {sum(there.values()) // len(results):,} assignments, "
          f"rules take {seconds:.2f} s")  # fmt: skip
    print(f"{'':28}{'assignments':>17} {'workers':>17}   assignments left out, by type")
    print(f"{'':28}{'precision  recall':>17} {'precision  recall':>17} " + "".join(f"{one:>15}" for one in types))
    print(f"{'there are':64}" + "".join(f"{there[one]:>15,}" for one in types))
    for rules in results[0].left_out:
        left_out = {one: sum(result.left_out[rules].get(one, 0) for result in results) for one in types}
        of_work = _shown(*_precision_and_recall([(one.there, one.left_out[rules]) for one in results]))
        of_workers = _shown(*_precision_and_recall([(one.workers_there, one.workers_named[rules]) for one in results]))
        shares = "".join(f"{left_out[one] / there[one]:>15.1%}" for one in types)
        print(f"{rules:28}{of_work:>17} {of_workers:>17} {shares}", flush=True)


def _precision_and_recall(counts: Sequence[tuple[Mapping[str, int], Mapping[str, int]]]) -> tuple[float | None, float]:
    """Return precision and recall from two counts by type: how many there are, and how many were found."""
    spam = sum(sum(there.values()) - there.get(CAREFUL.name, 0) for there, _ in counts)
    careful = sum(found.get(CAREFUL.name, 0) for _, found in counts)
    everything = sum(sum(found.values()) for _, found in counts)
    return 1 - careful / everything if everything else None, (everything - careful) / spam


def _shown(precision: float | None, recall: float) -> str:
    return "-" if precision is None else f"{precision:>9.1%}{recall:>8.1%}"


def _is_enough(results: Sequence[Found], rules: str) -> bool:
    precision, recall = _precision_and_recall([(one.there, one.left_out[rules]) for one in results])
    least_precision, least_recall = LEAST[rules]
    return precision is not None and precision >= least_precision and recall >= least_recall


def _percents(limits: tuple[float, float]) -> str:
    return f"precision {limits[0]:.0%}, recall {limits[1]:.0%}"


if __name__ == "__main__":
    main()
