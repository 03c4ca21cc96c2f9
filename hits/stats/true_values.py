"""Estimates what is true of each reply in three ways, Dawid-Skene, majority and mean, and who is reliable.

Shares are over replies, not ratings. Majority: a reply counts for the value that most of its ratings have, in equal
parts for several. Mean: of the replies' mean scores. Dawid-Skene (hits.stats.dawid_skene) gives each reply a
probability for each value, which are averaged. Where workers hardly agree, its likelihood is flat, and what it calls
true is mostly guessed: read it beside the agreement.

A reply rated good, good, bad and one rated bad, bad: majority says 1/2 good and 1/2 bad; the mean is (7/3 + 1) / 2.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.stats.coded_ratings import NO_ORDER, NOT_FOR_COMPARISONS, CodedRatings, Codes
from hits.stats.dawid_skene import dawid_skene
from hits.stats.estimates import Undefined
from hits.stats.outcomes import Reliability, TrueShares, TrueValues

Floats = npt.NDArray[np.float64]


def find_true_values(ratings: CodedRatings) -> TrueValues | Undefined:
    rows = ratings.by_generators
    cards = ratings.cards
    if not len(cards):
        return Undefined("there is no rating")
    if ratings.opponent is not None:
        return Undefined(NOT_FOR_COMPARISONS)
    if ratings.ends_of_bins is not None:
        return Undefined("on a long scale there is no true value, only a mean")
    unit, units = _numbered(cards.card_reply)
    if len(units) == len(cards):
        return Undefined("no reply has ratings by two workers")
    worker, workers = _numbered(cards.worker)
    if len(workers) == len(cards):  # of whom nothing can be learnt, so that the prior would say who is reliable
        return Undefined("no worker rated two replies")
    values = len(ratings.values)
    found = dawid_skene(unit, worker, cards.value, values)
    counts = np.bincount(unit * values + cards.value, minlength=len(units) * values).reshape(-1, values)
    is_top = counts == counts.max(axis=1, keepdims=True)
    majority = is_top / is_top.sum(axis=1, keepdims=True)
    means = np.bincount(unit, weights=cards.score) / counts.sum(axis=1)
    columns = np.column_stack([found.posterior, majority, means])
    of_worker = np.bincount(worker)
    named = sorted((str(ratings.workers[code]), index) for index, code in enumerate(workers))
    return TrueValues(
        _shares(rows, units, columns),
        tuple(Reliability(name, int(of_worker[index]), float(found.reliability[index])) for name, index in named),
        found.steps,
        found.is_converged,
    )


def _numbered(codes: Codes) -> tuple[Codes, Codes]:
    numbers, found = pd.factorize(codes)
    return numbers.astype(np.int32), found


def _shares(rows: CodedRatings, units: Codes, columns: Floats) -> tuple[TrueShares, ...]:
    """Average over the replies of each dataset and generator; a shared card counts for each of its generators."""
    is_first = ~pd.Series(rows.reply).duplicated().to_numpy()
    of_reply = columns[pd.Index(units).get_indexer(pd.Index(rows.card_reply[is_first]))]
    dataset, generator = rows.dataset[is_first], rows.generator[is_first]
    values, found = len(rows.values), []
    for index, name in enumerate(rows.datasets):
        for code, writer in enumerate(rows.generators):
            here = of_reply[(dataset == index) & (generator == code)]
            if len(here):
                means = [float(mean) for mean in here.mean(axis=0)]
                mean = Undefined(NO_ORDER) if rows.is_nominal else means[-1]
                found.append(
                    TrueShares(name, writer, len(here), tuple(means[:values]), tuple(means[values : 2 * values]), mean)
                )
    return tuple(found)
