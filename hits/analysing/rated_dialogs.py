"""Counts, dialog by dialog, how replies were rated and how far workers are apart, for the page that lists dialogs.

In: a ratings frame. Out: plain lists (hits.analysing.dialog_filter reads them), the most disputed dialog first.
Disagreement is the mean squared difference of two workers' scores of the same card on the same criterion, over all
pairs of workers, all cards and all criteria. Guaranteed: the same ratings give the same numbers; only ratings that
screening keeps are counted, but dialogs whose ratings are all left out are in the list.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.analysing.dialog_filter import RatedDialogFacts
from hits.analysing.report import HUMAN as HUMAN_REPLY
from hits.screening import kept_mask
from hits.stats import HUMAN, CodedRatings, CriterionScale, code_ratings

Array = npt.NDArray[Any]

CODED = ("worker", "dialog", "dataset", "generator", "opponent", "value", "score", "card")  # what code_ratings reads


def rated_dialogs(frame: pd.DataFrame, scales: Mapping[str, CriterionScale]) -> dict[str, Any]:
    """Return the facts about all rated dialogs, as JSON stores them."""
    is_kept = kept_mask(frame)
    codes, keys = pd.factorize(frame["dialog"])
    codes = codes.astype(np.int32)
    apart = _apart(frame, np.flatnonzero(is_kept & frame["is_first_of_card"].to_numpy()), codes, len(keys))
    order = np.lexsort([np.asarray(keys), -np.nan_to_num(apart, nan=-1.0)])
    first = np.zeros(len(keys), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # a row of each dialog: its first
    one = frame.iloc[first[order]]
    emotion = one["emotion"].cat if "emotion" in one else None
    counted = dict(_by_criterion(frame, is_kept, codes, len(keys), order, scales))
    facts = RatedDialogFacts(
        dialogs=[int(key) for key in np.asarray(keys)[order]],
        kept=np.bincount(codes[is_kept], minlength=len(keys))[order].tolist(),
        apart=[None if np.isnan(far) else round(float(far), 4) for far in apart[order]],
        dataset=one["dataset"].cat.codes.tolist(),
        datasets=[str(name) for name in one["dataset"].cat.categories],
        emotion=emotion.codes.tolist() if emotion is not None else [-1] * len(keys),
        emotions=[str(name) for name in emotion.categories] if emotion is not None else [],
        turns=one["turns"].tolist() if "turns" in one else [0] * len(keys),
        values={name: values for name, (values, _) in counted.items()},
        counts={name: counts for name, (_, counts) in counted.items()},
    )
    return asdict(facts)


def _apart(frame: pd.DataFrame, cards: Array, dialogs: Array, count: int) -> Array:
    """Return how far workers are apart in each dialog; NaN where no card has two ratings. `cards` are the rows that
    count."""
    # With n scores x of a card, the squared differences of its n (n - 1) / 2 pairs sum to n sum(x^2) - sum(x)^2.
    if not len(cards):
        return np.full(count, np.nan)
    criterion, card = frame["criterion"].cat.codes.to_numpy()[cards], frame["card"].to_numpy()[cards]
    criteria, wide = int(criterion.max()) + 1, int(card.max()) + 1
    key = dialogs[cards].astype(np.int64)
    key *= criteria
    key += criterion
    key *= wide
    key += card
    index, names = pd.factorize(key)
    of_card = names // wide // criteria
    del key, criterion, card
    if (opponents := frame["opponent"].cat.codes.to_numpy()[cards]).max() >= 0:
        # The same dialog may have been shown with other replies, on cards of the same numbers.
        models = frame["generator"].cat.codes.to_numpy()[cards].astype(np.int64) + 1
        models *= int(opponents.max()) + 2
        index, first = _split_by(index, models + opponents + 1)
        of_card = of_card[first]
    score = frame["score"].to_numpy()[cards].astype(np.float64)
    n, sums = np.bincount(index), np.bincount(index, score)
    squares = np.bincount(index, np.square(score, out=score))
    far = np.bincount(of_card, n * squares - sums**2, minlength=count)
    pairs = np.bincount(of_card, n * (n - 1) / 2, minlength=count)
    shown: Array = np.divide(far, pairs, out=np.full(count, np.nan), where=pairs > 0)
    return shown


def _split_by(index: Array, other: Array) -> tuple[Array, Array]:
    """Number the groups that both columns make, and return of each its number in `index` alone."""
    key = index.astype(np.int64) * (int(other.max()) + 1) + other
    found, names = pd.factorize(key)
    return found, names // (int(other.max()) + 1)


def _by_criterion(
    frame: pd.DataFrame, is_kept: Array, codes: Array, count: int, order: Array, scales: Mapping[str, CriterionScale]
) -> list[tuple[str, tuple[list[str], dict[str, list[list[int]]]]]]:
    found = []
    names = [name for name in CODED if name in frame]
    for name in frame["criterion"].cat.categories:
        rows = is_kept & (frame["criterion"] == name).to_numpy()
        part = frame[names] if rows.all() else frame[names][rows]
        if name in scales:
            part = part.assign(value=part["value"].cat.set_categories(list(scales[name].values)))
        ratings = code_ratings(part, scales.get(name))
        found.append((str(name), (list(ratings.values), _count_ratings(ratings, codes[rows], count, order))))
    return found


def _count_ratings(ratings: CodedRatings, dialog: Array, count: int, order: Array) -> dict[str, list[list[int]]]:
    """Count the ratings by writer and value, in each dialog. A comparison counts for both of its models; one with the
    human reply counts for that alone, as in the results, which compare models with each other."""
    rows = ratings.from_both_sides
    if rows.opponent is not None:
        is_counted = rows.opponent != HUMAN
        rows, dialog = rows.of(is_counted), np.concatenate([dialog, dialog])[is_counted]
    values, writers = len(ratings.values), len(ratings.generators) + 1
    key = dialog.astype(np.int64)
    key *= writers
    key += rows.generator
    key -= HUMAN
    key *= values
    key += rows.value
    counts = np.bincount(key, minlength=count * writers * values).reshape(count, writers, values)[order]
    names = [HUMAN_REPLY, *ratings.generators]
    shown = [
        *range(1, writers),
        *([0] if counts[:, 0].any() else []),
    ]  # the human reply comes last, and only if it was rated
    return {names[code]: [counts[:, code, value].tolist() for value in range(values)] for code in shown}
