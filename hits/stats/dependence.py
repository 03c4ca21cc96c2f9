"""Tests what ratings depend on besides the generator: place of the card, position in the HIT, day, wave, time taken.

Scores are taken less the mean of their dataset and generator (and of dialogs with and without a human reply among the
cards), and so is what they may depend on; then a least-squares regression, which Frisch, Waugh and Lovell's theorem
makes that of all together. A level's effect is how much higher replies were rated there than on average. Intervals
and the test of all levels at once are two-way cluster-robust (hits.stats.clusters): a level's own dialogs, or its own
workers, explain nothing by themselves. Place and position have an order, and are tested by their trend, with one degree
of freedom: a test of all levels at once has no power with few workers.

Time taken is a number: the effect of taking twice as long over a dialog, within workers, since slow workers may be
stricter ones. Its test turns each worker's times round among their answers by a random number of places, each time with
the slope divided by its deviation over dialogs: a test by formula found too much (.097 where .05 is meant).

Four ratings of one generator, at places 0 and 1 with scores 3, 3 and 2, 2: the effects are +0.5 and -0.5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.clusters import Clusters, interval_of, joint_spread
from hits.stats.coded_ratings import CodedRatings, Codes
from hits.stats.estimates import Estimate, Undefined
from hits.stats.inverting import pseudo_inverse
from hits.stats.outcomes import Dependence, Level
from hits.stats.sign_flips import holm

Floats = npt.NDArray[np.float64]

TRENDS = ("place", "position")
TURNS = 399
FLOOR = 1 / (1 + TURNS)  # the smallest p-value that can come out
MOST_ROUNDS = 100
OWN_WAVES = "each offering has waves of its own"
MOST_LEVELS = 12  # with more levels, a level counts as a number, with a slope


def dependences(frame: pd.DataFrame, ratings: CodedRatings, seed: int = 1) -> list[Dependence]:
    """Test each factor. The frame has the same rows as `ratings`. Factors are corrected together by Holm's method."""
    rows = ratings.generator >= 0
    clusters, adjusting = Clusters.of_ratings(ratings.by_generators), _Adjusting.of(frame, ratings, rows)
    scores = adjusting.less_means(ratings.score[rows])
    found = []
    for name, column in _factors(frame, ratings).items():
        if isinstance(column, Undefined):
            found.append(Dependence(name, column, column, "", column, column))
        elif name == "time":
            found.append(_within_workers(column[rows], ratings.score[rows], clusters, adjusting, seed))
        else:
            found.append(_by_level(name, column[rows], scores, clusters, adjusting))
    return _corrected(found)


def _factors(frame: pd.DataFrame, ratings: CodedRatings) -> Mapping[str, Floats | Undefined]:
    if ratings.no_score_because:
        # In a comparison, what a place or an hour adds to one reply it adds to the other too.
        return dict.fromkeys(("place", "position", "day", "wave", "time"), Undefined(ratings.no_score_because))
    return {
        "place": _column(frame, "place"),
        "position": _column(frame, "position"),
        "day": _days(frame),
        "wave": Undefined(OWN_WAVES) if "offering" in frame else _column(frame, "wave"),
        "time": _log_time(frame),
    }


def _column(frame: pd.DataFrame, name: str) -> Floats | Undefined:
    if name not in frame:
        return Undefined(f"the ratings do not say the {name}")
    return frame[name].to_numpy(np.float64)


def _days(frame: pd.DataFrame) -> Floats | Undefined:
    """Count the days since the first one, in UTC."""
    if "submitted_at" not in frame:
        return Undefined("the ratings do not say the day")
    days = frame["submitted_at"].dt.floor("D")
    return np.asarray((days - days.min()).dt.days, np.float64)


def _log_time(frame: pd.DataFrame) -> Floats | Undefined:
    """Return log2 of the seconds; NaN if the page did not measure them."""
    if "active_ms" not in frame or not (frame["active_ms"] > 0).any():
        return Undefined("the ratings do not say the time taken")
    seconds = frame["active_ms"].to_numpy(np.float64) / 1000
    return np.log2(np.where(seconds > 0, seconds, np.nan))


@dataclass(frozen=True)
class _Adjusting:
    cell: Codes
    counts: Floats

    @staticmethod
    def of(frame: pd.DataFrame, ratings: CodedRatings, rows: npt.NDArray[np.bool_]) -> "_Adjusting":
        cell = ratings.dataset[rows] * len(ratings.generators) + ratings.generator[rows]
        if "is_checkpoint" in frame:
            cell = 2 * cell.astype(np.int64) + frame["is_checkpoint"].to_numpy()[rows]
        return _Adjusting(cell, np.bincount(cell).astype(np.float64))

    @staticmethod
    def by(cell: Codes) -> "_Adjusting":
        return _Adjusting(cell, np.bincount(cell).astype(np.float64))

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> "_Adjusting":
        return _Adjusting(self.cell[rows], np.bincount(self.cell[rows]).astype(np.float64))

    def less_means(self, column: Floats) -> Floats:
        sums = np.bincount(self.cell, weights=column)
        return np.asarray(column - (sums / np.maximum(self.counts, 1))[self.cell])


def _by_level(name: str, column: Floats, scores: Floats, clusters: Clusters, adjusting: _Adjusting) -> Dependence:
    level, levels = pd.factorize(column, sort=True)
    if len(levels) < 2:
        nothing = Undefined(f"all ratings have the same {name}" if len(levels) else "there is no rating")
        return Dependence(name, nothing, nothing, name, nothing, nothing)
    if len(levels) > MOST_LEVELS:
        return _by_number(name, name, column, scores, clusters, adjusting)
    counts = np.bincount(level)
    effects, sums = _level_effects(level, counts, scores, clusters, adjusting)
    spread, p_value = joint_spread(effects, sums, clusters)
    if spread.problem:
        nothing = Undefined(spread.problem)
        return Dependence(name, nothing, nothing, name, nothing, nothing)
    found = tuple(
        Level(
            f"{levels[one]:g}",
            int(counts[one]),
            Estimate(float(effects[one]), interval_of(float(effects[one]), spread, one)),
        )
        for one in range(len(levels))
    )
    if name in TRENDS:
        trend = _by_number(name, f"each {name} further", column, scores, clusters, adjusting)
        return Dependence(name, found, trend.slope, trend.unit, trend.p_value, trend.p_value)
    return Dependence(name, found, Undefined(f"the {name} has levels"), name, p_value, p_value)


def _level_effects(
    level: Codes, counts: Codes, scores: Floats, clusters: Clusters, adjusting: _Adjusting
) -> tuple[Floats, list[Floats]]:
    """Return the effects, and the sums of their influences by dialog, worker and answer. All of it comes from sums over
    levels and over cells: a column for each level would take gigabytes for many ratings."""
    levels, cells = len(counts), len(adjusting.counts)

    def by_level(codes: Codes, size: int, weights: Floats | None = None) -> Floats:
        found = np.bincount(codes.astype(np.int64) * levels + level, weights=weights, minlength=size * levels)
        return np.asarray(found.reshape(size, levels), np.float64)

    shares = by_level(adjusting.cell, cells) / np.maximum(adjusting.counts, 1)[:, None]  # of the levels in each cell
    products = np.diag(counts) - (shares.T * adjusting.counts) @ shares
    inverse = pseudo_inverse(products)
    slopes = inverse @ np.bincount(level, weights=scores, minlength=levels)  # scores' means in the cells are 0
    rest = scores - slopes[level] + (shares @ slopes)[adjusting.cell]
    centring = np.eye(levels) - counts / counts.sum()  # rows: a level less the mean of all ratings
    sums = []
    for codes in (clusters.dialog, clusters.worker, clusters.answer):
        size = int(codes.max()) + 1
        in_cells = np.bincount(codes.astype(np.int64) * cells + adjusting.cell, weights=rest, minlength=size * cells)
        products = by_level(codes, size, rest) - in_cells.reshape(size, cells) @ shares
        sums.append(products @ (centring @ inverse).T)
    return np.asarray(centring @ slopes), sums


def _by_number(
    name: str, unit: str, column: Floats, scores: Floats, clusters: Clusters, adjusting: _Adjusting
) -> Dependence:
    known = ~np.isnan(column)
    if not known.all():
        clusters = Clusters(clusters.dialog[known], clusters.worker[known], clusters.answer[known])
        adjusting = adjusting.of_rows(known)
        column, scores = column[known], adjusting.less_means(scores[known])
    column = adjusting.less_means(column)
    square = float(column @ column)
    no_levels = Undefined(f"the {name} is a number")
    if square <= 1e-12 * max(len(column), 1):
        nothing = Undefined(f"all ratings have the same {name}")
        return Dependence(name, no_levels, nothing, unit, nothing, nothing)
    slope = float(column @ scores) / square
    influences = column * (scores - slope * column) / square
    every = (clusters.dialog, clusters.worker, clusters.answer)
    sums = [np.asarray(np.bincount(codes, weights=influences)[:, None], np.float64) for codes in every]
    spread, p_value = joint_spread(np.array([slope]), sums, clusters)
    found = Estimate(slope, interval_of(slope, spread))
    return Dependence(name, no_levels, found, unit, p_value, p_value)


def _within_workers(column: Floats, scores: Floats, clusters: Clusters, adjusting: _Adjusting, seed: int) -> Dependence:
    known = ~np.isnan(column)
    clusters = Clusters(clusters.dialog[known], clusters.worker[known], clusters.answer[known])
    adjusting, worker = adjusting.of_rows(known), _Adjusting.by(clusters.worker)
    column, scores = (_less_both(one[known], adjusting, worker) for one in (column, scores))
    found = _by_number("time", "twice the time", column, scores, clusters, worker)
    if isinstance(found.slope, Undefined):
        return found
    p_value = _turning_test(column, scores, clusters, seed)
    return Dependence("time", found.levels, found.slope, found.unit, p_value, p_value, p_value == FLOOR)


def _less_both(column: Floats, one: _Adjusting, other: _Adjusting) -> Floats:
    """Subtract the means of the cells and of the workers in turn, until nothing changes (von Neumann's projections)."""
    for _ in range(MOST_ROUNDS):
        before = column
        column = other.less_means(one.less_means(column))
        if np.abs(column - before).max(initial=0) < 1e-9:
            break
    return column


def _turning_test(column: Floats, scores: Floats, clusters: Clusters, seed: int) -> float | Undefined:
    """Return the p-value of no dependence within workers; an answer has one time and one sum of scores."""
    answer, found = pd.factorize(clusters.answer)
    first = np.zeros(len(found), np.int64)
    first[answer] = np.arange(len(answer))
    rng = np.random.Generator(np.random.SFC64(seed))
    # A random order within each worker, because neighbours in time are alike.
    order = np.lexsort((rng.random(len(found)), clusters.worker[first]))
    worker, dialog = pd.factorize(clusters.worker[first][order])[0], pd.factorize(clusters.dialog[first][order])[0]
    times = (np.bincount(answer, weights=column) / np.bincount(answer))[order]
    sums = np.bincount(answer, weights=scores)[order]
    sizes = np.bincount(worker)
    if not (sizes > 1).any():
        return Undefined("no worker has answered two dialogs")
    start, size = (np.cumsum(sizes) - sizes)[worker], sizes[worker]
    place = np.arange(len(worker)) - start

    def statistic(some: Floats) -> float:
        by_dialog = np.bincount(dialog, weights=some * sums)
        square = float(by_dialog @ by_dialog)
        return abs(float(by_dialog.sum())) / square**0.5 if square > 0 else 0.0

    limit = statistic(times) * (1 - 1e-9)
    extreme = 0
    for _ in range(TURNS):
        turn = (rng.random(len(sizes)) * sizes).astype(np.int64)[worker]
        extreme += statistic(times[start + (place + turn) % size]) >= limit
    return (1 + extreme) / (1 + TURNS)


def _corrected(found: Sequence[Dependence]) -> list[Dependence]:
    tested = [one for one in found if isinstance(one.p_value, float)]
    corrected = dict(
        zip(
            (one.factor for one in tested),
            holm([float(one.p_value) for one in tested if isinstance(one.p_value, float)]),
            strict=True,
        )
    )
    return [replace(one, corrected_p_value=corrected.get(one.factor, one.p_value)) for one in found]
