"""Looks at some rows of a frame, column by column, without copying the frame.

In: a frame and a mask of its rows. Out: a mapping from the columns' names to the columns. Guaranteed: only the column
that is asked for is copied, and nothing at all where all rows are chosen; whoever asks twice gets two copies.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd


class ChosenRows(Mapping[str, "pd.Series[Any]"]):
    """
    >>> chosen = ChosenRows(pd.DataFrame({"metric_a": [1, 2], "turns": [3, 4]}), np.array([False, True]), "metric_")
    >>> list(chosen), chosen["a"].tolist()
    (['a'], [2])
    """

    def __init__(self, frame: pd.DataFrame, rows: npt.NDArray[np.bool_], prefix: str = "") -> None:
        """With a prefix, only columns whose names begin with it are there, and their names are what follows."""
        self.frame, self.prefix = frame, prefix
        self.rows = rows
        self._is_all = bool(rows.all())

    def __getitem__(self, name: str) -> "pd.Series[Any]":
        column = self.frame[self.prefix + name]
        return column if self._is_all else column[self.rows]

    def __iter__(self) -> Iterator[str]:
        names = (str(name) for name in self.frame.columns)
        return (name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)
