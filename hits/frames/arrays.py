"""Columns as arrays: reading them from the database, looking rows up, and naming codes."""

from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet

CHUNK = 20_000

Array = np.ndarray[Any, Any]


def read_columns(rows: QuerySet[Any, Any], **types: Any) -> dict[str, Any]:
    """Read a column for each name straight from the cursor. Rows as Python objects would take 20 times the memory."""
    found = np.fromiter(rows.iterator(chunk_size=CHUNK), np.dtype(list(types.items())))
    return {name: np.ascontiguousarray(found[name]) for name in types}


def places_in(keys: Array, wanted: Array) -> Array:
    return pd.Index(keys).get_indexer(pd.Index(wanted))


def only_known(rows: dict[str, Array], submissions: Array) -> dict[str, Array]:
    """Drop rows of submissions that have arrived since the submissions were read."""
    is_known = places_in(submissions, rows["submission"]) >= 0
    return rows if is_known.all() else {name: column[is_known] for name, column in rows.items()}


def category(codes: Array, names: list[str]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))


def as_times(values: Array) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(pd.to_datetime(values, utc=True)).as_unit("us")
