"""Marks the excluded rows of a ratings frame with a column `excluded_by_RULE` for each rule, and picks the kept ones.

A rating is marked for every rule that excludes it, not only the first, so that results without one rule need no new
frame.
"""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

EXCLUDED_BY = "excluded_by_"
FOURTH_VOTE = "is_fourth_vote"  # a column of studies that ask for fourth votes


def mark_exclusions(frame: pd.DataFrame, submissions: Mapping[str, Collection[int]]) -> None:
    """Add a column for each rule. `submissions` has what each rule leaves out, as `submissions_by_rule` returns it."""
    for rule, keys in submissions.items():
        frame[f"{EXCLUDED_BY}{rule}"] = np.isin(frame["submission"].to_numpy(), np.fromiter(keys, np.int64, len(keys)))


def rules_in(frame: pd.DataFrame) -> list[str]:
    names = [str(name) for name in frame.columns]
    return [name.removeprefix(EXCLUDED_BY) for name in names if name.startswith(EXCLUDED_BY)]


def kept_mask(frame: pd.DataFrame, rules: Collection[str] | None = None) -> npt.NDArray[np.bool_]:
    """Return True for each rating that none of these rules leaves out; all rules count unless some are given.

    Fourth votes are never among them. They exist only where three people disagreed, so that whatever counted them would
    be about the hard items twice; verdicts alone use them.

    >>> frame = pd.DataFrame({"excluded_by_hasty": [True, False], "excluded_by_copies": [False, False]})
    >>> kept_mask(frame).tolist(), kept_mask(frame, ["copies"]).tolist()
    ([False, True], [True, True])
    """
    return _kept_by(frame, rules_in(frame) if rules is None else rules) & ~_fourth_votes(frame)


def fourth_votes_mask(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return True for each fourth vote that no rule leaves out."""
    return _kept_by(frame, rules_in(frame)) & _fourth_votes(frame)


def _kept_by(frame: pd.DataFrame, rules: Collection[str]) -> npt.NDArray[np.bool_]:
    is_kept = np.ones(len(frame), bool)
    for rule in rules:
        is_kept &= ~frame[f"{EXCLUDED_BY}{rule}"].to_numpy(bool)
    return is_kept


def _fourth_votes(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    return frame[FOURTH_VOTE].to_numpy(bool) if FOURTH_VOTE in frame else np.zeros(len(frame), bool)
