"""Builds frames from given columns instead of a database, for simulated crowds, benchmarks and tests.

In: the columns that matter. Out: frames with all columns of hits.frames but `origin`, in the same order and of the same
types; a column that is not given gets a plain default. Guaranteed: no rows are copied or sorted, so millions of them
stay cheap.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from hits.collecting import CONTROL_COUNTS
from hits.protocols import OVERALL, usual_protocol
from hits.stats import score_of

USUAL_VALUES = usual_protocol().scale.values
DEFAULT_TIME = datetime(2026, 11, 16, 8, tzinfo=UTC)

_INTEGERS = {"hit": np.int32, "block": np.int32, "wave": np.int32}
_OF_RATINGS = {
    **dict.fromkeys(("submission", "item", "dialog", "candidate", "active_ms", "hidden_ms"), np.int64),
    **_INTEGERS,
    **dict.fromkeys(("turns", "position", "card", "place"), np.int16),
    **dict.fromkeys(("is_checkpoint", "is_first_of_card", "is_gold"), np.bool_),
    "score": np.int8,
}
_OF_SUBMISSIONS = {
    "submission": np.int64,
    **_INTEGERS,
    **dict.fromkeys(("dialogs", "checkpoints", "points", "first_points", "attempts"), np.int16),
    **dict.fromkeys(("passed_checks", "moved_checks", *CONTROL_COUNTS), np.int16),
    **dict.fromkeys(("active_seconds", "hidden_seconds", "work_seconds"), np.float64),
    **dict.fromkeys(("is_rebuilt", "has_feedback", "is_fourth_vote"), np.bool_),
}


def build_ratings(columns: Mapping[str, Any], values: Sequence[str] = USUAL_VALUES) -> pd.DataFrame:
    """Build a ratings frame. `columns` must have `submission`, `worker`, `dialog`, `card` and `value`, which is the
    place on the scale, 0 for the best. Categories may be given as such, or as names.

    >>> said = {"submission": [1, 1], "worker": ["w", "w"], "dialog": [7, 7], "card": [0, 1], "value": [0, 2]}
    >>> build_ratings(said)[["worker", "generator", "value", "score"]].to_numpy().tolist()
    [['w', 'model 0', 'good', 3], ['w', 'model 1', 'bad', 1]]
    """
    dialog, card, code = (np.asarray(columns[name]) for name in ("dialog", "card", "value"))
    models = [f"model {number}" for number in range(int(card.max(initial=0)) + 1)]
    filled = {
        "submission": columns["submission"],
        "worker": columns["worker"],
        "hit": 0,
        "block": columns.get("hit", 0),
        "wave": 1,
        "item": dialog,
        "dialog": dialog,
        "dataset": "all",
        "external_id": dialog,
        "emotion": categories_from_codes(np.full(len(code), -1, np.int8), []),
        "turns": 1,
        "position": 0,
        "is_checkpoint": False,
        "card": card,
        "place": card,
        "is_first_of_card": True,
        "candidate": dialog * len(models) + card + 1,
        "generator": categories_from_codes(card, models),
        "is_gold": False,
        "opponent": categories_from_codes(np.full(len(code), -1, np.int8), models),
        "criterion": OVERALL,
        "value": categories_from_codes(code, values),
        "score": score_of(code, len(values)),
        "active_ms": 0,
        "hidden_ms": 0,
        "submitted_at": DEFAULT_TIME,
    }
    given = {name: column for name, column in columns.items() if name != "value"}
    names = ("worker", "dataset", "external_id", "emotion", "generator", "opponent", "criterion")
    return _typed(filled | given, len(code), _OF_RATINGS, names)


def build_submissions(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Build a submissions frame. `columns` must have `submission` and `worker`."""
    active = columns.get("active_seconds", 0.0)
    filled: dict[str, Any] = {
        "submission": columns["submission"],
        "worker": columns["worker"],
        "hit": 0,
        "block": columns.get("hit", 0),
        "wave": 1,
        "status": "Approved",
        "is_rebuilt": False,
        "accepted_at": DEFAULT_TIME,
        "submitted_at": DEFAULT_TIME,
        "turned": [()] * len(columns["submission"]),
        "is_fourth_vote": False,
        **dict.fromkeys(CONTROL_COUNTS, 0),
        "dialogs": 0,
        "active_seconds": active,
        "hidden_seconds": 0.0,
        "work_seconds": active,
        "checkpoints": 0,
        "points": 0,
        "first_points": 0,
        "attempts": 0,
        "passed_checks": 0,
        "moved_checks": 0,
        "has_feedback": False,
        **columns,
    }
    return _typed(filled, len(columns["submission"]), _OF_SUBMISSIONS, ("worker", "status"))


def categories_from_codes(codes: Any, names: Sequence[str]) -> Any:
    """Make a column of categories from their codes; -1 stands for a missing value."""
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names)))


def _typed(columns: Mapping[str, Any], rows: int, types: Mapping[str, type], categories: Sequence[str]) -> pd.DataFrame:
    made: dict[str, Any] = {}
    for name, column in columns.items():
        if name in types:
            made[name] = np.broadcast_to(np.asarray(column, types[name]), rows)
        elif name in categories and not isinstance(column, pd.Categorical):
            made[name] = pd.Categorical(np.broadcast_to(np.asarray(column), rows))
        else:
            made[name] = column
    frame = pd.DataFrame(made)
    for name in ("accepted_at", "submitted_at"):
        if name in frame:
            frame[name] = pd.DatetimeIndex(frame[name]).as_unit("us")
    return frame
