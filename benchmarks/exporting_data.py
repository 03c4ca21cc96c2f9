"""Make up ratings of a study with the paper's design, in pieces as the export reads them."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from hits.exporting.columns import bundle_rows
from hits.frames import build_ratings, categories_from_codes
from hits.frames.rating_rows import SUBMISSIONS_AT_ONCE
from hits.screening import EXCLUDED_BY

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
    return build_ratings(
        {
            "submission": submission,
            "worker": [f"W-{number:08d}" for number in submission // SUBMISSIONS_OF_A_WORKER],
            "hit": submission // 4,
            "dialog": dialog,
            "dataset": categories_from_codes(position % 3, ["ED", "EDOS", "OS"]),
            "external_id": [f"dialog-{number}" for number in dialog],
            "position": position,
            "is_checkpoint": position < 3,
            "card": card,
            "generator": categories_from_codes(card, GENERATORS),
            "value": rng.integers(0, 3, len(row)),
            "label": categories_from_codes(card, ["joy", "sadness", "questioning", "agreeing"]),
            "active_ms": rng.integers(5_000, 90_000, len(row)),
            f"{EXCLUDED_BY}same_answer": submission % 50 == 0,
            f"{EXCLUDED_BY}too_few_points": submission % 20 == 0,
        }
    )
