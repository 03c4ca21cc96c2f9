"""Reads database columns into numpy arrays, looks rows up in them, and turns codes into categories."""

from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet

CHUNK = 20_000

Array = np.ndarray[Any, Any]


def read_columns(rows: QuerySet[Any, Any], **types: Any) -> dict[str, Any]:
    """Read one array for each name, straight from the cursor. Rows as Python objects would take 20 times the memory."""
    found = np.fromiter(rows.iterator(chunk_size=CHUNK), np.dtype(list(types.items())))
    return {name: np.ascontiguousarray(found[name]) for name in types}


def places_in(keys: Array, wanted: Array) -> Array:
    """Return where in `keys` each wanted value stands; -1 if it is not there."""
    return pd.Index(keys).get_indexer(pd.Index(wanted))


def only_known(rows: dict[str, Array], submissions: Array) -> dict[str, Array]:
    """Drop the rows of submissions that arrived after we read the list of submissions."""
    is_known = places_in(submissions, rows["submission"]) >= 0
    return rows if is_known.all() else {name: column[is_known] for name, column in rows.items()}


def category(codes: Array, names: list[str]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))


def as_times(values: Array) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(pd.to_datetime(values, utc=True)).as_unit("us")
