"""Whole ratings frames of the papers' designs, drawn through their protocols, and what is true of their tables."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.paper_cells import cells_of, true_verdicts
from hits.designing import parse_design, read_study_file
from hits.models.design import StudyDesign
from hits.stats import PLANNED_EFFECTS, Effects
from simulated_crowd.rehearsing_protocols import draw_ratings
from simulated_crowd.truths import Truth, read_truth
from tests.conftest import ROOT


def design_in(name: str) -> StudyDesign:
    return parse_design(read_study_file(ROOT / "examples" / f"{name}.toml"))


def drawn(name: str, workers: int, truth: str) -> pd.DataFrame:
    return draw_ratings(design_in(name), read_truth(truth), workers, seed=1)


def test_rashkin_s_frame_has_a_hundred_ratings_of_each_model_and_criterion_and_the_human_reply() -> None:
    frame = drawn("rashkin", 20, "rashkin")

    counts = frame.groupby(["criterion", "generator"], observed=True).size()
    assert set(counts) == {100}
    assert len(counts) == 3 * 18
    assert frame[frame["is_gold"]].groupby("criterion", observed=True).size().to_dict() == {
        "empathy": 180,
        "relevance": 180,
        "fluency": 180,
    }
    means = frame[~frame["is_gold"]].groupby("criterion", observed=True)["score"].mean()
    assert means["empathy"] < means["relevance"] < means["fluency"] - 0.5


def test_three_people_do_everything_and_a_fourth_decides_where_they_differ() -> None:
    frame = drawn("mime-ab", 3, "mime")

    fourth = frame["is_fourth_vote"].to_numpy()
    votes = frame[~fourth].groupby(["dialog", "generator", "opponent"], observed=True)["value"]
    assert set(votes.size()) == {3}
    assert len(votes) == 128 * 3
    assert int(fourth.sum()) == int((votes.nunique() == 3).sum()) > 30
    assert set(frame["worker"][fourth]) == {"W-3"}
    shares = frame[frame["opponent"] == "MIME"]["value"].value_counts(normalize=True)
    assert shares["loss"] == pytest.approx(0.403, abs=0.06)  # of the first one, which MIME beats


def test_verdicts_lie_further_apart_than_votes_the_more_so_the_less_people_agree() -> None:
    alone, alike = Truth(effects=Effects(reply=0)), Truth(effects=Effects(reply=0.6))

    assert np.round(true_verdicts((0.4, 0.3, 0.3), "fourth vote", alone), 4).tolist() == [0.4384, 0.2808, 0.2808]
    less = true_verdicts((0.4, 0.3, 0.3), "fourth vote", alike)
    assert 0.4 < less[0] < 0.43
    assert sum(true_verdicts((0.5, 0.2, 0.3), "majority", Truth(effects=PLANNED_EFFECTS))) == pytest.approx(1)


def test_each_cell_of_a_paper_s_tables_is_checked() -> None:
    rated, compared = cells_of("empdg", seed=1), cells_of("empdg-ab", seed=1)

    assert len(rated) == 2 * 4 * 3
    assert len(compared) == 2 * 3 * 3
