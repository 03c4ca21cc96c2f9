"""Made-up ratings of a study with the paper's design, piece by piece as the export has them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from hits.exporting.columns import bundle_rows
from hits.frames.ratings_frame import SUBMISSIONS_AT_ONCE

GENERATORS = ["meed2", "baseline-a", "baseline-b", "baseline-c"]
ROWS_OF_A_SUBMISSION = 40
ROWS_AT_ONCE = SUBMISSIONS_AT_ONCE * ROWS_OF_A_SUBMISSION
SUBMISSIONS_OF_A_WORKER = 20


def pieces(ratings: int) -> Iterator[pd.DataFrame]:
    rng = np.random.default_rng(1)
    keys = np.arange(-(-ratings // ROWS_OF_A_SUBMISSION), dtype=np.int64)
    for start in range(0, ratings, ROWS_AT_ONCE):
        yield bundle_rows(_frame(np.arange(start, min(start + ROWS_AT_ONCE, ratings)), rng), keys)


def _frame(row: np.ndarray[tuple[int], np.dtype[np.int64]], rng: np.random.Generator) -> pd.DataFrame:
    submission, place = np.divmod(row, ROWS_OF_A_SUBMISSION)
    position, card = np.divmod(place, len(GENERATORS))
    dialog = submission // 4 * 10 + position
    values = rng.integers(0, 3, len(row))
    return pd.DataFrame(
        {
            "submission": submission,
            "worker": pd.Categorical([f"W-{number:08d}" for number in submission // SUBMISSIONS_OF_A_WORKER]),
            "hit": submission // 4,
            "block": submission // 4,
            "wave": 1,
            "dataset": _category(position % 3, ["ED", "EDOS", "OS"]),
            "external_id": pd.Categorical([f"dialog-{number}" for number in dialog]),
            "position": position,
            "is_checkpoint": position < 3,
            "card": card,
            "place": card,
            "is_first_of_card": True,
            "generator": _category(card, GENERATORS),
            "is_gold": False,
            "value": _category(values, ["good", "okay", "bad"]),
            "score": 3 - values,
            "label": _category(card, ["joy", "sadness", "questioning", "agreeing"]),
            "active_ms": rng.integers(5_000, 90_000, len(row)),
            "hidden_ms": 0,
            "submitted_at": pd.Timestamp("2026-11-16T08:00:00Z"),
            "excluded_by_same_answer": submission % 50 == 0,
            "excluded_by_too_few_points": submission % 20 == 0,
        }
    )


def _category(codes: np.ndarray[Any, np.dtype[np.int64]], names: list[str]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))
