"""Rules about how someone worked: pace, hidden tabs, first attempts at checkpoints."""

from typing import Any

import pandas as pd

from hits.frames.study_frames import Frames
from hits.models.design import FirstAttemptFailures, Inattention, ManyAttempts, MovedAfterCheck, TooFastPerDialog
from hits.screening.findings import FEWEST_DIALOGS, Finding, findings_of


def too_fast_per_dialog(frames: Frames, rule: TooFastPerDialog) -> list[Finding]:
    """Finds workers who looked at the dialog for less than `seconds`, in at least `share` of all their dialogs."""
    answers = frames.answers
    of_submission = frames.submissions.set_index("submission").loc[answers["submission"]]
    evenly = of_submission["work_seconds"] / of_submission["dialogs"]
    # Where the page measured nothing, all the time that the clocks allow is spread over the dialogs.
    seconds = (answers["active_ms"] / 1000).where((of_submission["active_seconds"] > 0).to_numpy(), evenly.to_numpy())
    by_worker = seconds.groupby(answers["worker"], observed=True)
    share = (seconds < rule.seconds).groupby(answers["worker"], observed=True).mean()
    facts = pd.DataFrame({"share": share, "dialogs": by_worker.size(), "median_seconds": by_worker.median()})
    return findings_of(facts[_is_at_least(share, rule.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])


def inattention(frames: Frames, rule: Inattention) -> list[Finding]:
    """Finds workers whose tab was hidden for longer than it was in front, in at least `share` of their dialogs. Dialogs
    are counted, not minutes, since one long break is no inattention."""
    answers = frames.answers
    is_away = answers["hidden_ms"] > answers["active_ms"]
    times = answers.groupby("worker", observed=True)[["hidden_ms", "active_ms"]].sum()
    by_worker = is_away.groupby(answers["worker"], observed=True)
    facts = pd.DataFrame({"share": by_worker.mean(), "dialogs": by_worker.size()})
    facts["hidden_share_of_time"] = times["hidden_ms"] / times.sum(axis=1)
    return findings_of(facts[_is_at_least(facts["share"], rule.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])


def first_attempt_failures(frames: Frames, rule: FirstAttemptFailures) -> list[Finding]:
    """Finds workers who failed the first check, or the final answer where they never checked, at `share` of their
    checkpoints or more. Someone who tries until it is green has all points in the end, so the bonus hides it."""
    facts = _checkpoints(frames, rule.checkpoints)
    share = 1 - facts["first_points"] / facts["checkpoints"]
    facts.insert(0, "share", share)
    return findings_of(facts[_is_at_least(share, rule.share)])


def many_attempts(frames: Frames, rule: ManyAttempts) -> list[Finding]:
    """Finds workers with at least so many attempts for each of their checkpoints. Where two of three areas pass, random
    placing wins two of three at the first attempt: first attempts alone don't tell, but the further ones do."""
    facts = _checkpoints(frames, rule.checkpoints)
    each = facts["attempts"] / facts["checkpoints"]
    facts.insert(0, "attempts_each", each)
    return findings_of(facts[_is_at_least(each, rule.attempts)])


def moved_after_check(frames: Frames, rule: MovedAfterCheck) -> list[Finding]:
    """Finds workers who sorted the dialog anew after a check that passed (points.is_moved), at `share` or more of the
    checkpoints that they won by a check: they checked only for the point, and handed in something else."""
    facts = frames.submissions.groupby("worker", observed=True)[["moved_checks", "won_checks", "points"]].sum()
    facts = facts[facts["won_checks"] >= rule.checkpoints].copy()
    share = facts["moved_checks"] / facts["won_checks"]
    facts.insert(0, "share", share)
    return findings_of(facts[_is_at_least(share, rule.share)])


def _checkpoints(frames: Frames, fewest: int) -> pd.DataFrame:
    names = ["checkpoints", "first_points", "points", "attempts"]
    facts = frames.submissions.groupby("worker", observed=True)[names].sum()
    return facts[facts["checkpoints"] >= fewest].copy()


def _is_at_least(shares: "pd.Series[Any]", least: float) -> "pd.Series[bool]":
    return shares >= least - 1e-9
