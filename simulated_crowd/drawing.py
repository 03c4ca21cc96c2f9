"""Draw ratings straight into frames: the crowd's model without pages, marketplace and database, and much faster.

In: a truth, the size of a study, how many workers of which types, a seed. Out: both frames of hits.frames, with
all columns, for hundreds of simulated studies or for millions of ratings. Guaranteed: the same seed gives the same
frames; opinions follow simulated_crowd.judging, whose numbers come from hashes, in distribution.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from hits.frames import DEFAULT_TIME, USUAL_VALUES, Frames, build_ratings, build_submissions, categories_from_codes
from hits.protocols import usual_protocol
from simulated_crowd.truths import HUMAN, Truth, cuts_of
from simulated_crowd.worker_types import CAREFUL, WorkerType

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]

SECONDS_BETWEEN_SUBMISSIONS = 900
HITS_AT_ONCE = 2000  # whose workers are chosen together
PASSING = usual_protocol().passing_levels  # with which the human reply wins a checkpoint's point


@dataclass(frozen=True)
class StudySize:
    """`datasets` says how many dialogs each has; human replies hide in dialogs of `checkpoint_dataset`, or else of the
    last one."""

    datasets: Mapping[str, int]
    generators: Sequence[str]
    workers: int
    raters: int = 4
    dialogs_per_hit: int = 10
    checkpoints: int = 3
    checkpoint_dataset: str = ""

    @property
    def hits(self) -> int:
        return math.ceil(sum(self.datasets.values()) / self.dialogs_per_hit)


@dataclass(frozen=True)
class Drawing:
    """`activity` is how unevenly work is spread: the deviation of the logarithm of a worker's pace of taking HITs. With
    0, workers take turns, so that all do the same number of HITs, give or take one."""

    size: StudySize
    truth: Truth = field(default_factory=Truth)
    shares: Mapping[WorkerType, float] = field(default_factory=lambda: {CAREFUL: 1.0})
    activity: float = 1.0


def draw_frames(drawing: Drawing, seed: int) -> Frames:
    rng = np.random.Generator(np.random.SFC64(seed))
    size = drawing.size
    types = rng.permutation(
        np.repeat(np.arange(len(drawing.shares)), _count_types(drawing.shares.values(), size.workers))
    )
    crew = _choose_workers(rng, size, drawing.activity)  # HIT x rater
    dataset = _deal_dialogs(rng, size)  # HIT x position; -1 beyond the last dialog
    is_checkpoint = _choose_checkpoints(rng, size, dataset)
    level = _draw_levels(rng, drawing, types[crew], crew, dataset)  # HIT x rater x position x card
    active = _draw_active_ms(rng, list(drawing.shares), types, crew, size)
    return _build_frames(rng, size, crew, types, list(drawing.shares), dataset, is_checkpoint, level, active)


def _count_types(shares: Any, total: int) -> list[int]:
    ends = np.rint(np.cumsum([*shares]) * total).astype(int)
    return [int(count) for count in np.diff([0, *ends])]


def _choose_workers(rng: np.random.Generator, size: StudySize, activity: float) -> Integers:
    """Who takes each HIT: without repetition, the busy more often: the first of exponential waiting times."""
    if activity == 0:
        places = np.arange(size.hits * size.raters) % size.workers
        return rng.permutation(size.workers)[places].reshape(size.hits, size.raters)
    pace = rng.normal(0, activity, size.workers).astype(np.float32)
    chosen = []
    for start in range(0, size.hits, HITS_AT_ONCE):
        shape = (min(HITS_AT_ONCE, size.hits - start), size.workers)
        keys = rng.standard_exponential(shape, dtype=np.float32) * np.exp(-pace)
        chosen.append(np.argpartition(keys, size.raters - 1, axis=1)[:, : size.raters])
    return np.concatenate(chosen)


def _deal_dialogs(rng: np.random.Generator, size: StudySize) -> Integers:
    cells = np.full(size.hits * size.dialogs_per_hit, -1)
    dealt = np.repeat(np.arange(len(size.datasets)), list(size.datasets.values()))
    # As hits.batching deals: dataset after dataset around the table, so that every HIT has about as many of each.
    cells[: len(dealt)] = dealt
    by_hit = cells.reshape(size.dialogs_per_hit, size.hits).T
    by_hit = rng.permuted(by_hit, axis=1)
    return np.take_along_axis(by_hit, np.argsort(by_hit < 0, axis=1, kind="stable"), axis=1)


def _choose_checkpoints(rng: np.random.Generator, size: StudySize, dataset: Integers) -> npt.NDArray[np.bool_]:
    names = list(size.datasets)
    wanted = names.index(size.checkpoint_dataset) if size.checkpoint_dataset else len(names) - 1
    keys = np.where(dataset == wanted, rng.random(dataset.shape), 2)
    return (keys < 2) & (keys.argsort(axis=1).argsort(axis=1) < size.checkpoints)


def _draw_levels(
    rng: np.random.Generator, drawing: Drawing, kinds: Integers, crew: Integers, dataset: Integers
) -> Integers:
    """0 is the best. The last card is the human reply, drawn everywhere and used at checkpoints only."""
    size, effects = drawing.size, drawing.truth.effects
    hits, raters = crew.shape
    shape = (hits, 1, size.dialogs_per_hit, len(size.generators) + 1)

    def draw(share: float, *parts: int) -> Floats:
        return rng.standard_normal(parts, dtype=np.float32) * np.float32(math.sqrt(share))

    opinion = draw(effects.dialog, *shape[:3], 1) + draw(effects.reply, *shape)
    opinion = opinion + draw(effects.worker, size.workers)[crew][:, :, None, None]
    if effects.taste:
        opinion = opinion + draw(effects.taste, size.workers, shape[3])[crew][:, :, None, :]
    opinion = opinion + draw(effects.rest, hits, raters, *shape[2:])
    cuts = _cuts(drawing.truth, size)[:, dataset]  # border x HIT x position x card
    level = sum((opinion <= border[:, None]).astype(np.int8) for border in cuts)
    habits = list(drawing.shares)
    attention = np.array([one.attention for one in habits], np.float32)[kinds][:, :, None, None]
    looks_away = rng.random(level.shape, dtype=np.float32) >= attention
    level = np.where(looks_away, rng.integers(0, len(USUAL_VALUES), level.shape, dtype=np.int8), level)
    favours = np.array([one.has_favourite_level for one in habits])[kinds][:, :, None, None]
    favourite = rng.integers(0, len(USUAL_VALUES), size.workers, dtype=np.int8)[crew][:, :, None, None]
    return np.where(favours, favourite, level)


def _cuts(truth: Truth, size: StudySize) -> Floats:
    """Below which opinion a card leaves each level: (border, dataset and one for none, card)."""
    shares = [
        [cuts_of(truth.shares(dataset, writer), len(USUAL_VALUES)) for writer in (*size.generators, HUMAN)]
        for dataset in (*size.datasets, "")
    ]
    cuts: Floats = ndtri(1 - np.array(shares, np.float64)).astype(np.float32)
    return np.moveaxis(cuts, -1, 0)


def _draw_active_ms(
    rng: np.random.Generator, habits: Sequence[WorkerType], types: Integers, crew: Integers, size: StudySize
) -> Integers:
    """HIT x rater x position, none longer in all than the type's longest."""
    slowness = rng.lognormal(0, 0.25, size.workers)[crew]
    median = np.array([one.minutes * 60_000 for one in habits])[types[crew]] / size.dialogs_per_hit * slowness
    active = median[:, :, None] * rng.lognormal(0, 0.4, (*crew.shape, size.dialogs_per_hit))
    longest = np.array([one.longest_minutes * 60_000 for one in habits])[types[crew]]
    active *= np.minimum(1, longest / active.sum(axis=2))[:, :, None]
    return active.astype(np.int64)


def _build_frames(
    rng: np.random.Generator,
    size: StudySize,
    crew: Integers,
    types: Integers,
    habits: Sequence[WorkerType],
    dataset: Integers,
    is_checkpoint: npt.NDArray[np.bool_],
    level: Integers,
    active: Integers,
) -> Frames:
    is_hunting = np.array([one.is_hunting for one in habits])[types[crew]]
    first_passes = is_checkpoint[:, None] & np.isin(level[..., -1], PASSING)
    # Who hunts gives replies the best level until the human one is among them: that is how it is handed in.
    level[..., -1] = np.where(is_hunting[:, :, None] & is_checkpoint[:, None] & ~first_passes, 0, level[..., -1])
    won = (is_checkpoint[:, None] & np.isin(level[..., -1], PASSING)).sum(axis=2)
    is_there = np.repeat((dataset >= 0)[:, :, None], level.shape[3], axis=2)
    is_there[:, :, -1] = is_checkpoint
    is_row = np.broadcast_to(is_there[:, None], level.shape)
    hit, rater, position, card = (codes.astype(np.int32) for codes in np.nonzero(is_row))
    submission = (hit * size.raters + rater).astype(np.int64)
    dialog = hit.astype(np.int64) * size.dialogs_per_hit + position
    is_gold = card == level.shape[3] - 1
    names = [f"W-{number:06}" for number in range(size.workers)]
    ratings = build_ratings(
        {
            "submission": submission,
            "worker": categories_from_codes(crew[hit, rater], names),
            "hit": hit,
            "wave": 1 + 2 * hit // size.hits,
            "dialog": dialog,
            "dataset": categories_from_codes(dataset[hit, position], list(size.datasets)),
            "position": position,
            "is_checkpoint": is_checkpoint[hit, position],
            "card": card,
            "place": _places(rng, is_row),
            "candidate": np.where(is_gold, 0, dialog * len(size.generators) + card + 1),
            "generator": categories_from_codes(np.where(is_gold, -1, card), list(size.generators)),
            "is_gold": is_gold,
            "value": level[is_row],
            "active_ms": active[hit, rater, position],
            "submitted_at": _times(submission),
        },
        USUAL_VALUES,
    )
    submissions = build_submissions(
        {
            "submission": np.arange(crew.size),
            "worker": categories_from_codes(crew.ravel(), names),
            "hit": np.repeat(np.arange(size.hits), size.raters),
            "dialogs": np.repeat((dataset >= 0).sum(axis=1), size.raters),
            "active_seconds": active.sum(axis=2).ravel() / 1000,
            "checkpoints": np.repeat(is_checkpoint.sum(axis=1), size.raters),
            "points": won.ravel(),
            "first_points": first_passes.sum(axis=2).ravel(),
            "attempts": (is_checkpoint.sum(axis=1)[:, None] + won - first_passes.sum(axis=2)).ravel(),
            "passed_checks": won.ravel(),
            "submitted_at": _times(np.arange(crew.size)),
        }
    )
    return Frames(ratings, submissions)


def _places(rng: np.random.Generator, is_row: npt.NDArray[np.bool_]) -> Integers:
    """Cards in random order; those that are not there come last."""
    keys = np.where(is_row, rng.random(is_row.shape, dtype=np.float32), np.float32(2))
    return keys.argsort(axis=3).argsort(axis=3)[is_row].astype(np.int16)


def _times(submission: Integers) -> pd.DatetimeIndex:
    step = SECONDS_BETWEEN_SUBMISSIONS * 1_000_000
    begin = int(DEFAULT_TIME.timestamp()) * 1_000_000
    return pd.DatetimeIndex((begin + submission.astype(np.int64) * step).view("M8[us]"), tz="UTC")
