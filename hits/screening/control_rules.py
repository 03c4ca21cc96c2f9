"""Defines the rules about controls: attention checks that a worker failed, and repeats that came out otherwise."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from evalplatform.wording import count_of
from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.screening_rule import Finding, ScreeningRule, Share, as_percent
from hits.screening.findings import ROUNDING, findings_of
from hits.screening.pointless_rules import REMOVE, most_hits

if TYPE_CHECKING:
    from hits.frames import Frames


class FailedAttentionChecks(ScreeningRule):
    """Leaves out workers who `failed` this many attention checks: they did not answer what the page told them to.

    All of a dialog's replies must be answered as told. Two are what Prolific asks for before work may be rejected, in
    studies of five minutes or more. Who answers at random obeys one of three checks at most, and mostly none.
    """

    rule: Literal["failed_attention_checks"] = "failed_attention_checks"
    failed: int = Field(2, ge=1, le=1000)

    def excluded(self) -> str:
        return f"all work of workers who failed {count_of(self.failed, 'attention check')} or more"

    def find(self, frames: "Frames") -> list[Finding]:
        counts = ["attention_checks", "attention_passed"]
        facts = frames.submissions.groupby("worker", observed=True)[counts].sum()
        facts.insert(0, "failed", facts["attention_checks"] - facts.pop("attention_passed"))
        return findings_of(facts[facts["failed"] >= self.failed])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        most = design.checkpoints.attention_checks * most_hits(design)
        if self.failed <= most:
            return []
        message = (
            f"a worker meets {count_of(most, 'attention check')} at most (checkpoints.attention_checks), so that it "
            f"finds nobody; have more, or {REMOVE}"
        )
        return [DesignProblem("failed", message)]


class SelfDisagreement(ScreeningRule):
    """Leaves out workers who gave the same answer to less than this `share` of what came twice.

    Only workers with at least this many answers that were asked for `twice` are judged: each reply counts, and each
    criterion. On a scale of more than eleven points, the same answer means the same fifth of the scale. Where there are
    few values, chance alone makes some answers the same: a third of three areas.
    """

    rule: Literal["self_disagreement"] = "self_disagreement"
    share: Share = 0.3
    twice: int = Field(12, ge=1, le=10_000)

    def excluded(self) -> str:
        return (
            f"all work of workers who gave the same answer to less than {as_percent(self.share)} of what they were "
            f"asked twice, if that was {self.twice:,} times or more"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        facts = frames.submissions.groupby("worker", observed=True)[["said_twice", "said_alike"]].sum()
        facts = facts[facts["said_twice"] >= self.twice].copy()
        facts.insert(0, "share", facts["said_alike"] / facts["said_twice"])
        return findings_of(facts[facts["share"] < self.share - ROUNDING])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        if design.checkpoints.repeats:
            return []
        message = f"nothing comes twice in this study, so that it finds nobody; set checkpoints.repeats, or {REMOVE}"
        return [DesignProblem("share", message)]
