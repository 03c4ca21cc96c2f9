"""Truths of the papers' tables: a crowd that was told them says them, on each criterion and of each pair."""

from collections import Counter
from pathlib import Path

import pytest

from evalplatform.errors import EvalPlatformError
from hits.designing import parse_design, read_study_file
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.mean_shares import shares_of_mean
from simulated_crowd.people import Crowd
from simulated_crowd.truths import HUMAN, Truth, read_truth
from simulated_crowd.worker_types import CAREFUL, SAME_ANSWER
from tests.conftest import ROOT

POINTS = {"empathy": 5, "relevance": 5, "fluency": 5}


def mean_of(shares: tuple[float, ...]) -> float:
    return sum(share * (len(shares) - level) for level, share in enumerate(shares))


@pytest.mark.parametrize("mean", [1.1, 2.21, 3.0, 4.19, 4.68, 4.95])
def test_shares_have_the_mean_that_they_come_from(mean: float) -> None:
    assert mean_of(shares_of_mean(mean)) == pytest.approx(mean)


@pytest.mark.parametrize("name", ["rashkin", "empdg", "mime"])
def test_each_paper_s_truth_is_about_all_models_of_its_studies(name: str) -> None:
    truth = read_truth(name)
    files = [name, *([] if name == "rashkin" else [f"{name}-ab"])]

    for file in files:
        design = parse_design(read_study_file(ROOT / "examples" / f"{file}.toml"))
        assert truth.unmentioned(["ED"], design.generators) == []
    assert {len(one.generators) for one in truth.criteria.values()} == {{"rashkin": 18, "empdg": 4, "mime": 3}[name]}


def test_rashkin_s_rows_are_what_a_careful_crowd_says() -> None:
    truth = read_truth("rashkin")
    workers = Crowd(60, truth, {CAREFUL: 1}).workers
    sums: Counter[tuple[str, str]] = Counter()
    writers = [("Generative pretrained",), ("BERT TopicPrepend-1",), (HUMAN,)]

    for worker in workers:
        judge = Judge(worker, truth, level_count=5)
        for number in range(25):
            dialog = KnownDialog("ED", f"dialog {number}-{worker.number}", {})
            for criterion, levels in judge.levels_on(dialog, writers, POINTS).items():
                for (writer,), level in zip(writers, levels, strict=True):
                    sums[criterion, writer] += 5 - level

    means = {key: total / 1500 for key, total in sums.items()}
    assert means == pytest.approx(
        {
            **{("empathy", "Generative pretrained"): 2.31, ("relevance", "Generative pretrained"): 2.21},
            **{("fluency", "Generative pretrained"): 3.89, ("empathy", "BERT TopicPrepend-1"): 4.03},
            **{("relevance", "BERT TopicPrepend-1"): 3.98, ("fluency", "BERT TopicPrepend-1"): 4.65},
            **{("empathy", HUMAN): 4.19, ("relevance", HUMAN): 4.55, ("fluency", HUMAN): 4.68},
        },
        abs=0.15,
    )


def test_a_pair_is_won_tied_and_lost_as_the_truth_says_from_either_side() -> None:
    truth = read_truth("mime")
    said: Counter[str] = Counter()

    for worker in Crowd(60, truth, {CAREFUL: 1}).workers:
        judge = Judge(worker, truth, level_count=3)
        for number in range(40):
            dialog = KnownDialog("ED", f"dialog {number}-{worker.number}", {})
            mime, other = judge.levels_on(dialog, [("MIME",), ("MoEL",)], {"overall": 3})["overall"]
            turned = judge.levels_on(dialog, [("MoEL",), ("MIME",)], {"overall": 3})["overall"]
            assert turned == [other, mime]
            said["win" if mime < other else "loss" if mime > other else "tie"] += 1

    assert {name: count / 2400 for name, count in said.items()} == pytest.approx(
        {"win": 0.3882, "tie": 0.3286, "loss": 0.2832}, abs=0.04
    )


def test_a_worker_who_always_says_the_same_takes_the_first() -> None:
    truth = read_truth("empdg")
    judge = Judge(Crowd(1, truth, {SAME_ANSWER: 1}).workers[0], truth, level_count=3)

    for cards in ([("EmpDG",), ("MoEL",)], [("MoEL",), ("EmpDG",)]):
        assert judge.levels_on(KnownDialog("ED", "1", {}), cards, {"overall": 3}) == {"overall": [0, 1]}


def test_a_truth_without_criteria_gives_the_main_one_what_a_study_with_one_has() -> None:
    truth = read_truth("demo")
    judge = Judge(Crowd(1, truth, {CAREFUL: 1}).workers[0], truth, level_count=5)
    cards = [("parrot",), ("generic",), ("listener-large",)]

    found = judge.levels_on(KnownDialog("ED", "1", {}), cards, {"empathy": 5, "care": 5})

    assert found["empathy"] != found["care"]
    assert found["empathy"] == [judge.level(KnownDialog("ED", "1", {}), card) for card in cards]


def test_a_mean_outside_of_the_scale_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "truth.toml"
    file.write_text("[criteria.empathy.generators]\nA = 0.5\n")

    with pytest.raises(ValueError, match="must be a mean between 1 and 5"):
        Truth.model_validate({"human": 5.5})
    with pytest.raises(EvalPlatformError, match=r"criteria\.empathy\.generators\.A: must be a mean"):
        read_truth(str(file))
