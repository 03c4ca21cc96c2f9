"""Measures the intervals and tests that stand further down on the page: what ratings depend on, labels, metrics, and
the human reply after screening by points.

benchmarks.validity runs it, all with 5 % taste. Nothing depends on place, position, wave or time here. Labels are drawn
apart from ratings, so that each has the same share among good, okay and bad ones. One metric is noise; of the other,
the models' means are known, and so is their correlation with the true mean scores.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.validity_cases import APART, LEAST_COVERED, MOST_FALSE, SCORES, USUAL, Over, holds
from benchmarks.validity_table import Limit, Line
from hits.analysing import analyse
from hits.screening import EXCLUDED_BY, every_rule
from hits.screening.findings import submissions_named
from hits.screening.rules import apply_rules
from hits.stats import (
    ALPHA,
    Effects,
    Estimate,
    Undefined,
    code_ratings,
    dependences,
    label_distributions,
    metric_correlations,
)
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

DEPENDS_ON, LABELS = "depends on nothing, taste 5 %", "labels and metrics, taste 5 %"
HUMAN_REPLY = "human reply, screened, taste 5 %"
COVERAGE = Limit(LEAST_COVERED, is_coverage=True)
LABEL_SHARES = {"joy": 0.5, "sadness": 0.3, "questioning": 0.2}
METRIC_MEANS = {"A": 0.0, "B": 2.0, "C": 1.0}
HUMAN_SHARES = (0.70, 0.20, 0.10)
DIALOGS, WORKERS = 150, 30


def _frame(shares: dict[str, tuple[float, float, float]], seed: int, checkpoints: int = 0) -> Any:
    truth = Truth(generators=shares, human=HUMAN_SHARES, effects=Effects(taste=0.05))
    size = StudySize({"ED": DIALOGS}, list(shares), WORKERS, checkpoints=checkpoints)
    return draw_frames(Drawing(size, truth), seed)


# --- What ratings depend on ------------------------------------------------------------------------------------------


def dependence_lines(over: Over) -> Iterator[Line]:
    studies = over(_dependences)
    for name in ("place", "position", "wave", "time"):
        held = [study[f"{name}: held"] for study in studies]
        found = [study[f"{name}: found"] for study in studies]
        yield Line.of_studies(DEPENDS_ON, f"intervals: effects of {name}", held, COVERAGE)
        yield Line.of_studies(DEPENDS_ON, f"{name} found, not corrected", found, Limit(most=MOST_FALSE))
    anything = [study["anything"] for study in studies]
    yield Line.of_studies(DEPENDS_ON, "any of them found", anything, Limit(most=MOST_FALSE))


def _dependences(seed: int) -> dict[str, list[bool]]:
    frame = _frame(USUAL, seed).ratings
    found: dict[str, list[bool]] = {"anything": [False]}
    for one in dependences(frame, code_ratings(frame)):
        levels = () if isinstance(one.levels, Undefined) else one.levels
        slopes = [one.slope] if isinstance(one.slope, Estimate) else []
        effects = [*(level.effect for level in levels), *slopes]
        found[f"{one.factor}: held"] = [holds(effect, 0.0) for effect in effects]
        found[f"{one.factor}: found"] = [one.p_value <= ALPHA] if isinstance(one.p_value, float) else []
        if isinstance(one.corrected_p_value, float):
            found["anything"] = [found["anything"][0] or one.corrected_p_value <= ALPHA]
    return found


# --- Labels and metrics ----------------------------------------------------------------------------------------------


def label_lines(over: Over) -> Iterator[Line]:
    studies = over(_labels_and_metrics)
    for name in studies[0]:
        yield Line.of_studies(LABELS, f"intervals: {name}", [study[name] for study in studies], COVERAGE)


def _labels_and_metrics(seed: int) -> dict[str, list[bool]]:
    frame = _frame(APART, seed).ratings
    ratings, rng = code_ratings(frame), np.random.default_rng(seed)
    reply, replies = pd.factorize(frame["candidate"])
    labels = rng.choice(len(LABEL_SHARES), size=len(replies), p=list(LABEL_SHARES.values()))[reply]
    noise = rng.normal(size=len(replies))
    means = np.array(list(METRIC_MEANS.values()))[frame["generator"].cat.codes]
    metrics = {"noise": noise[reply], "known means": means + rng.normal(size=len(replies))[reply]}
    of_noise, of_means = metric_correlations(ratings, metrics, seed)
    scores = [float(np.dot(shares, SCORES)) for shares in APART.values()]
    true = float(np.corrcoef(scores, list(METRIC_MEANS.values()))[0, 1])
    shares = [
        holds(Estimate(label.share, label.interval), LABEL_SHARES[label.label])
        for one in label_distributions(ratings, labels, tuple(LABEL_SHARES))
        if not isinstance(one.labels, Undefined)
        for label in one.labels
    ]
    return {
        "shares of labels": shares,
        "Pearson, by reply": [holds(of_noise.pearson, 0.0)],
        "Spearman, by reply": [holds(of_noise.spearman, 0.0)],
        "Pearson, of models' means": [holds(of_means.of_generators, true)],
    }


# --- The human reply as a measure ------------------------------------------------------------------------------------


def human_lines(over: Over) -> Iterator[Line]:
    rules = [rule for rule in every_rule() if rule.is_default]
    studies = over(partial(_human_reply, rules))
    for place, word in enumerate(("good", "okay", "bad")):
        held = [[study[place]] for study in studies]
        yield Line.of_studies(HUMAN_REPLY, f"intervals: share of {word}", held, COVERAGE)


def _human_reply(rules: Any, seed: int) -> list[bool]:
    """Screen by the paper's rules, two of which are about points, and ask the results about the human reply."""
    frames = _frame(USUAL, seed, checkpoints=3)
    ratings = frames.ratings
    by_worker = ratings.groupby("worker", observed=True)["submission"]
    submissions_of = {str(worker): list(keys.unique()) for worker, keys in by_worker}
    for rule, findings in zip(rules, apply_rules(frames, rules), strict=True):
        named = submissions_named(((one.worker, one.submission) for one in findings), submissions_of)
        is_out = ratings["submission"].isin(list(named))
        ratings = ratings.assign(**{f"{EXCLUDED_BY}{rule.rule}": is_out.to_numpy()})
    [row, *_] = analyse(ratings).main.calibration
    if isinstance(row.shares, Undefined):
        return [False] * len(HUMAN_SHARES)
    pairs = zip(row.shares, HUMAN_SHARES, strict=True)
    return [holds(Estimate(share.share, share.interval), truth) for share, truth in pairs]
