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
from hits.screening.pointless_rules import (
    all_points_wanted,
    never_alike,
    points_of_comparisons,
    points_out_of_reach,
    too_few_dialogs,
)

if TYPE_CHECKING:
    import pandas as pd

    from hits.frames import Frames


class SameAnswer(ScreeningRule):
    """Leaves out workers who gave the same answer to at least this `share` of what it `counts`: dialogs, or cards.

    The paper: "provided the same answer for almost all dialogs". It gives no number. Its answer is a worker's response
    to one dialog: what they said of the cards, in the order of the page. If they said the same of all cards, their
    number does not matter. With "cards", each card is an answer of its own, and counts once even if several models
    wrote it. Where two replies are compared, the answer is which place the worker prefers. Workers who answered fewer
    than five dialogs are not judged.
    """

    is_default: ClassVar[bool] = True
    is_about_one_answer: ClassVar[bool] = True

    rule: Literal["same_answer"] = "same_answer"
    share: Share = 0.95
    counts: Literal["dialogs", "cards"] = "dialogs"

    def excluded(self) -> str:
        rated = "dialogs that they answered" if self.counts == "dialogs" else "replies that they rated"
        return (
            f"all work of workers who gave the same answer to {as_percent(self.share)} or more of the {rated}{UNJUDGED}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        facts = self._count_dialogs(frames) if self.counts == "dialogs" else self._count_cards(frames)
        dialogs = frames.answers.groupby("worker", observed=True).size()
        is_same = is_at_least(facts["share"], self.share)
        return findings_of(facts[is_same & (dialogs.reindex(facts.index) >= FEWEST_DIALOGS)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        about_cards = never_alike(design, "counts") if self.counts == "cards" else []
        return about_cards or too_few_dialogs(design)

    def _count_cards(self, frames: "Frames") -> "pd.DataFrame":
        values = counts_by_worker(frames.cards_by_place, "value")
        total = values.sum(axis=1)
        return evidence_table(share=values.max(axis=1) / total, answer=values.idxmax(axis=1), cards=total)

    def _count_dialogs(self, frames: "Frames") -> "pd.DataFrame":
        answered, names = _whole_answers(frames.cards_by_place)
        counts = answered.groupby(["worker", "answer"], observed=True).size().rename("count").reset_index()
        most = counts.sort_values(["count", "answer"], ascending=[False, True]).drop_duplicates("worker")
        most = most.set_index("worker")
        total = answered.groupby("worker", observed=True).size().reindex(most.index)
        return evidence_table(share=most["count"] / total, answer=most["answer"].map(names), dialogs=total)


def _whole_answers(cards: "pd.DataFrame") -> "tuple[pd.DataFrame, dict[int, str]]":
    """Return the worker and the answer of each dialog that was answered, and the answers in words. Answers are the same
    if the same was said at each place of the page, or if the same was said of all cards in both."""
    import numpy as np

    dialog = cards.groupby(["submission", "item"], sort=False).ngroup().to_numpy()
    workers = cards["worker"][~cards.duplicated(["submission", "item"])]
    codes = cards["value"].cat.codes.to_numpy()
    said = np.full((len(workers), int(cards["place"].max()) + 1), -1, codes.dtype)
    said[dialog, cards["place"].to_numpy()] = codes
    most = said.max(axis=1)
    is_uniform = ((said == most[:, None]) | (said < 0)).all(axis=1)
    said[is_uniform] = -1
    said[is_uniform, 0] = most[is_uniform]
    distinct, answer = np.unique(said, axis=0, return_inverse=True)
    values = [str(value) for value in cards["value"].cat.categories]
    every = "all " if len(cards) > len(workers) else ""  # a comparison is a single answer
    words = {number: ", ".join(values[code] for code in row if code >= 0) for number, row in enumerate(distinct)}
    words = {number: text if ", " in text else f"{every}{text}" for number, text in words.items()}
    return evidence_table(worker=workers.array, answer=answer.ravel()), words


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

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        limit = design.crowd.time_limit_minutes
        found = points_out_of_reach(design, self.points, "that all fast work would be left out, whatever it won")
        if self.minutes >= limit:
            message = (
                f"nobody can take longer: the time limit is {limit:,} minutes, so that everyone counts as hasty; lower "
                "it, or leave the rule out"
            )
            found.append(DesignProblem("minutes", message))
        return found

    def cautions(self, design: StudyDesign) -> list[str]:
        return [*all_points_wanted(design, self.rule, self.points), *points_of_comparisons(design, self.rule)]


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
        return points_out_of_reach(design, self.points, "that nothing would be kept")

    def cautions(self, design: StudyDesign) -> list[str]:
        return [*all_points_wanted(design, self.rule, self.points), *points_of_comparisons(design, self.rule)]
