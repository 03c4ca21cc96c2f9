"""Rules about how someone worked: pace, hidden tabs, first attempts at checkpoints."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hits.models.screening_rule import Finding, ScreeningRule, Share
from hits.screening.findings import FEWEST_DIALOGS, evidence_table, findings_of, is_at_least

if TYPE_CHECKING:
    import pandas as pd

    from hits.frames import Frames


class TooFastPerDialog(ScreeningRule):
    """Leaves out workers who looked at the dialog for less than so many `seconds`, in at least this `share` of dialogs.

    Where the page measured nothing, all the time that the clocks allow is spread over the dialogs. Workers who answered
    fewer than five dialogs are not judged.
    """

    rule: Literal["too_fast_per_dialog"] = "too_fast_per_dialog"
    seconds: float = Field(15.0, gt=0, le=3600, allow_inf_nan=False)
    share: Share = 0.5

    def find(self, frames: "Frames") -> list[Finding]:
        answers = frames.answers
        of_submission = frames.submissions.set_index("submission").loc[answers["submission"]]
        evenly = of_submission["work_seconds"] / of_submission["dialogs"]
        is_measured = (of_submission["active_seconds"] > 0).to_numpy()
        seconds = (answers["active_ms"] / 1000).where(is_measured, evenly.to_numpy())
        by_worker = seconds.groupby(answers["worker"], observed=True)
        share = (seconds < self.seconds).groupby(answers["worker"], observed=True).mean()
        facts = evidence_table(share=share, dialogs=by_worker.size(), median_seconds=by_worker.median())
        return findings_of(facts[is_at_least(share, self.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])


class FirstAttemptFailures(ScreeningRule):
    """Leaves out workers who failed at first at this `share` of at least so many `checkpoints`.

    What counts is the first check, or the final answer where they never checked. Who tries until it is green has all
    points in the end, so the bonus hides it.
    """

    rule: Literal["first_attempt_failures"] = "first_attempt_failures"
    share: Share = 0.5
    checkpoints: int = Field(9, ge=1, le=10_000)

    def find(self, frames: "Frames") -> list[Finding]:
        facts = _checkpoints(frames, self.checkpoints)
        share = 1 - facts["first_points"] / facts["checkpoints"]
        facts.insert(0, "share", share)
        return findings_of(facts[is_at_least(share, self.share)])


class ManyAttempts(ScreeningRule):
    """Leaves out workers who needed so many `attempts` a checkpoint on average, at no fewer than so many `checkpoints`.

    Where two of three answers pass, random ones win two points of three at the first attempt: first attempts alone
    don't tell, but the further ones do.
    """

    rule: Literal["many_attempts"] = "many_attempts"
    attempts: float = Field(1.3, gt=1, le=100, allow_inf_nan=False)
    checkpoints: int = Field(9, ge=1, le=10_000)

    def find(self, frames: "Frames") -> list[Finding]:
        facts = _checkpoints(frames, self.checkpoints)
        each = facts["attempts"] / facts["checkpoints"]
        facts.insert(0, "attempts_each", each)
        return findings_of(facts[is_at_least(each, self.attempts)])


class MovedAfterCheck(ScreeningRule):
    """Leaves out workers who answered anew after a winning check, at this `share` of at least so many `checkpoints`.

    They checked only for the point, and handed in something else. What anew means is the protocol's to say: with areas,
    that two fifths or more of the dialog's cards stand elsewhere in the end than at the last check that won. Who
    improves one reply of five afterwards does not come near it.
    """

    rule: Literal["moved_after_check"] = "moved_after_check"
    share: Share = 0.5
    checkpoints: int = Field(3, ge=1, le=10_000)

    def find(self, frames: "Frames") -> list[Finding]:
        facts = frames.submissions.groupby("worker", observed=True)[["moved_checks", "won_checks", "points"]].sum()
        facts = facts[facts["won_checks"] >= self.checkpoints].copy()
        share = facts["moved_checks"] / facts["won_checks"]
        facts.insert(0, "share", share)
        return findings_of(facts[is_at_least(share, self.share)])


class Inattention(ScreeningRule):
    """Leaves out workers who had the page in a hidden tab for longer than in front, in this `share` of dialogs or more.

    Dialogs are counted, not minutes, since one long break is no inattention. Workers who answered fewer than five
    dialogs are not judged.
    """

    rule: Literal["inattention"] = "inattention"
    share: Share = 0.5

    def find(self, frames: "Frames") -> list[Finding]:
        answers = frames.answers
        is_away = answers["hidden_ms"] > answers["active_ms"]
        times = answers.groupby("worker", observed=True)[["hidden_ms", "active_ms"]].sum()
        by_worker = is_away.groupby(answers["worker"], observed=True)
        facts = evidence_table(share=by_worker.mean(), dialogs=by_worker.size())
        facts["hidden_share_of_time"] = times["hidden_ms"] / times.sum(axis=1)
        return findings_of(facts[is_at_least(facts["share"], self.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])


def _checkpoints(frames: "Frames", fewest: int) -> "pd.DataFrame":
    names = ["checkpoints", "first_points", "points", "attempts"]
    facts = frames.submissions.groupby("worker", observed=True)[names].sum()
    return facts[facts["checkpoints"] >= fewest].copy()
