"""Defines the rules about patterns in a worker's answers: straight lines, and answers that follow the card's place."""

from typing import TYPE_CHECKING, ClassVar, Literal

from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.screening_rule import Finding, ScreeningRule, Share, as_percent
from hits.screening.findings import FEWEST_DIALOGS, UNJUDGED, counts_by_worker, evidence_table, findings_of, is_at_least
from hits.screening.pointless_rules import never_alike, single_cards, too_few_dialogs

if TYPE_CHECKING:
    import pandas as pd

    from hits.frames import Frames


class StraightLines(ScreeningRule):
    """Leaves out workers who gave all cards of a dialog the same answer, in at least this `share` of their dialogs.

    This finds more than `same_answer`: the answer may change from dialog to dialog. Dialogs with a single card don't
    count, and workers with fewer than five other dialogs are not judged.
    """

    rule: Literal["straight_lines"] = "straight_lines"
    share: Share = 0.8

    def excluded(self) -> str:
        return (
            "all work of workers who gave the same answer to all replies of a dialog in "
            f"{as_percent(self.share)} or more of their dialogs{UNJUDGED}"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        cards = frames.cards
        by_dialog = cards.groupby(["submission", "item"], sort=False)["score"].agg(["min", "max", "size"])
        workers = cards.drop_duplicates(["submission", "item"])["worker"]
        lines = evidence_table(worker=workers.array, is_line=(by_dialog["min"] == by_dialog["max"]).array)
        by_worker = lines[(by_dialog["size"] > 1).array].groupby("worker", observed=True)["is_line"]
        facts = evidence_table(share=by_worker.mean(), dialogs=by_worker.size())
        return findings_of(facts[is_at_least(facts["share"], self.share) & (facts["dialogs"] >= FEWEST_DIALOGS)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return single_cards(design, "share") or never_alike(design, "share") or too_few_dialogs(design)


class PositionBias(ScreeningRule):
    """Leaves out workers whose answers depend on the card's place on the page, strongly and more than chance explains.

    The order of the cards is random, so an answer that depends on the place says something about the worker alone. The
    test is that of Cochran, Mantel and Haenszel within dialogs; its `p_value` is multiplied by the number of workers.
    `strength` is Cramér's V, from 0 to 1: it keeps thousands of ratings from turning a slight habit into an offence.
    """

    is_about_places: ClassVar[bool] = True

    rule: Literal["position_bias"] = "position_bias"
    p_value: Share = 0.01
    strength: Share = 0.4

    def excluded(self) -> str:
        return (
            "all work of workers whose answers depended on where a reply stood on the page (Cochran-Mantel-Haenszel "
            f"test within dialogs, Bonferroni-corrected p at most {self.p_value:g}, and Cramér's V of at least "
            f"{self.strength:g})"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        import numpy as np

        from hits.stats import association_within_strata  # which needs pandas

        cards = frames.cards
        tested = association_within_strata(
            cards["worker"].cat.codes.to_numpy(),
            cards.groupby(["submission", "item"], sort=False).ngroup().to_numpy(),
            cards["place"].to_numpy(),
            cards["value"].cat.codes.to_numpy(),
        )
        tested.index = cards["worker"].cat.categories[tested.index]
        tested["p_value"] = np.minimum(1, tested["p_value"] * len(tested))
        found = tested[(tested["p_value"] <= self.p_value) & (tested["strength"] >= self.strength)]
        suspect = cards[cards["worker"].isin(found.index)]
        facts = found[["p_value", "strength"]].assign(cards=found["count"], workers_tested=len(tested))
        facts["usual_areas"] = [_usual_areas(suspect[suspect["worker"] == worker]) for worker in facts.index]
        return findings_of(facts)

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return single_cards(design, "strength")


def _usual_areas(cards: "pd.DataFrame") -> str:
    """List the most frequent answer at each place, from the top of the page."""
    by_place = counts_by_worker(cards.assign(worker=cards["place"]), "value")
    return ", ".join(str(value) for value in by_place.idxmax(axis=1))
