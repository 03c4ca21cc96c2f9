"""Defines the rules about how a worker worked: pace, hidden tabs, attempts, cards moved after a check."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evalplatform.wording import count_of
from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.screening_rule import Finding, ScreeningRule, Share, as_percent
from hits.screening.findings import FEWEST_DIALOGS, UNJUDGED, evidence_table, findings_of, is_at_least
from hits.screening.pointless_rules import no_checks, too_few_checkpoints, too_few_dialogs

if TYPE_CHECKING:
    import pandas as pd

    from hits.frames import Frames


class TooFastPerDialog(ScreeningRule):
    """Leaves out workers who looked at at least this `share` of their dialogs for less than this many `seconds` each.

    If the page measured nothing, all the time that the clocks allow is spread evenly over the dialogs. Workers who
    answered fewer than five dialogs are not judged.
    """

    rule: Literal["too_fast_per_dialog"] = "too_fast_per_dialog"
    seconds: float = Field(15.0, gt=0, le=3600, allow_inf_nan=False)
    share: Share = 0.5

    def excluded(self) -> str:
        return (
            f"all work of workers who looked at {as_percent(self.share)} or more of their dialogs for less than "
            f"{self.seconds:g} seconds each{UNJUDGED}"
        )

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

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return too_few_dialogs(design)


class FirstAttemptFailures(ScreeningRule):
    """Leaves out workers who failed at this `share` of checkpoints at first, if they had this many `checkpoints`.

    The first check counts, or the final answer if they never checked. Workers who try until a checkpoint turns green
    have all points in the end, so their bonus hides that they guessed.
    """

    is_about_points: ClassVar[bool] = True

    rule: Literal["first_attempt_failures"] = "first_attempt_failures"
    share: Share = 0.5
    checkpoints: int = Field(9, ge=1, le=10_000)

    def excluded(self) -> str:
        return (
            f"all work of workers whose first attempt failed at {as_percent(self.share)} or more of their checkpoints, "
            f"if they had seen at least {count_of(self.checkpoints, 'checkpoint')}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        facts = _count_checkpoints(frames, self.checkpoints)
        share = 1 - facts["first_points"] / facts["checkpoints"]
        facts.insert(0, "share", share)
        return findings_of(facts[is_at_least(share, self.share)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return too_few_checkpoints(design, self.checkpoints)


class ManyAttempts(ScreeningRule):
    """Leaves out workers who needed this many `attempts` a checkpoint on average, if they had this many `checkpoints`.

    If two of three answers pass, random answers win two of three points at the first attempt. So first attempts alone
    don't show who guesses, but further attempts do.
    """

    is_about_points: ClassVar[bool] = True

    rule: Literal["many_attempts"] = "many_attempts"
    attempts: float = Field(1.3, gt=1, le=100, allow_inf_nan=False)
    checkpoints: int = Field(9, ge=1, le=10_000)

    def excluded(self) -> str:
        return (
            f"all work of workers who needed {self.attempts:g} or more attempts per checkpoint on average, if they had "
            f"seen at least {count_of(self.checkpoints, 'checkpoint')}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        facts = _count_checkpoints(frames, self.checkpoints)
        each = facts["attempts"] / facts["checkpoints"]
        facts.insert(0, "attempts_each", each)
        return findings_of(facts[is_at_least(each, self.attempts)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        most = design.checkpoints.max_attempts
        if 0 < most < self.attempts:
            message = f"nobody can need more than {most} (checkpoints.max_attempts), so that it finds nobody; lower it"
            return [DesignProblem("attempts", message)]
        return no_checks(design, "attempts") or too_few_checkpoints(design, self.checkpoints)


class MovedAfterCheck(ScreeningRule):
    """Leaves out workers who changed their answer after a check had passed, at this `share` of those checks.

    They checked only to win the point, and then handed in something else. Only workers with at least this many
    `checkpoints` that passed are judged. The protocol says what a changed answer is: with areas, at least two fifths of
    the dialog's cards stand elsewhere in the end than at the last check that passed. A worker who improves one reply of
    five afterwards stays well below that.
    """

    is_about_points: ClassVar[bool] = True

    rule: Literal["moved_after_check"] = "moved_after_check"
    share: Share = 0.5
    checkpoints: int = Field(3, ge=1, le=10_000)

    def excluded(self) -> str:
        return (
            f"all work of workers who changed their answer after {as_percent(self.share)} or more of the checkpoints "
            f"that they had passed, if they had passed at least {count_of(self.checkpoints, 'checkpoint')}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        facts = frames.submissions.groupby("worker", observed=True)[["moved_checks", "passed_checks", "points"]].sum()
        facts = facts[facts["passed_checks"] >= self.checkpoints].copy()
        share = facts["moved_checks"] / facts["passed_checks"]
        facts.insert(0, "share", share)
        return findings_of(facts[is_at_least(share, self.share)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return no_checks(design, "share") or too_few_checkpoints(design, self.checkpoints)


class Inattention(ScreeningRule):
    """Leaves out workers whose page was hidden for longer than it was in front, in at least this `share` of dialogs.

    Dialogs are counted and not minutes, since one long break is no inattention. Workers who answered fewer than five
    dialogs are not judged.
    """

    rule: Literal["inattention"] = "inattention"
    share: Share = 0.5

    def excluded(self) -> str:
        return (
            "all work of workers whose browser tab was hidden for longer than it was visible in "
            f"{as_percent(self.share)} or more of their dialogs{UNJUDGED}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        answers = frames.answers
        is_away = answers["hidden_ms"] > answers["active_ms"]
        times = answers.groupby("worker", observed=True)[["hidden_ms", "active_ms"]].sum()
        by_worker = is_away.groupby(answers["worker"], observed=True)
        facts = evidence_table(share=by_worker.mean(), dialogs=by_worker.size())
        facts["hidden_share_of_time"] = times["hidden_ms"] / times.sum(axis=1)
        return findings_of(facts[is_at_least(facts["share"], self.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return too_few_dialogs(design)


def _count_checkpoints(frames: "Frames", fewest: int) -> "pd.DataFrame":
    """Return the checkpoint counts of workers who had at least `fewest` checkpoints."""
    names = ["checkpoints", "first_points", "points", "attempts"]
    facts = frames.submissions.groupby("worker", observed=True)[names].sum()
    return facts[facts["checkpoints"] >= fewest].copy()
