"""Rules about patterns in one worker's own answers: straight lines, and areas that follow the place on the page."""

import numpy as np
import pandas as pd

from hits.frames.study_frames import Frames
from hits.models.design import PositionBias, StraightLines
from hits.screening.findings import FEWEST_DIALOGS, Finding, counts_by_worker, findings_of
from hits.stats.association import association_within_strata


def straight_lines(frames: Frames, rule: StraightLines) -> list[Finding]:
    """Finds workers who put all cards of a dialog into one area in at least `share` of their dialogs with two cards or
    more. Wider than `same_answer`: the area may change from dialog to dialog."""
    cards = frames.cards
    by_dialog = cards.groupby(["submission", "item"], sort=False)["score"].agg(["min", "max", "size"])
    workers = cards.drop_duplicates(["submission", "item"])["worker"]
    lines = pd.DataFrame({"worker": workers.array, "is_line": (by_dialog["min"] == by_dialog["max"]).array})
    by_worker = lines[(by_dialog["size"] > 1).array].groupby("worker", observed=True)["is_line"]
    facts = pd.DataFrame({"share": by_worker.mean(), "dialogs": by_worker.size()})
    return findings_of(facts[(facts["share"] >= rule.share - 1e-9) & (facts["dialogs"] >= FEWEST_DIALOGS)])


def position_bias(frames: Frames, rule: PositionBias) -> list[Finding]:
    """The order of the cards is drawn, so an area that depends on the place says something about the worker alone. A
    test of area against place within dialogs, with Bonferroni's correction for the number of workers, and a strength
    (Cramér's V, 0 to 1) so that thousands of ratings don't turn a habit into an offence.
    """
    cards = frames.cards
    tested = association_within_strata(
        cards["worker"].cat.codes.to_numpy(),
        cards.groupby(["submission", "item"], sort=False).ngroup().to_numpy(),
        cards["place"].to_numpy(),
        cards["value"].cat.codes.to_numpy(),
    )
    tested.index = cards["worker"].cat.categories[tested.index]
    tested["p_value"] = np.minimum(1, tested["p_value"] * len(tested))
    found = tested[(tested["p_value"] <= rule.p_value) & (tested["strength"] >= rule.strength)]
    suspect = cards[cards["worker"].isin(found.index)]
    facts = found[["p_value", "strength"]].assign(cards=found["count"], workers_tested=len(tested))
    facts["usual_areas"] = [_usual_areas(suspect[suspect["worker"] == worker]) for worker in facts.index]
    return findings_of(facts)


def _usual_areas(cards: pd.DataFrame) -> str:
    """The most frequent area at each place, from the top."""
    by_place = counts_by_worker(cards.assign(worker=cards["place"]), "value")
    return ", ".join(str(area) for area in by_place.idxmax(axis=1))
