"""Settings -> a Study, or every problem at once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalplatform.errors import EvalPlatformError
from generation.models import Candidate, Dialog
from hits.batching import build_hits
from hits.crowds.mturk.costs import MTurkFees
from hits.designing import (
    copy_study,
    create_study,
    describe_hourly_pay,
    get_study,
    hourly_pay_cents,
    parse_design,
    read_study_file,
    save_draft,
    select_dialogs,
    size_of_batches,
    summarise,
    summarise_frozen,
)
from hits.designing import design_problems as checking
from hits.designing.design_words import describe_cost
from hits.designing.sizing import cost_of
from hits.designing.summarising import _describe_rules
from hits.errors import InvalidStudy, StudyFrozen
from hits.models import Study
from hits.protocols import protocol_of
from tests.conftest import DEMO, ROOT

EXAMPLES = ROOT / "examples"


def settings(**changes: Any) -> dict[str, Any]:
    return {**read_study_file(EXAMPLES / "demo.toml"), **changes}


def problems_of(given: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in checking.problems_of(given)]


def test_the_paper_s_experiment_is_the_example_to_the_letter() -> None:
    design = parse_design(read_study_file(EXAMPLES / "meed2.toml"))

    assert [(part.name, part.dialog_count) for part in design.datasets] == [("OS", 2000), ("EDOS", 2000), ("ED", 2000)]
    assert len(design.generators) == 4
    assert (design.hits.dialogs_per_hit, design.hits.assignments) == (10, 4)
    assert (design.checkpoints.per_hit, design.checkpoints.datasets) == (3, ["ED"])
    assert protocol_of(design).passing_values == ["good", "okay"]
    assert (design.pay.reward_cents, design.pay.bonus_cents, design.pay.bonus_points) == (40, 10, 3)
    assert design.crowd.countries == ["US", "AU", "NZ", "GB", "CA"]
    assert (design.crowd.min_approved, design.crowd.min_approval_percent) == (100, 95)
    assert design.crowd.max_hits_per_worker == 50
    assert design.crowd.frame_height == 0  # as high as the worker's window
    assert [rule.rule for rule in design.screening] == ["same_answer", "hasty_without_points", "too_few_points"]


def test_what_a_file_leaves_out_is_the_paper_s_value() -> None:
    whole = parse_design(read_study_file(EXAMPLES / "meed2.toml"))
    needed = {name: value for name, value in read_study_file(EXAMPLES / "meed2.toml").items() if name in NEEDED}

    assert parse_design({**needed, "checkpoints": {"datasets": ["ED"]}}) == whole


NEEDED = ("name", "datasets", "generators")


def test_the_paper_s_experiment_costs_what_it_cost_to_the_cent() -> None:
    design = parse_design(read_study_file(EXAMPLES / "meed2.toml"))

    size = size_of_batches(design, 6000)
    cost = cost_of(design, size)

    assert (size.hit_count, size.assignment_count) == (600, 2400)
    assert (cost.reward_cents, cost.reward_fee_cents) == (960_00, 192_00)
    assert cost.bonus_cents + cost.bonus_fee_cents == 288_00
    assert "96,000 ratings, at most 1.50 cents each" in list(describe_cost(design, size))


def test_the_hourly_pay_is_said_and_warned_of_when_it_is_below_the_minimum() -> None:
    design = parse_design(read_study_file(EXAMPLES / "meed2.toml"))
    fair = parse_design(settings(pay={"reward": "1.82"}))

    assert hourly_pay_cents(design) == 160
    assert describe_hourly_pay(design) == (
        "$0.40 for 15 minutes is $1.60 an hour, below your minimum of $7.25: it takes a reward of $1.82 to reach it"
    )
    assert describe_hourly_pay(fair) == "$1.82 for 15 minutes is $7.28 an hour"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "My Study"}, "name: use small letters, digits and hyphens"),
        ({"pay": {"reward": 0}}, "pay.reward: mturk: it pays nothing below 0.01: set pay.reward to that or more"),
        ({"pay": {"reward": 0.004}}, "pay.reward: 0.004 is not a whole number of cents"),
        ({"pay": {"reward": "much"}}, "pay.reward: is not an amount of money"),
        ({"pay": {"reward": "NaN"}}, "pay.reward: is not an amount of money"),
        ({"pay": {"rewrad": 1}}, "pay.rewrad: is not a setting; did you mean reward?"),
        ({"zzz": 1}, "zzz: is not a setting; known are name, seed"),
        ({"crowd": {"countries": ["US", "UK"]}}, "crowd.countries.2: 'UK' is no country's code"),
        ({"crowd": {"frame_height": 120}}, "crowd.frame_height: is too low to work in; set 300 pixels or more, or 0"),
        ({"crowd": {"frame_height": -1}}, "crowd.frame_height: "),
        ({"generators": []}, "generators: List should have at least 1 item"),
        ({"generators": ["generic", "generic"]}, "generators: generic is listed twice"),
        ({"pay": {"bonus_points": 4}}, "pay.bonus_points: 4 points can never be won with 3 checkpoints a HIT"),
        ({"checkpoints": {"per_hit": 3}}, "checkpoints.datasets: is empty; name the datasets"),
        ({"checkpoints": {"datasets": ["OS"]}}, "checkpoints.datasets: 'OS' is not a dataset of this study"),
        (
            {"checkpoints": {"datasets": ["example-empathetic"], "passing_areas": []}},
            "checkpoints.passing_areas: lets no answer pass",
        ),
        (
            {"checkpoints": {"datasets": ["example-empathetic"], "passing_areas": ["good", "okay", "bad"]}},
            "checkpoints.passing_areas: lets every answer pass",
        ),
        (
            {"checkpoints": {"datasets": ["example-empathetic"], "passing_areas": ["great"]}},
            "checkpoints.passing_areas: 'great' is not an area of this study; its areas are good, okay, bad",
        ),
        (
            {"hits": {"dialogs": 2}},
            "checkpoints.per_hit: 3 checkpoints can't fit into a HIT of 2 dialogs",
        ),
        (
            {"crowd": {"time_limit_minutes": 14}},
            "crowd.time_limit_minutes: 14 minutes are less than the 15 minutes that a HIT takes (pay.expected_minutes)",
        ),
        ({"task": {"language": "English"}}, "task.language: 'English' is no language tag; write it as in BCP 47"),
        ({"task": {"language": "e"}}, "task.language: 'e' is no language tag"),
        ({"screening": [{"rule": "vibes"}]}, "screening.1: 'vibes' is no screening rule"),
        (
            {"screening": [{"rule": "too_few_points", "points": 4}]},
            "screening.1.points: 4 points can never be won with 3 checkpoints a HIT, so that nothing would be kept",
        ),
        (
            {"screening": [{"rule": "hasty_without_points", "points": 4}]},
            "screening.1.points: 4 points can never be won with 3 checkpoints a HIT, so that all fast work",
        ),
        (
            {"screening": [{"rule": "too_few_points", "points": 0}]},
            "screening.1.points: nobody has fewer than 0 points",
        ),
        (
            {"screening": [{"rule": "hasty_without_points", "minutes": 60}]},
            "screening.1.minutes: nobody can take longer: the time limit is 60 minutes",
        ),
        (
            {"screening": [{"rule": "first_attempt_failures", "checkpoints": 19}]},
            "screening.1.checkpoints: a worker can meet 18 checkpoints at most",
        ),
        (
            {"screening": [{"rule": "many_attempts"}], "checkpoints": {**DEMO["checkpoints"], "max_attempts": 1}},
            "screening.1.attempts: nobody can need more than 1 (checkpoints.max_attempts)",
        ),
        (
            {
                "screening": [{"rule": "moved_after_check"}],
                "checkpoints": {**DEMO["checkpoints"], "feedback": "after submission"},
            },
            "screening.1.share: workers learn their points after submission and check nothing",
        ),
        (
            {
                "screening": [{"rule": "same_answer"}],
                "crowd": {"max_hits_per_worker": 1},
                "hits": {"dialogs": 4},
                "checkpoints": {"per_hit": 0},
                "pay": {"bonus": 0},
            },
            "screening.1.share: a worker can answer 4 dialogs at most",
        ),
        (
            {"screening": [{"rule": "straight_lines"}], "generators": ["generic"]},
            "screening.1.share: it compares the cards of a dialog, and here one model makes one card a dialog",
        ),
        (
            {"screening": [{"rule": "disagreement_on_easy_items"}], "hits": {"assignments": 3}},
            "screening.1.others: it needs 4 workers for each dialog, and there are 3 (hits.assignments)",
        ),
        (
            {"screening": [{"rule": "copies"}], "hits": {"assignments": 1}},
            "screening.1.share: it needs 2 workers for each dialog, and there is 1 (hits.assignments)",
        ),
        ({"generators": ["generic", "GPT"]}, "generators: there is no generator 'GPT'; import its replies"),
        (
            {"datasets": [{"name": "OS", "dialogs": 10}], "checkpoints": {"datasets": ["OS"]}},
            "datasets.1.name: there is no dataset 'OS'; import it, or use one of: example-emotional",
        ),
        (
            {"datasets": [{"name": "example-empathetic", "dialogs": 30}]},
            "datasets: example-empathetic has 20 dialogs, and 30 are asked for; import more, ask for 20",
        ),
        (
            {
                "datasets": [
                    {"name": "example-empathetic", "dialogs": 2},
                    {"name": "example-emotional", "dialogs": 18},
                ],
            },
            "checkpoints.per_hit: 6 checkpoints are needed (2 HITs x 3), and only 2 of the chosen dialogs",
        ),
    ],
)
@pytest.mark.usefixtures("example_corpus")
def test_a_problem_names_its_field_and_says_what_to_do(changes: dict[str, Any], problem: str) -> None:
    found = problems_of(settings(**changes))

    assert len(found) == 1
    assert found[0].startswith(problem)


@pytest.mark.usefixtures("example_corpus")
def test_a_rule_that_asks_for_all_points_is_a_problem_at_its_field() -> None:
    """Two points of two checkpoints: the paper forgives one slip of three, and this rule could forgive none."""
    two = {"checkpoints": {**DEMO["checkpoints"], "per_hit": 2}, "pay": {"bonus_points": 2}}
    one_point = [{"rule": "hasty_without_points", "points": 1}, {"rule": "too_few_points", "points": 1}]

    found = [one.split(": a single slip")[0] for one in problems_of(settings(**two))]

    assert found == [
        "screening.2.points: 2 points of 2 checkpoints a HIT",
        "screening.3.points: 2 points of 2 checkpoints a HIT",
    ]
    assert problems_of(settings()) == []
    assert problems_of(settings(**two, screening=one_point)) == []


@pytest.mark.usefixtures("example_corpus")
def test_who_asks_for_all_of_three_points_is_told_what_that_means() -> None:
    strict = settings(screening=[{"rule": "too_few_points", "points": 3}])

    assert problems_of(strict) == []
    assert any("a single slip is enough" in line for line in summarise(parse_design(strict)).lines)


@pytest.mark.usefixtures("example_corpus")
def test_problems_of_settings_between_them_and_with_the_data_come_together() -> None:
    found = problems_of(
        settings(
            crowd={"countries": ["UK"]},
            pay={"bonus_points": 4},
            generators=["generic", "GPT"],
            datasets=[{"name": "example-empathetic", "dialogs": 30}, {"name": "OS", "dialogs": 1}],
        )
    )

    assert [line.split(":")[0] for line in found] == [
        "crowd.countries.1",
        "pay.bonus_points",
        "datasets.2.name",
        "generators",
        "datasets",
    ]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"pay": {"reward": "1e999999"}}, "pay.reward"),
        ({"pay": {"expected_minutes": float("inf")}}, "pay.expected_minutes"),
        ({"pay": {"reward_cents": 40}}, "pay.reward_cents"),
        ({"crowd": {"countries": [["US"]]}}, "crowd.countries.1"),
        ({"task": {"question": "a\0b"}}, "task.question"),
        ({"task": {"title": "t" * 129}}, "task.title"),
        (
            {"task": {"areas": [{"key": "very-good", "label": "Very good"}, {"key": "bad", "label": "Bad"}]}},
            "task.areas.1.key",
        ),
        ({"screening": [{"rule": "too_few_points", "points": 9}]}, "screening.1.points"),
        ({"pay": {"bonus_points": 0}}, "pay.bonus_points"),
        (
            {"checkpoints": {"per_hit": 0, "feedback": "after submission", "counts": "first check"}},
            "checkpoints.counts",
        ),
        ({"datasets": "x"}, "datasets"),
        ({"task": 5}, "task"),
    ],
)
@pytest.mark.usefixtures("example_corpus")
def test_odd_values_are_problems_and_never_crashes(given: dict[str, Any], field: str) -> None:
    assert field in [line.split(":")[0] for line in problems_of(settings(**given))]


@pytest.mark.usefixtures("example_corpus")
def test_what_the_data_gives_less_is_said() -> None:
    Candidate.objects.filter(generator__name="parrot", dialog__external_id="emotional-001").delete()
    design = parse_design(settings(data={"incomplete": "skip", "short": "take all"}))

    lines = summarise(design).lines

    assert "example-emotional gives 19 of the 20 dialogs asked for" in lines
    assert "example-emotional: 1 dialog is passed over: not every model answered" in lines


@pytest.mark.usefixtures("example_corpus")
def test_a_frozen_study_s_cost_is_that_of_what_was_built() -> None:
    study = create_study(settings(datasets=[{"name": "example-empathetic", "dialogs": 30}], data={"short": "take all"}))
    build_hits(study)
    study.refresh_from_db()
    before = summarise_frozen(study)
    extra = Dialog.objects.filter(dataset__name="example-subtitles")
    extra.update(dataset=Dialog.objects.filter(dataset__name="example-empathetic")[0].dataset)

    assert summarise_frozen(study) == before
    assert before.size.hit_count == study.hits.count() == 2


@pytest.mark.usefixtures("example_corpus")
def test_all_problems_come_at_once() -> None:
    found = problems_of(settings(name="!", pay={"reward": -1, "bonus": -1}, crowd={"countries": ["XX"]}, nonsense=1))

    assert [line.split(":")[0] for line in found] == [
        "name",
        "pay.reward",
        "pay.bonus",
        "crowd.countries.1",
        "nonsense",
    ]


@pytest.mark.usefixtures("example_corpus")
def test_unanswered_dialogs_are_counted_and_named() -> None:
    Candidate.objects.filter(
        generator__name="parrot", dialog__external_id__in=["emotional-003", "emotional-001"]
    ).delete()

    assert problems_of(settings()) == [
        "generators: parrot has no reply to 2 of the 20 chosen dialogs of example-emotional (emotional-001, "
        'emotional-003); import them, or set data.incomplete = "skip"'
    ]


@pytest.mark.usefixtures("example_corpus")
def test_policies_take_what_is_there_instead_of_refusing() -> None:
    Candidate.objects.filter(generator__name="parrot", dialog__external_id="emotional-001").delete()

    assert "19 dialogs that all generators have answered" in problems_of(settings(data={"incomplete": "skip"}))[0]
    assert problems_of(settings(data={"incomplete": "skip", "short": "take all"})) == []


def test_a_file_that_is_no_toml_is_one_clear_message(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text("name = nonsense")

    with pytest.raises(EvalPlatformError, match=r"study.toml is not valid TOML: .*line 1"):
        read_study_file(file)
    with pytest.raises(EvalPlatformError, match="No such file"):
        read_study_file(tmp_path / "nowhere.toml")


@pytest.mark.usefixtures("example_corpus")
def test_the_same_file_again_gives_the_same_study_and_another_design_is_refused() -> None:
    study = create_study(settings())

    assert create_study(settings()).pk == study.pk
    with pytest.raises(EvalPlatformError, match="There is a study named 'demo' with another design"):
        create_study(settings(seed=7))
    with pytest.raises(EvalPlatformError, match=r"There is no study named 'nope'\. Studies: demo\."):
        get_study("nope")


@pytest.mark.usefixtures("example_corpus")
def test_a_frozen_study_can_be_copied_but_not_changed() -> None:
    study = create_study(settings())
    save_draft(study, settings(seed=5))
    build_hits(study)  # the study that we hold does not know of it yet, as a page that was opened before

    with pytest.raises(StudyFrozen, match="Copy it into a new study"):
        save_draft(study, settings(seed=6))

    study.refresh_from_db()
    copy = copy_study(study, "demo-again")
    assert copy.design == {**study.design, "name": "demo-again"}
    assert (copy.copied_from, copy.is_frozen) == (study, False)
    with pytest.raises(EvalPlatformError, match="The name 'demo-again' is taken; choose another"):
        copy_study(study, "demo-again")
    assert Study.objects.get(name="demo").design["seed"] == 5


def test_many_assignments_are_split_before_the_fee_doubles() -> None:
    assert [MTurkFees().split_assignments(count) for count in (1, 9, 10, 19)] == [[1], [9], [5, 5], [7, 6, 6]]
    for count in range(1, 91):
        assert sum(MTurkFees().split_assignments(count)) == count
        assert max(MTurkFees().split_assignments(count)) <= 9


@pytest.mark.usefixtures("example_corpus")
def test_dialogs_are_chosen_by_the_seed_and_not_reshuffled_by_later_imports() -> None:
    few = settings(datasets=[{"name": "example-empathetic", "dialogs": 10}])
    before = [dialog.external_id for dialog in select_dialogs(parse_design(few))[0].dialogs]
    Dialog.objects.filter(external_id__in=sorted(before)[:1]).update(external_id="renamed")

    after = [dialog.external_id for dialog in select_dialogs(parse_design(few))[0].dialogs]
    other = [dialog.external_id for dialog in select_dialogs(parse_design({**few, "seed": 9}))[0].dialogs]

    assert len(set(before) & set(after)) >= 9
    assert set(other) != set(before)


def test_a_word_where_a_number_belongs_is_said_in_plain_words(example_corpus: None) -> None:
    settings = {**DEMO, "datasets": [{"name": "example-emotional", "dialogs": "seven"}]}

    with pytest.raises(InvalidStudy, match=r"datasets\.1\.dialogs: 'seven' is not a whole number; write it as 20"):
        parse_design(settings)


# --- Which dialogs ---------------------------------------------------------------------------------------------------


def chosen(**part: Any) -> list[str]:
    asked = settings(datasets=[{"name": "example-empathetic", **part}], generators=["generic"], screening=[])
    return [dialog.external_id for dialog in select_dialogs(parse_design(asked))[0].dialogs]


@pytest.fixture
def four_emotions(example_corpus: None) -> list[str]:
    """In the order of their ids, the first ten dialogs are sad, and the others happy, proud and afraid in turn."""
    ids = sorted(Dialog.objects.filter(dataset__name="example-empathetic").values_list("external_id", flat=True))
    for place, one in enumerate(ids):
        emotion = "sad" if place < 10 else ["happy", "proud", "afraid"][place % 3]
        Dialog.objects.filter(dataset__name="example-empathetic", external_id=one).update(emotion=emotion)
    return ids


def emotions_of(ids: list[str]) -> Counter[str]:
    found = Dialog.objects.filter(dataset__name="example-empathetic", external_id__in=ids)
    return Counter(found.values_list("emotion", flat=True))


def test_as_many_dialogs_of_each_emotion(four_emotions: list[str]) -> None:
    eight, nine = (chosen(dialogs=count, even_by="emotion") for count in (8, 9))

    assert set(emotions_of(eight).values()) == {2}
    assert sorted(emotions_of(nine).values()) == [2, 2, 2, 3]
    assert set(eight) <= set(nine)
    assert chosen(dialogs=8, even_by="emotion") == eight


def test_a_rare_emotion_is_named_and_dialogs_without_one_are_never_chosen(four_emotions: list[str]) -> None:
    Dialog.objects.filter(emotion="sad").exclude(external_id=four_emotions[0]).update(emotion="")
    asked = settings(datasets=[{"name": "example-empathetic", "dialogs": 8, "even_by": "emotion"}])

    told = problems_of({**asked, "generators": ["generic"]})
    Dialog.objects.filter(dataset__name="example-empathetic").update(emotion="")
    none = problems_of({**asked, "generators": ["generic"]})

    assert any("too few dialogs of sad (1) for as many of each emotion" in one for one in told)
    assert any("no dialog of example-empathetic has a value for emotion" in one for one in none)


def test_dialogs_can_be_named_one_by_one(four_emotions: list[str]) -> None:
    three = [four_emotions[place] for place in (4, 2, 9)]

    assert sorted(chosen(ids=three)) == sorted(three)
    named = settings(datasets=[{"name": "example-empathetic", "ids": three}], screening=[])
    assert parse_design(named).datasets[0].dialog_count == 3


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"ids": ["1", "nobody"]}, "with these ids: "),
        ({"ids": ["1", "1"]}, "lists 1 twice"),
        ({"ids": ["1"], "dialogs": 2}, "lists 1 id, and 2 dialogs are asked for"),
        ({"ids": ["1"], "even_by": "emotion"}, "both ids and even_by"),
        ({"dialogs": 4, "even_by": "mood"}, "even_by"),
    ],
)
def test_a_wrong_choice_of_dialogs_is_one_line(example_corpus: None, part: dict[str, Any], problem: str) -> None:
    told = problems_of(settings(datasets=[{"name": "example-empathetic", **part}]))

    assert any(problem in one and one.startswith("datasets") for one in told), told


def test_a_design_that_names_no_choice_is_written_as_before(example_corpus: None) -> None:
    assert parse_design(settings()).as_json()["datasets"][0].keys() == {"name", "dialogs"}


@pytest.mark.parametrize(
    ("settings", "is_said"),
    [
        ({"protocol": "likert", "screening": []}, True),
        ({"protocol": "likert"}, False),  # the usual rules find it
        ({"protocol": "pairs", "checkpoints": {**DEMO.get("checkpoints", {}), "may_tie": True}, "screening": []}, True),
        (
            {"protocol": "pairs", "checkpoints": {**DEMO["checkpoints"], "may_tie": False}, "screening": []},
            False,  # the human reply must be better
        ),
    ],
)
def test_a_design_says_when_one_answer_everywhere_wins_every_point(settings: dict[str, Any], is_said: bool) -> None:
    design = parse_design({**DEMO, **settings})
    assert any("who gives one answer everywhere" in line for line in _describe_rules(design)) == is_said
