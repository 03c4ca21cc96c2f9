"""Makes the submissions frame: time, checkpoints and points of each submission that has answers.

submission, worker, hit, block, wave, submitted_at      as in the ratings frame
status, origin, is_rebuilt                              as in Submission
accepted_at       datetime  the marketplace counts the time from here to submitted_at as work
attention_checks  int16     how many the HIT has; attention_passed: how many of them the worker answered as told
said_twice        int16     how many answers were asked for twice; said_alike: how many of them were the same
dialogs           int16     how many were answered, with controls: they took time as well
active_seconds    float     the sum over the dialogs; hidden_seconds likewise
work_seconds      float     active_seconds; if the page measured nothing, the longest that the clocks allow
checkpoints       int16     how many the HIT has
points            int16     bonus points (hits.protocols.checkpoints)
first_points      int16     checkpoints that passed at the first check, or in the end if the worker never checked
attempts          int16     how often Bonus Validate was pressed, at all checkpoints together
passed_checks        int16     checkpoints at which some check passed
moved_checks      int16     those of them whose cards were moved again after the last check that passed
has_feedback      bool      True if the worker wrote us something
"""

from typing import Any

import numpy as np
import pandas as pd

from hits.frames.arrays import Array
from hits.frames.study_tables import StudyTables
from hits.models import Offering
from hits.protocols import passes_at_first, wins_point


def submissions_frame(offering: Offering) -> pd.DataFrame:
    return submissions_from(StudyTables(offering))


def submissions_from(tables: StudyTables) -> pd.DataFrame:
    frame = pd.DataFrame(tables.submissions).drop(columns="opened_at")
    keys = frame["submission"]
    times = pd.DataFrame(tables.times).groupby("submission")
    frame["dialogs"] = _counted(times["item"].size(), keys)
    frame["active_seconds"] = times["active_ms"].sum().reindex(keys, fill_value=0).to_numpy() / 1000
    frame["hidden_seconds"] = times["hidden_ms"].sum().reindex(keys, fill_value=0).to_numpy() / 1000
    frame["work_seconds"] = frame["active_seconds"].where(frame["active_seconds"] > 0, frame.pop("span_seconds"))
    items = pd.DataFrame({name: tables.items[name] for name in ("hit", "is_checkpoint")})
    frame["checkpoints"] = _counted(items.groupby("hit")["is_checkpoint"].sum(), frame["hit"])
    sums = _checkpoints(tables).groupby("submission").sum()
    for name in ("points", "first_points", "attempts", "passed_checks", "moved_checks"):
        frame[name] = _counted(sums[name], keys)
    frame["has_feedback"] = frame.pop("has_feedback")
    return frame


def _checkpoints(tables: StudyTables) -> pd.DataFrame:
    """Return a row for each answered checkpoint, whether or not its worker asked for the point."""
    key = ["submission", "item"]
    rules = tables.design.checkpoints
    frame = pd.DataFrame(tables.human_replies()).set_index(key)
    final = frame.pop("value").map(tables.protocol.value_passes).astype(bool)
    checks = pd.DataFrame(tables.checks())
    of_items = checks.groupby(key)
    first_check = checks[checks["is_first"]].set_index(key)["is_passed"].astype(object).reindex(frame.index)
    told = first_check.where(first_check.notna(), None)
    first = pd.Series(list(map(passes_at_first, final, told)), index=frame.index, dtype=bool)
    passed = checks[checks["is_passed"]].groupby(key)["value"].last().reindex(frame.index)
    has_passed = passed.notna()
    frame["points"] = wins_point(rules, final, first)
    frame["first_points"] = first
    frame["attempts"] = of_items.size().reindex(frame.index, fill_value=0)
    frame["passed_checks"] = has_passed
    triples = zip(has_passed, passed, frame.pop("answer"), strict=True)
    moved = [has and tables.protocol.is_redone(checked, answer) for has, checked, answer in triples]
    frame["moved_checks"] = np.array(moved, np.bool_)
    return frame.astype(np.int16)


def _counted(counts: "pd.Series[Any]", keys: "pd.Series[Any]") -> Array:
    return counts.reindex(keys, fill_value=0).to_numpy().astype(np.int16)
