"""Compares the three ratings files of a bundle with each other, column by column."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalplatform.errors import EvalPlatformError
from hits.exporting.about import About
from hits.exporting.ratings_files import RATINGS_FILES, read_all_columns
from hits.screening import kept_mask


def different_ratings(folder: Path, about: About, first: str) -> Iterator[str]:
    """Describe how the other files differ from `first`, and whether its column is_kept follows from those of the
    rules."""
    try:
        ours = read_all_columns(folder / first, about)
    except EvalPlatformError as error:
        yield str(error)
        return
    if wrong := int((ours["is_kept"].to_numpy(bool) != kept_mask(ours)).sum()):
        yield f"{first} says of {wrong:,} ratings whether they count, and its columns of the rules say otherwise"
    for name in RATINGS_FILES:
        if name == first:
            continue
        try:
            theirs = read_all_columns(folder / name, about)
        except EvalPlatformError as error:
            yield str(error)
            continue
        yield from _differences(name, theirs, first, ours)


def _differences(name: str, theirs: pd.DataFrame, first: str, ours: pd.DataFrame) -> Iterator[str]:
    if len(theirs) != len(ours):
        yield f"{name} has {len(theirs):,} ratings, {first} has {len(ours):,}"
        return
    for column in ours:
        if count := int((~_same(theirs[column], ours[column])).sum()):
            yield f"{name} has another {column} than {first} in {count:,} rows"


def _same(one: "pd.Series[Any]", other: "pd.Series[Any]") -> np.ndarray[Any, np.dtype[np.bool_]]:
    if pd.api.types.is_float_dtype(one.dtype) or pd.api.types.is_float_dtype(other.dtype):
        # JSON has ten digits.
        close: np.ndarray[Any, np.dtype[np.bool_]] = np.isclose(
            one.to_numpy(float), other.to_numpy(float), rtol=1e-8, atol=1e-9, equal_nan=True
        )
        return close
    first, second = (column.astype(object).where(column.notna(), None) for column in (one, other))
    same: np.ndarray[Any, np.dtype[np.bool_]] = ((first == second) | (first.isna() & second.isna())).to_numpy(bool)
    return same
