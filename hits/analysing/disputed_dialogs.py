"""Finds the dialogs on which workers disagree most, 200 at most.

In: kept ratings. Out: dialogs, the most disputed first, each with the mean squared difference of two workers' scores of
the same card on the same criterion, over all pairs of workers, all cards and all criteria. Guaranteed: the same ratings
give the same plain numbers; dialogs in which no card has two ratings are left out.
"""

from typing import Any

import numpy as np
import pandas as pd

MOST_DIALOGS = 200


def most_disputed(ratings: pd.DataFrame, most: int = MOST_DIALOGS) -> list[dict[str, Any]]:
    """Return the dialogs on which workers disagree most, the most disputed first."""
    # With n scores x of a card, the squared differences of its n (n - 1) / 2 pairs sum to n sum(x^2) - sum(x)^2.
    cards = ratings[ratings["is_first_of_card"]]
    scores = cards["score"].to_numpy(np.float64)
    keys = ["dialog", "criterion", "card"]
    columns = cards[keys].assign(score=scores, square=scores**2)
    by_card = columns.groupby(keys, observed=True).agg(
        n=("score", "size"), sum=("score", "sum"), squares=("square", "sum")
    )
    by_card["apart"] = by_card["n"] * by_card["squares"] - by_card["sum"] ** 2
    by_card["pairs"] = by_card["n"] * (by_card["n"] - 1) / 2
    found = by_card.groupby("dialog")[["apart", "pairs"]].sum()
    found = found[found["pairs"] > 0]
    order = np.lexsort([found.index.to_numpy(), -(found["apart"] / found["pairs"]).to_numpy()])[:most]
    return [
        {"dialog": int(key), "apart": round(float(apart / pairs), 4), "pairs": int(pairs)}
        for key, apart, pairs in found.iloc[order].itertuples()
    ]
