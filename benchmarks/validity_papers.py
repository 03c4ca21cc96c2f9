"""Measures the intervals of what papers' other two ways of asking give: votes on pairs, and the halo between criteria.

benchmarks.validity runs it. The studies have the papers' sizes, and workers have habits: in a comparison each leans to
one of the models; on scales each is kind or severe, and likes some models more, on both criteria at once. Votes have
truths by formula, correlations those of a study that is many times as large.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from benchmarks.validity_cases import LEAST_COVERED, holds
from benchmarks.validity_table import Limit, Line
from hits.stats import Estimate, PairVotes, Undefined, code_ratings, count_votes
from hits.stats.correlations import CriteriaCorrelation
from hits.stats.halo import criteria_correlations

VOTES, HALO = "votes", "halo"
VERDICTS = "net difference of verdicts"
ANSWERS = ("first better", "both alike", "second better")
SHARES = (0.4, 0.3, 0.3)
LEAN, ITEM = 0.05, 0.10  # shares of the latent variance
MODELS = ("A", "B", "C")
POINTS = 5
DIALOG, REPLY, WORKER, TASTE = 0.10, 0.15, 0.10, 0.05  # the same on both criteria; the rest is each criterion's own
APART = 0.5  # by how much each model's latent is above the last one's
AT_ONCE = 10  # dialogs of a HIT, which the same workers rate
LIMIT = Limit(LEAST_COVERED, is_coverage=True)

Over = Callable[..., list[Any]]


@dataclass(frozen=True)
class Crew:
    """`raters` of the `workers` rate each HIT."""

    name: str
    dialogs: int
    workers: int
    raters: int

    def draw(self, rng: np.random.Generator) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the dialog and the worker of each answer."""
        hits = -(-self.dialogs // AT_ONCE)
        chosen = np.array([rng.choice(self.workers, self.raters, replace=False) for _ in range(hits)])
        dialog = np.arange(self.dialogs).repeat(self.raters)
        return dialog, chosen[np.arange(self.dialogs) // AT_ONCE].ravel()


CREWS_OF_VOTES = (Crew("128 pairs, three of 24 raters", 128, 24, 3), Crew("128 pairs, three raters", 128, 3, 3))
CREWS_OF_HALO = (
    Crew("100 dialogs, three of 24 raters", 100, 24, 3),
    Crew("100 dialogs, three of 12 raters", 100, 12, 3),
    Crew("100 dialogs, five raters", 100, 5, 5),
)
LARGE = Crew("truth", 20_000, 4_000, 3)


def vote_lines(over: Over) -> Iterator[Line]:
    for crew in CREWS_OF_VOTES:
        studies = over(partial(_votes, crew))
        for name in studies[0]:
            held = [[study[name]] for study in studies]
            limit = Limit() if name == VERDICTS else LIMIT  # papers take verdicts as independent, and so does this
            yield Line.of_studies(crew.name, f"intervals: {name}", held, limit)


def _votes(crew: Crew, seed: int) -> dict[str, bool]:
    pair = _pair(crew, seed)
    wins, ties, losses = SHARES
    found = pair.votes
    return {
        "wins": holds(found.win_share, wins),
        "ties": holds(found.tie_share, ties),
        "losses": holds(found.loss_share, losses),
        "net difference": holds(found.net, wins - losses),
        VERDICTS: holds(_net_of_verdicts(pair), _true_net_of_verdicts(crew.raters)),
    }


@lru_cache
def _true_net_of_verdicts(raters: int) -> float:
    found = _net_of_verdicts(_pair(Crew("truth", 20_000, 4_000, raters), 999))
    return math.nan if isinstance(found, Undefined) else found.value


def _net_of_verdicts(pair: PairVotes) -> Estimate | Undefined:
    return pair.verdicts if isinstance(pair.verdicts, Undefined) else pair.verdicts.net


def _pair(crew: Crew, seed: int) -> PairVotes:
    rng = np.random.default_rng(seed)
    dialog, worker = crew.draw(rng)
    latent = (
        np.sqrt(ITEM) * rng.normal(size=crew.dialogs)[dialog] + np.sqrt(LEAN) * rng.normal(size=crew.workers)[worker]
    )
    latent += np.sqrt(1 - ITEM - LEAN) * rng.normal(size=len(dialog))
    said = np.searchsorted(ndtri(np.cumsum(SHARES)[:2]), latent)
    names = pd.Index(["A", "B"])
    [pair] = count_votes(
        code_ratings(
            pd.DataFrame(
                {
                    "dialog": dialog,
                    "worker": pd.Categorical(worker),
                    "dataset": pd.Categorical(["ED"] * len(dialog)),
                    "generator": pd.Categorical.from_codes(np.zeros_like(dialog), names),
                    "opponent": pd.Categorical.from_codes(np.ones_like(dialog), names),
                    "value": pd.Categorical.from_codes(said, pd.Index(ANSWERS)),
                    "score": 1.0 - said,
                }
            )
        )
    )
    return pair


def halo_lines(over: Over) -> Iterator[Line]:
    for crew in CREWS_OF_HALO:
        studies = over(partial(_halo, crew))
        for name in studies[0]:
            held = [[study[name]] for study in studies]
            yield Line.of_studies(crew.name, f"intervals: {name}", held, LIMIT)


def _halo(crew: Crew, seed: int) -> dict[str, bool]:
    true, found = _truth(), _correlation(crew, seed)
    return {
        "correlation of criteria": holds(found.pearson, true[0]),
        "the same within models": holds(found.within, true[1]),
    }


@lru_cache
def _truth() -> tuple[float, float]:
    found = _correlation(LARGE, 999)
    if isinstance(found.pearson, Undefined) or isinstance(found.within, Undefined):
        raise TypeError("A study of this size has correlations.")
    return found.pearson.value, found.within.value


def _correlation(crew: Crew, seed: int) -> CriteriaCorrelation:
    rng = np.random.default_rng(seed)
    models = len(MODELS)
    dialog, worker, model = _each_reply(*crew.draw(rng), models)
    common = (
        np.sqrt(DIALOG) * rng.normal(size=crew.dialogs)[dialog]
        + np.sqrt(WORKER) * rng.normal(size=crew.workers)[worker]
    )
    common += np.sqrt(REPLY) * rng.normal(size=(crew.dialogs, models))[dialog, model]
    common += np.sqrt(TASTE) * rng.normal(size=(crew.workers, models))[worker, model] + APART * model
    own = np.sqrt(1 - DIALOG - REPLY - WORKER - TASTE)
    cuts = ndtri(np.arange(1, POINTS) / POINTS) + APART * (models - 1) / 2
    rows = {"dialog": dialog, "worker": worker, "generator": pd.Categorical.from_codes(model, pd.Index(MODELS))}
    frame = pd.concat(
        pd.DataFrame(
            {**rows, "criterion": name, "score": np.searchsorted(cuts, common + own * rng.normal(size=len(dialog)))}
        )
        for name in ("empathy", "fluency")
    )
    return criteria_correlations(frame, np.ones(len(frame), bool), ["empathy", "fluency"])[0]


def _each_reply(dialog: Any, worker: Any, models: int) -> tuple[Any, Any, Any]:
    """An answer rates one reply of each model."""
    return dialog.repeat(models), worker.repeat(models), np.tile(np.arange(models), len(dialog))
