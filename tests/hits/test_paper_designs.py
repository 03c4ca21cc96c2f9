"""The papers' experiments as study files: what each paper says stands in it to the letter."""

from collections import Counter
from typing import Any

import pytest

from generation.models import Candidate
from hits.analysing import analyse
from hits.batching import build_hits
from hits.crowds import planned_crowd
from hits.designing import create_study, parse_design, read_study_file, size_of_batches
from hits.designing import design_problems as checking
from hits.models import HitItem
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.protocols.likert import Likert
from hits.protocols.pairs import Pairs
from hits.serving import frozen_hit, preview_page
from hits.stats import Plan
from tests.conftest import DEMO, ROOT
from tests.hits.stats.small_frames import ratings_frame_of

EXAMPLES = ROOT / "examples"
MODELS = ["generic", "listener-large", "listener-small", "parrot"]


def design_in(name: str) -> StudyDesign:
    return parse_design(read_study_file(EXAMPLES / f"{name}.toml"))


def asked_in(design: StudyDesign) -> dict[str, tuple[str, tuple[str, ...]]]:
    protocol = protocol_of(design)
    assert isinstance(protocol, Likert)
    assert {one.points for one in protocol.design.task.criteria} == {5}
    return {one.name: (one.question, tuple(one.words)) for one in protocol.design.task.criteria}


def test_rashkin_s_study_asks_its_questions_about_one_reply() -> None:
    design = design_in("rashkin")
    words = ("1: not at all", "3: somewhat", "5: very much")

    assert asked_in(design) == {
        "empathy": (
            "did the responses show understanding of the feelings of the person talking about their experience?",
            words,
        ),
        "relevance": ("did the responses seem appropriate to the conversation? Were they on-topic?", words),
        "fluency": ("could you understand the responses? Did the language seem accurate?", words),
    }
    protocol = protocol_of(design)
    assert len(design.generators) == 18
    assert {len(protocol.line_up(number, False)) for number in range(40)} == {1}
    size = size_of_batches(design, 1800)
    assert (size.hit_count, size.assignment_count) == (180, 180)
    assert size.assignment_count * design.hits.dialogs_per_hit / len(design.generators) == 100
    assert not design.tells_points
    assert design.crowd.name == "mturk"


def test_empdg_s_studies_have_three_raters_of_their_own() -> None:
    rated, compared = design_in("empdg"), design_in("empdg-ab")
    words = ("1: unacceptable", "3: moderate", "5: excellent")

    assert [said for _, said in asked_in(rated).values()] == [words] * 3
    assert list(asked_in(rated)) == ["empathy", "relevance", "fluency"]
    for one in (rated, compared):
        assert one.generators == ["Transformer", "EmoPrepend-1", "MoEL", "EmpDG"]
        assert [(part.name, part.dialog_count, part.even_by) for part in one.datasets] == [("ED", 100, "")]
        assert (one.hits.assignments, one.crowd.name, one.checkpoints.per_hit) == (3, "link", 0)
    assert_each_pair(compared, "EmpDG")


def test_mime_s_studies_have_four_dialogs_of_each_emotion() -> None:
    rated, compared = design_in("mime"), design_in("mime-ab")

    assert {name: question for name, (question, _) in asked_in(rated).items()} == {
        "empathy": "How much emotional understanding does the response show?",
        "relevance": "How much topical relevance does the response have to the context?",
        "fluency": "How much linguistic clarity does the response have?",
    }
    groups = rated.analysis.emotion_groups
    assert [(one.name, len(one.emotions)) for one in groups] == [("positive", 13), ("negative", 19)]
    assert rated.generators == ["Multi-TR", "MoEL", "MIME"]
    assert compared.generators == ["Multi-TR", "MoEL", "MIME w/o stochasticity", "MIME"]
    for one in (rated, compared):
        assert [(part.dialog_count, part.even_by) for part in one.datasets] == [(128, "emotion")]
        assert (one.hits.assignments, one.crowd.name, one.checkpoints.per_hit) == (3, "link", 0)
    assert_each_pair(compared, "MIME")
    protocol = protocol_of(compared)
    assert isinstance(protocol, Pairs)
    assert protocol.design.analysis.verdicts == "fourth vote"


def assert_each_pair(design: StudyDesign, model: str) -> None:
    """Each dialog comes with each of the model's pairs, and one person may do all of it."""
    protocol = protocol_of(design)
    assert isinstance(protocol, Pairs)
    assert [set(pair) for pair in design.primary_pairs] == [{model, one} for one in design.generators if one != model]
    assert protocol.showings == 3
    assert protocol.design.task.may_tie
    assert design.crowd.max_hits_per_worker == size_of_batches(design, design.datasets[0].dialog_count).hit_count


@pytest.mark.parametrize("name", ["rashkin", "empdg", "empdg-ab", "mime", "mime-ab"])
def test_only_the_data_is_missing(db: None, name: str) -> None:
    design = read_study_file(EXAMPLES / f"{name}.toml")

    told = [str(one) for one in checking.problems_of(design)]

    assert {one.split(":")[0] for one in told} == {"datasets.1.name", "generators"}
    assert protocol_of(parse_design(design)).problems() == []


# --- One model's reply -----------------------------------------------------------------------------------------------


def likert(**task: Any) -> dict[str, Any]:
    given = {**DEMO, "protocol": "likert", "task": task, "checkpoints": {"per_hit": 0}, "pay": {"bonus": "0"}}
    return {**given, "screening": []}


@pytest.mark.usefixtures("example_corpus")
def test_models_take_turns_over_dialogs_in_each_dataset() -> None:
    build_hits(create_study(likert(models_per_dialog=1)))
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    shown = [
        (item.dialog.dataset.name, names[pk])
        for item in HitItem.objects.select_related("dialog__dataset")
        for card in item.cards
        for pk in card.candidates
    ]

    by_model = Counter(name for _, name in shown)
    assert by_model.total() == 60
    assert all(14 <= by_model[name] <= 16 for name in MODELS)
    assert set(Counter(shown).values()) <= {4, 5, 6}


@pytest.mark.usefixtures("example_corpus")
def test_two_of_four_models_come_equally_often() -> None:
    protocol = protocol_of(parse_design(likert(models_per_dialog=2)))

    shown = Counter(name for number in range(8) for name in protocol.line_up(number, False))

    assert shown == dict.fromkeys(MODELS, 4)
    assert protocol.ratings_per_item == 2 * 3
    assert "the replies of 2 models side by side" in protocol.how_it_was_asked()


@pytest.mark.parametrize(
    ("task", "analysis", "problem"),
    [
        ({"models_per_dialog": 5}, {}, "task.models_per_dialog: there are 4 models"),
        ({"models_per_dialog": 2}, {"drop_losers": True}, "analysis.drop_losers: can't be used where a dialog shows"),
        ({"models_per_dialog": 1}, {"stop_when_decided": True}, "analysis.stop_when_decided: compares replies to the"),
    ],
)
@pytest.mark.usefixtures("example_corpus")
def test_what_can_t_be_done_with_some_of_the_models_is_told(
    task: dict[str, Any], analysis: dict[str, Any], problem: str
) -> None:
    told = [str(one) for one in checking.problems_of({**likert(**task), "analysis": analysis})]

    assert any(one.startswith(problem) for one in told), told


@pytest.mark.usefixtures("example_corpus")
def test_human_replies_can_be_rated_without_a_word_of_points() -> None:
    silent = {"per_hit": 1, "datasets": ["example-empathetic"], "feedback": "after submission"}
    study = create_study({**likert(models_per_dialog=1), "checkpoints": silent})
    build_hits(study)
    hit = study.hits.get(number=0)

    facts = preview_page(frozen_hit(study.key, 0), planned_crowd(study.parsed_design).words)["facts"]

    assert {len(item.cards) for item in hit.items.filter(is_checkpoint=True)} == {2}
    assert (facts["bonus"], facts["bonus_rule"], facts["what_counts"], facts["bonus_dialogs"]) == ("", "", "", 0)


@pytest.mark.usefixtures("example_corpus")
def test_an_emotion_in_two_groups_is_told() -> None:
    twice = [{"name": "good", "emotions": ["joyful"]}, {"name": "bad", "emotions": ["sad", "joyful"]}]

    told = [str(one) for one in checking.problems_of({**likert(), "analysis": {"emotion_groups": twice}})]

    assert told == ["analysis.emotion_groups: the emotion 'joyful' is there twice; name it once"]


def test_results_split_by_groups_of_emotions() -> None:
    frame = ratings_frame_of({1: {"v": "gb"}, 2: {"v": "og"}, 3: {"v": "bb"}})
    emotions = frame["dialog"].map({1: "joyful", 2: "sad", 3: "bored"}).astype("category")
    plan = Plan(emotion_groups={"positive": ("joyful", "proud"), "negative": ("sad",)})

    found = analyse(frame.assign(emotion=emotions), plan=plan).main.slices

    [groups] = [one for one in found if one.by == "emotion group"]
    assert [(one.level, one.generator, one.ratings) for one in groups.rows] == [
        *(("positive", "A", 1), ("positive", "B", 1), ("negative", "A", 1), ("negative", "B", 1)),
    ]
