"""Defines the paper's own rules (Xie and Pu 2021, section 5.4.2), in its words and as we read them.

"We discarded answers from low-quality workers, i.e., those who provided the same answer for almost all dialogs, and
those who completed the tasks in less than five minutes and failed to obtain at least two bonus points. Then, to
calculate the human evaluation scores, we further selected out those assignments with at least two bonus points."
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evalplatform.wording import count_of
from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.screening_rule import Finding, ScreeningRule, Share, as_percent
from hits.screening.findings import (
    FEWEST_DIALOGS,
    UNJUDGED,
    counts_by_worker,
    evidence_table,
    findings_of,
    is_at_least,
    plain,
)

if TYPE_CHECKING:
    from hits.frames import Frames


class SameAnswer(ScreeningRule):
    """Leaves out workers who gave the same answer to at least this `share` of all their cards.

    The paper: "provided the same answer for almost all dialogs". It gives no number. A card counts once, even if
    several models wrote it. Where two replies are compared, the answer is which place the worker prefers. Workers who
    answered fewer than five dialogs are not judged.
    """

    is_default: ClassVar[bool] = True

    rule: Literal["same_answer"] = "same_answer"
    share: Share = 0.95

    def excluded(self) -> str:
        return (
            f"all work of workers who gave the same answer to {as_percent(self.share)} or more of all replies that "
            f"they rated{UNJUDGED}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        areas = counts_by_worker(frames.cards_by_place, "value")
        dialogs = frames.answers.groupby("worker", observed=True).size()
        total = areas.sum(axis=1)
        facts = evidence_table(share=areas.max(axis=1) / total, area=areas.idxmax(axis=1), cards=total)
        is_same = is_at_least(areas.max(axis=1), self.share * total)
        return findings_of(facts[is_same & (dialogs.reindex(facts.index) >= FEWEST_DIALOGS)])


class HastyWithoutPoints(ScreeningRule):
    """Leaves out workers who did any HIT in less than this many `minutes` and won fewer than this many `points` in it.

    The paper: "completed the tasks in less than five minutes and failed to obtain at least two bonus points". It speaks
    of workers here and of assignments in its next sentence, so all work of such a worker is left out. Its "tasks" are
    the dialogs of a HIT. Time that an accepted HIT waits in a queue does not count.
    """

    is_default: ClassVar[bool] = True
    is_about_points: ClassVar[bool] = True

    rule: Literal["hasty_without_points"] = "hasty_without_points"
    minutes: float = Field(5, gt=0, le=1440, allow_inf_nan=False)
    points: int = Field(2, ge=0, le=100)

    def excluded(self) -> str:
        return (
            f"all work of workers who completed any assignment in less than {self.minutes:g} minutes and won fewer "
            f"than {count_of(self.points, 'bonus point')} in it"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        submissions = frames.submissions
        is_hasty = (submissions["work_seconds"] < 60 * self.minutes) & (submissions["points"] < self.points)
        hasty = submissions[is_hasty].sort_values(["work_seconds", "submission"])
        by_worker = hasty.groupby("worker", observed=True)
        facts = evidence_table(
            minutes=by_worker["work_seconds"].first() / 60,
            points=by_worker["points"].first(),
            hit=by_worker["hit"].first() + 1,  # as people count them
            assignments=by_worker.size(),
        )
        facts["of"] = submissions.groupby("worker", observed=True).size().reindex(facts.index)
        return findings_of(facts)


class TooFewPoints(ScreeningRule):
    """Leaves out single assignments with fewer than this many bonus `points`.

    The paper: "to calculate the human evaluation scores, we further selected out those assignments with at least two
    bonus points". Other assignments of the same worker stay.
    """

    is_default: ClassVar[bool] = True
    is_about_points: ClassVar[bool] = True

    rule: Literal["too_few_points"] = "too_few_points"
    points: int = Field(2, ge=0, le=100)

    def excluded(self) -> str:
        return f"single assignments in which fewer than {count_of(self.points, 'bonus point')} were won"

    def find(self, frames: "Frames") -> list[Finding]:
        found = frames.submissions[frames.submissions["points"] < self.points]
        columns = ("worker", "submission", "points", "checkpoints", "hit")
        return [
            Finding(
                worker, {"points": plain(points), "checkpoints": plain(most), "hit": plain(hit) + 1}, int(submission)
            )
            for worker, submission, points, most, hit in zip(*(found[name] for name in columns), strict=True)
        ]

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        """Asking for more points than there are would leave everything out."""
        most = design.checkpoints.per_hit
        if self.points <= most:
            return []
        message = (
            f"{count_of(self.points, 'point')} can never be won with {count_of(most, 'checkpoint')} a HIT, so nothing "
            "would be kept; lower it, or leave the rule out"
        )
        return [DesignProblem("points", message)]
