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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
Mask = npt.NDArray[np.bool_]
Column = npt.NDArray[Any]  # numbers, of whatever type the frame has

FACTORS = ("place", "position", "day", "wave", "time")
SOURCES = {"day": ("submitted_at", "day"), "time": ("active_ms", "time taken")}  # columns, and what they say
TRENDS = ("place", "position")
TURNS = 399
FLOOR = 1 / (1 + TURNS)  # the smallest p-value that can come out
MOST_ROUNDS = 100
OWN_WAVES = "each offering has waves of its own"
MOST_LEVELS = 12  # with more levels, a level counts as a number, with a slope
CELLS_AT_ONCE = 4_000_000  # of tables with a row for each answer

Columns = pd.DataFrame | Mapping[str, "pd.Series[Any]"]


def dependences(frame: Columns, ratings: CodedRatings, seed: int = 1) -> list[Dependence]:
    """Test each factor. The frame has the same rows as `ratings`. Factors are corrected together by Holm's method."""
    rows, is_row = ratings.by_generators, ratings.generator >= 0
    clusters, adjusting = Clusters.of_ratings(rows), _Adjusting.of(frame, rows, is_row)
    found = []
    for name in FACTORS:  # one after the other, since each column is as long as the study
        column = _factor(frame, name, ratings, is_row)
        if isinstance(column, Undefined):
            found.append(Dependence(name, column, column, "", column, column))
        elif name == "time":
            found.append(_within_workers(column, rows.score, clusters, adjusting, seed))
        else:
            found.append(_by_level(name, column, adjusting.less_means(rows.score), clusters, adjusting))
    return _corrected(found)


def _factor(frame: Columns, name: str, ratings: CodedRatings, is_row: Mask) -> Column | Undefined:
    if ratings.no_score_because:
        # In a comparison, what a place or an hour adds to one reply it adds to the other too.
        return Undefined(ratings.no_score_because)
    if name == "wave" and "offering" in frame:
        return Undefined(OWN_WAVES)
    source, told = SOURCES.get(name, (name, name))
    if source not in frame:
        return Undefined(f"the ratings do not say the {told}")
    column = frame[source]
    if name == "day":
        return _days(column)[is_row]
    values: Column = column.to_numpy()
    if name == "time" and not (values > 0).any():
        return Undefined(f"the ratings do not say the {told}")
    return _log_time(values[is_row]) if name == "time" else values[is_row]


def _days(column: "pd.Series[Any]") -> Column:
    """Count the days since the first one, in UTC."""
    days: Column = column.dt.tz_localize(None).to_numpy().astype("datetime64[D]").astype(np.int32)
    return days - days.min() if len(days) else days


def _log_time(active_ms: Column) -> Floats:
    """Return log2 of the seconds; NaN if the page did not measure them."""
    seconds = active_ms / 1000
    seconds[seconds <= 0] = np.nan
    return np.log2(seconds, out=seconds)


@dataclass(frozen=True)
class _Adjusting:
    cell: Codes
    counts: Floats

    @staticmethod
    def of(frame: Columns, rows: CodedRatings, is_row: Mask) -> "_Adjusting":
        cell = rows.cells
        if "is_checkpoint" in frame:
            cell *= 2
            cell += frame["is_checkpoint"].to_numpy()[is_row]
        return _Adjusting.by(cell)

    @staticmethod
    def by(cell: Codes) -> "_Adjusting":
        return _Adjusting(cell, np.bincount(cell).astype(np.float64))

    def of_rows(self, rows: Mask) -> "_Adjusting":
        return _Adjusting.by(self.cell[rows])

    def less_means(self, column: Column) -> Floats:
        sums = np.bincount(self.cell, weights=column)
        means = (sums / np.maximum(self.counts, 1))[self.cell]
        return np.asarray(np.subtract(column, means, out=means))


def _by_level(name: str, column: Column, scores: Floats, clusters: Clusters, adjusting: _Adjusting) -> Dependence:
    level, levels = pd.factorize(column, sort=True)
    level = level.astype(np.int32)
    if len(levels) < 2:
        nothing = Undefined(f"all ratings have the same {name}" if len(levels) else "there is no rating")
        return Dependence(name, nothing, nothing, name, nothing, nothing)
    if len(levels) > MOST_LEVELS:
        return _by_number(name, name, column, scores, clusters, adjusting)
    counts = np.bincount(level)
    effects, products = _level_effects(level, counts, scores, clusters, adjusting)
    spread, p_value = joint_spread(effects, products, clusters)
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
    """Return the effects, and the products of their influences summed by dialog, worker and answer. All of it comes
    from sums over levels and over cells: a column for each level would take gigabytes for many ratings."""
    levels, cells = len(counts), len(adjusting.counts)
    in_cells = _table(adjusting.cell, cells, level, levels)
    shares = in_cells / np.maximum(adjusting.counts, 1)[:, None]  # of the levels in each cell
    products = np.diag(counts) - (shares.T * adjusting.counts) @ shares
    inverse = pseudo_inverse(products)
    slopes = inverse @ np.bincount(level, weights=scores, minlength=levels)  # scores' means in the cells are 0
    rest = slopes[level]
    np.subtract(scores, rest, out=rest)
    rest += (shares @ slopes)[adjusting.cell]
    centring = np.eye(levels) - counts / counts.sum()  # rows: a level less the mean of all ratings
    turning = (centring @ inverse).T
    found = []
    for codes in (clusters.dialog, clusters.worker, clusters.answer):
        found.append(np.zeros((levels, levels)))
        for some, own, size in _clusters_at_once(codes, levels + cells):
            by_level = _table(own, size, level[some], levels, rest[some])
            by_level -= _table(own, size, adjusting.cell[some], cells, rest[some]) @ shares
            sums = by_level @ turning
            found[-1] += sums.T @ sums
    return np.asarray(centring @ slopes), found


def _table(rows: Codes, height: int, columns: Codes, width: int, weights: Floats | None = None) -> Floats:
    """Sum the weights of each row and column, or count."""
    found = np.bincount(rows.astype(np.int64) * width + columns, weights=weights, minlength=height * width)
    return np.asarray(found.reshape(height, width), np.float64)


def _clusters_at_once(codes: Codes, width: int) -> Iterator[tuple[slice | Codes, Codes, int]]:
    """Split the clusters, so that a table of so many columns has no more than `CELLS_AT_ONCE`. Yield which ratings
    belong to them, their clusters numbered from 0, and how many clusters these are.

    >>> parts = _clusters_at_once(np.array([0, 2, 1, 2]), CELLS_AT_ONCE // 2)
    >>> [(rows.tolist(), own.tolist(), count) for rows, own, count in parts]
    [([0, 2], [0, 1], 2), ([1, 3], [0, 0], 1)]
    """
    count, at_once = int(codes.max()) + 1, max(1, CELLS_AT_ONCE // width)
    if count <= at_once:
        yield slice(None), codes, count
        return
    for start in range(0, count, at_once):
        some = np.flatnonzero((codes >= start) & (codes < start + at_once))
        yield some, codes[some] - start, min(at_once, count - start)


def _by_number(
    name: str, unit: str, column: Column, scores: Floats, clusters: Clusters, adjusting: _Adjusting
) -> Dependence:
    known = ~np.isnan(column)
    if not known.all():
        clusters, adjusting = clusters.of_rows(known), adjusting.of_rows(known)
        column, scores = column[known], adjusting.less_means(scores[known])
    column = adjusting.less_means(column)
    square = float(column @ column)
    no_levels = Undefined(f"the {name} is a number")
    if square <= 1e-12 * max(len(column), 1):
        nothing = Undefined(f"all ratings have the same {name}")
        return Dependence(name, no_levels, nothing, unit, nothing, nothing)
    slope = float(column @ scores) / square
    influences = scores - slope * column
    influences *= column
    influences /= square
    every = (clusters.dialog, clusters.worker, clusters.answer)
    sums = (np.bincount(codes, weights=influences) for codes in every)
    spread, p_value = joint_spread(np.array([slope]), [np.array([[one @ one]]) for one in sums], clusters)
    found = Estimate(slope, interval_of(slope, spread))
    return Dependence(name, no_levels, found, unit, p_value, p_value)


def _within_workers(column: Floats, scores: Floats, clusters: Clusters, adjusting: _Adjusting, seed: int) -> Dependence:
    known = ~np.isnan(column)
    if not known.all():
        clusters, adjusting = clusters.of_rows(known), adjusting.of_rows(known)
        column, scores = column[known], scores[known]
    worker = _Adjusting.by(clusters.worker)
    column, scores = (_less_both(one, adjusting, worker) for one in (column, scores))
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
        before = before - column
        if max(before.max(initial=0), -before.min(initial=0)) < 1e-9:
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
