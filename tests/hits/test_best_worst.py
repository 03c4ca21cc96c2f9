"""Best-worst scaling: what follows from two marks, which models are shown, and a study from the crowd to its bundle."""

import math
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hits.analysing import analyse, analyse_study
from hits.analysing.separating import IN_ORDER
from hits.batching import build_hits
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study, parse_design
from hits.designing import design_problems as checking
from hits.exporting import check_bundle, export_bundle
from hits.frames import build_ratings, categories_from_codes
from hits.models import Rating, Study, offering_for
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import InvalidAnswer
from hits.protocols.best_worst import SCALE, BestWorst
from hits.protocols.checking_protocols import SMALLEST_DESIGN
from hits.screening import screen
from hits.stats import Estimate, Undefined
from simulated_crowd.channels import InProcess
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.people import Crowd
from simulated_crowd.rehearsing_protocols import rehearse
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import Truth, spaced_truth
from simulated_crowd.worker_types import BONUS_HUNTING, CAREFUL, SAME_ANSWER
from tests.conftest import DEMO
from tests.hits.crowd import now, publish

MODELS = ["generic", "listener-large", "listener-small", "parrot"]


def best_worst(models: int = 5, passed_by: str = "not worst", **task: Any) -> BestWorst:
    names = [f"model {number}" for number in range(models)]
    changed = {"protocol": "best-worst", "generators": names, "task": task, "checkpoints": {"passed_by": passed_by}}
    return BestWorst(StudyDesign.model_validate({**SMALLEST_DESIGN, **changed}))  # type: ignore[arg-type]


def cards(*writers: int) -> list[Card]:
    return [Card((writer,), False) for writer in writers]


def test_the_mean_score_is_best_minus_worst_by_shown() -> None:
    """The worked example of best-worst scaling: abcd a/d, abcd a/c, abce b/e, acde a/e, bcde b/d."""
    said = [("abcd", "a", "d"), ("abcd", "a", "c"), ("abce", "b", "e"), ("acde", "a", "e"), ("bcde", "b", "d")]
    rows = []
    for dialog, (shown, best, worst) in enumerate(said):
        order = [2, 0, 3, 1]
        sent = {"marked": {"best": str(order.index(shown.index(best))), "worst": str(order.index(shown.index(worst)))}}
        protocol = best_worst()
        value = protocol.read(sent, order)
        for one in protocol.judgements(value, order, cards(*("abcde".index(name) for name in shown))):
            rows.append((dialog, one.candidate, one.card, one.place, SCALE.values.index(one.value)))
    dialogs, writers, numbers, places, values = (list(column) for column in zip(*rows, strict=True))

    frame = build_ratings(
        {
            "submission": 0,
            "worker": ["w"] * len(rows),
            "dialog": dialogs,
            "dataset": "ED",
            "card": numbers,
            "place": places,
            "value": values,
            "generator": categories_from_codes(writers, list("abcde")),
            "score": [SCALE.scores[value] for value in values],
        },
        SCALE.values,
    )
    results = analyse(frame)

    means = {row.generator: row.mean_score for row in results.main.table}
    assert {name: mean.value for name, mean in means.items() if isinstance(mean, Estimate)} == pytest.approx(
        {"a": 0.75, "b": 0.5, "c": -0.2, "d": -0.5, "e": -2 / 3}
    )


def test_marks_are_stored_by_card_and_no_reply_is_both() -> None:
    protocol = best_worst()

    value = protocol.read({"marked": {"best": "0", "worst": "2"}}, [2, 0, 1])

    assert value == {"marked": {"best": 2, "worst": 1}}
    assert protocol.show(value, [0, 1, 2]) == {"marked": {"best": "2", "worst": "1"}}
    assert [protocol.values_of_card(value, card) for card in range(3)] == [
        {"overall": "neither"},
        {"overall": "worst"},
        {"overall": "best"},
    ]
    assert protocol.missing(protocol.read({"marked": {"best": "0"}}, [0, 1]), 2) == 2
    with pytest.raises(InvalidAnswer, match="No reply is the best and the worst"):
        protocol.read({"marked": {"best": "1", "worst": "1"}}, [0, 1])


def test_models_that_say_the_same_share_a_mark_and_a_single_reply_gets_none() -> None:
    protocol = best_worst()
    value = protocol.read({"marked": {"best": "0", "worst": "1"}}, [0, 1])

    shared = list(protocol.judgements(value, [0, 1], [Card((1, 2), False), Card((3,), False)]))
    single = list(protocol.judgements(protocol.nothing(), [0], [Card((1, 2), False)]))

    assert [(one.candidate, one.value) for one in shared] == [(1, "best"), (2, "best"), (3, "worst")]
    assert [(one.candidate, one.value) for one in single] == [(1, "neither"), (2, "neither")]
    assert protocol.missing(protocol.nothing(), 1) == 0


def test_the_human_reply_must_be_best_or_not_the_worst() -> None:
    lenient, strict = best_worst(), best_worst(passed_by="best")
    best, worst, neither = ({"marked": {"best": one, "worst": other}} for one, other in [(0, 1), (1, 0), (1, 2)])

    assert [lenient.passes(value, 0) for value in (best, neither, worst)] == [True, True, False]
    assert [strict.passes(value, 0) for value in (best, neither, worst)] == [True, False, False]
    assert not lenient.is_won_by_one_answer
    assert lenient.how_to_win() == "you do not mark it as the worst"
    assert lenient.said_of_gold(neither, 0) == "was neither"


@pytest.mark.parametrize(("models", "shown"), [(5, 4), (6, 4), (7, 3), (4, 2)])
def test_each_round_shows_all_models_equally_often_and_any_two_meet_equally_often(models: int, shown: int) -> None:
    protocol = best_worst(models, models_per_dialog=shown)
    rounds = math.comb(models - 1, shown - 1)

    line_ups = [protocol.line_up(number, False) for number in range(models * rounds)]

    for begin in range(0, len(line_ups), models):
        shown_there = Counter(name for one in line_ups[begin : begin + models] for name in one)
        assert sorted(shown_there.values()) == [shown] * models
    met = Counter(pair for one in line_ups for pair in combinations(one, 2))
    assert len(met) == math.comb(models, 2)
    assert len(set(met.values())) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"task": {"models_per_dialog": 1}}, "task.models_per_dialog: of one reply, none is best and worst"),
        ({"task": {"models_per_dialog": 5}}, r"the study has fewer models \(4\)"),
        ({"warm_up": {"replies": [{"text": "Oh no!", "fitting": ["best"]}] * 2}}, "warm_up.replies: no answer fits"),
        ({"analysis": {"drop_losers": True, "stop_when_decided": True}}, "analysis.drop_losers: can't be used here"),
        ({"screening": [{"rule": "straight_lines"}]}, "nobody can answer the same about all replies"),
        ({"screening": [{"rule": "same_answer", "counts": "cards"}]}, "nobody can answer the same about all replies"),
    ],
)
@pytest.mark.usefixtures("example_corpus")
def test_settings_that_contradict_themselves_are_told(changes: dict[str, Any], problem: str) -> None:
    told = [str(one) for one in checking.problems_of({**DEMO, "protocol": "best-worst", **changes})]

    assert any(re.search(problem, one) for one in told), told


def truth_of_places(*shares: tuple[float, ...]) -> Truth:
    return Truth(generators=dict(zip(MODELS, shares, strict=True)), human=(0.95, 0.04, 0.01))


TRUTH = truth_of_places((0.2, 0.3, 0.5), (0.7, 0.2, 0.1), (0.5, 0.3, 0.2), (0.1, 0.2, 0.7))


@pytest.fixture
def built(example_corpus: None) -> Study:
    rules = {**DEMO["checkpoints"], "attention_checks": 1, "repeats": 1}
    part = {"models_per_dialog": 3}
    study = create_study({**DEMO, "protocol": "best-worst", "task": part, "checkpoints": rules, "screening": []})
    build_hits(study)
    study.refresh_from_db()
    return study


def test_a_study_by_best_worst_scaling_goes_from_the_crowd_to_a_checked_bundle(
    built: Study, market: MTurkMarket, tmp_path: Path
) -> None:
    publish(built, market)
    simulate(built, Crowd(20, TRUTH, {CAREFUL: 0.9, BONUS_HUNTING: 0.1}, seed=3), InProcess())
    offering = offering_for(built, "local")
    collect(offering, market, now())
    screen(offering, now())

    assert set(Rating.objects.values_list("value", flat=True)) == {"best", "neither", "worst"}
    found = analyse_study(offering).main
    means = {row.generator: row.mean_score for row in found.table}
    table = {name: mean.value for name, mean in means.items() if isinstance(mean, Estimate)}
    assert sorted(table, key=table.__getitem__) == ["parrot", "generic", "listener-small", "listener-large"]
    export_bundle(offering, tmp_path / "bundle")
    assert check_bundle(tmp_path / "bundle") == []
    methods = (tmp_path / "bundle" / "methods.md").read_text(encoding="utf-8")
    assert "marked the best reply and the worst one (best-worst scaling)" in methods
    assert "No power analysis was made: the planner does not cover this way of asking" in methods
    datasheet = (tmp_path / "bundle" / "datasheet.md").read_text(encoding="utf-8")
    assert "Which of several replies are better than the others." in datasheet
    assert {one.dialogs for one in found.separations} <= {Undefined(IN_ORDER)}


def test_a_simulated_worker_ranks_replies_and_one_who_never_looks_marks_the_same_places() -> None:
    truth = Truth(generators={"good": (0.6, 0.3, 0.1), "poor": (0.1, 0.3, 0.6)})
    [careful], [same] = (Crowd(1, truth, {kind: 1}).workers for kind in (CAREFUL, SAME_ANSWER))
    writers = [("poor",), ("good",), ("poor",), ("good",), ("poor",)]

    leads = [Judge(careful, truth, 3).leads(KnownDialog("ED", str(number), {}), writers) for number in range(200)]

    best = Counter(best_worst().levels_in_order(one).index(0) for one in leads)
    assert best[1] + best[3] > 150
    assert len({lead for one in leads for lead in one}) == 400, "opinions of two writers are not cut, so none are equal"
    of_same = Judge(same, truth, 3).leads(KnownDialog("ED", "0", {}), writers)
    assert best_worst().sent_by(best_worst().levels_in_order(of_same)) == {"marked": {"best": "0", "worst": "4"}}


def test_rehearsed_workers_rank_the_models_as_the_truth_does() -> None:
    design = parse_design({**DEMO, "protocol": "best-worst"})

    seen = rehearse("demo", design, spaced_truth(MODELS, 10), studies=3, workers=12)

    assert seen.outcome == "mean score"
    assert sorted(seen.strengths, key=seen.strengths.__getitem__, reverse=True) == MODELS
