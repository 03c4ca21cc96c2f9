"""Comparing two replies: which pairs are shown, how often, and what follows from an answer."""

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from generation.models import Candidate
from hits.batching import build_hits
from hits.designing import create_study, summarise_frozen
from hits.designing import design_problems as checking
from hits.designing.analysis_words import warn_of_analysis
from hits.errors import InvalidStudy
from hits.models import HitItem, Study
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import InvalidAnswer
from hits.protocols.checking_protocols import SMALLEST_DESIGN
from hits.protocols.pairs import Pairs
from hits.screening.paper_rules import TooFewPoints
from tests.conftest import DEMO

MODELS = ["generic", "listener-large", "listener-small", "parrot"]


def built(**changes: Any) -> Study:
    study = create_study({**DEMO, "protocol": "pairs", **changes})
    build_hits(study)
    study.refresh_from_db()
    return study


def pairs_shown() -> Counter[tuple[int, tuple[str, ...]]]:
    """How often each pair of models is shown beside which dialog, with identical replies as two models."""
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    return Counter(
        (item.dialog_id, tuple(sorted(names[pk] for card in item.cards for pk in card.candidates)))
        for item in HitItem.objects.filter(is_checkpoint=False)
    )


@pytest.mark.usefixtures("example_corpus")
def test_each_dialog_comes_once_with_each_pair_and_no_hit_has_it_twice() -> None:
    study = built(task={"pairs_per_dialog": "each"}, checkpoints={"per_hit": 0}, pay={"bonus": "0"}, screening=[])

    shown = pairs_shown()
    assert len(shown) == 60 * 6
    assert set(shown.values()) == {1}
    assert Counter(pair for _, pair in shown) == dict.fromkeys(combinations(MODELS, 2), 60)
    items = HitItem.objects.values_list("hit", "dialog")
    assert len(set(items)) == len(items) == 360
    assert set(Counter(hit for hit, _ in items).values()) == {10}
    assert summarise_frozen(study).size.different_dialogs == 60


@pytest.mark.usefixtures("example_corpus")
def test_only_the_pairs_of_the_analysis_are_shown() -> None:
    built(
        analysis={"compare": "one against the others", "reference": "parrot"},
        checkpoints={"per_hit": 0},
        pay={"bonus": "0"},
        screening=[],
    )

    by_pair = Counter(pair for _, pair in pairs_shown())

    assert set(by_pair) == {tuple(sorted(("parrot", name))) for name in MODELS[:3]}
    assert set(by_pair.values()) == {20}


@pytest.mark.usefixtures("example_corpus")
def test_too_few_hits_for_each_pair_are_one_line() -> None:
    settings = {
        **DEMO,
        "protocol": "pairs",
        "task": {"pairs_per_dialog": "each"},
        "datasets": [{"name": "example-empathetic", "dialogs": 2}],
        "checkpoints": {"per_hit": 0},
        "pay": {"bonus": "0"},
        "screening": [],
    }

    with pytest.raises(InvalidStudy, match="too few HITs to show each dialog once with each pair"):
        build_hits(create_study(settings))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"task": {"pairs_per_dialog": "each"}, "hits": {"uneven_end": "drop"}}, "no dialog can be left out"),
        ({"analysis": {"compare": "named pairs", "pairs": []}}, "names no pair"),
        ({"warm_up": {"replies": [{"text": "Oh no!", "fitting": ["better"]}]}}, "write exactly two"),
        ({"checkpoints": {"question": "wit"}}, "nobody is asked about 'wit'"),
    ],
)
@pytest.mark.usefixtures("example_corpus")
def test_settings_that_contradict_themselves_are_told(changes: dict[str, Any], problem: str) -> None:
    settings = {**DEMO, "protocol": "pairs", **changes}
    if "checkpoints" in changes:
        settings["checkpoints"] = {**DEMO["checkpoints"], **changes["checkpoints"]}

    assert any(problem in str(one) for one in checking.problems_of(settings))


def pairs(**task: Any) -> Pairs:
    design = {**SMALLEST_DESIGN, "generators": ["a", "b"], "protocol": "pairs", "task": task}
    return Pairs(StudyDesign.model_validate(design))  # type: ignore[arg-type]


def test_a_study_of_defaults_leaves_no_careful_work_out_for_a_tie_with_the_human_reply() -> None:
    design = pairs().design

    assert [rule.rule for rule in design.screening] == ["same_answer"]
    assert pairs().passing_values == ("win", "tie")
    assert pairs(may_tie=False).passing_values == ("win",)
    assert "equal" not in pairs(may_tie=False).how_to_win()


def test_a_rule_about_points_is_cautioned_of_where_replies_are_compared() -> None:
    design = pairs().design
    [caution] = TooFewPoints().cautions(design)

    assert "too_few_points is about points, which careful workers often miss where replies are compared" in caution
    assert TooFewPoints().cautions(StudyDesign.model_validate({**SMALLEST_DESIGN, "protocol": "areas"})) == []


def test_both_bad_is_stored_and_counts_as_a_tie() -> None:
    protocol = pairs(may_reject_both=True)
    cards = [Card((1,), False), Card((2,), False)]

    value = protocol.read({"better": {"overall": "both_bad"}}, [1, 0])

    assert value == {"better": {"overall": "both_bad"}}
    assert protocol.show(value, [0, 1]) == {"better": {"overall": "both_bad"}, "why": ""}
    [rating] = protocol.judgements(value, [1, 0], cards)
    assert (rating.candidate, rating.opponent, rating.value) == (1, 2, "tie")


def test_sides_are_turned_into_cards_and_ratings_don_t_depend_on_them() -> None:
    protocol = pairs()
    cards = [Card((1,), False), Card((2,), False)]
    left, right = (
        protocol.read({"better": {"overall": side}}, order) for side, order in [("first", [0, 1]), ("second", [1, 0])]
    )

    assert left == right == {"better": {"overall": 0}}
    for order in ([0, 1], [1, 0]):
        [rating] = protocol.judgements(left, order, cards)
        assert (rating.candidate, rating.opponent, rating.value, rating.place) == (1, 2, "win", order.index(0))


@pytest.mark.parametrize(
    "sent",
    [
        {"better": {"overall": "tie"}},
        {"better": {"overall": "both_bad"}},
        {"better": {"overall": "first"}, "why": "Because."},
        {"better": {"wit": "first"}},
    ],
)
def test_what_a_study_does_not_offer_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(InvalidAnswer):
        pairs(may_tie=False).read(sent, [0, 1])


def test_two_models_that_say_the_same_are_a_tie() -> None:
    cards = [Card((1, 2), False)]

    [rating] = pairs().judgements(pairs().nothing(), [0], cards)

    assert (rating.candidate, rating.opponent, rating.value) == (1, 2, "tie")
    assert list(pairs(may_tie=False).judgements(pairs().nothing(), [0], cards)) == []


@pytest.mark.parametrize(("typed", "stored"), [("  \n ", None), ("\n It listens. \n", "It listens.")])
def test_a_reason_has_no_blanks_around_it(typed: str, stored: str | None) -> None:
    value = pairs(asks_why=True).read({"better": {"overall": "first"}, "why": typed}, [0, 1])

    assert value.get("why") == stored


def test_a_study_in_which_each_pair_has_too_few_dialogs_is_warned_before_it_is_frozen() -> None:
    design = StudyDesign.model_validate({**SMALLEST_DESIGN, "generators": ["a", "b", "c"], "protocol": "pairs"})
    each = design.model_copy(update={"task": design.task.model_copy(update={"pairs_per_dialog": "each"})})

    [warning] = [one for one in warn_of_analysis(design, 12) if "dialogs" in one and "worker" not in one]

    assert "3 dialogs" in warning, "a third of those that are no checkpoints"
    assert not [one for one in warn_of_analysis(each, 12) if "3 dialogs" in one]
