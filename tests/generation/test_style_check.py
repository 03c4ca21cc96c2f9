"""Can the gold be told from the candidates by its looks?"""

import json
import random
from pathlib import Path

import pytest

from generation.display import display_text
from generation.models import Dataset
from generation.style_check import check_dataset_style, check_style


def text_of(length: int) -> str:
    return ("Word " * length).strip() + "."


def test_a_gold_that_is_always_the_longest_is_found_out() -> None:
    report = check_style((text_of(20), [text_of(3), text_of(4), text_of(5)]) for _ in range(50))

    (finding,) = report.findings
    assert finding.feature == "being the longest"
    assert (finding.hit_rate, finding.chance) == (1.0, 0.25)
    assert "finds the human reply in 100% of 50 dialogs (chance: 25%)" in str(finding)


def test_a_gold_in_small_letters_is_found_out_by_case_alone() -> None:
    report = check_style(("word word.", ["Word word.", "Word word."]) for _ in range(50))

    assert {finding.feature for finding in report.findings} == {
        "having no capital letters",
        "beginning with a small letter",
    }


GIVEAWAYS = [
    ("FINE, THANKS.", "Fine, thanks.", "having no small letters"),
    ("Fine, thanks.", "FINE, THANKS.", "having small letters"),
    ("I was in Paris with John.", "I was in paris with john.", "having capital letters inside sentences"),
    ("I was in paris with john.", "I was in Paris with John.", "having no capital letters inside sentences"),
    ("Today, I ran.", "Today, i ran.", "having no small i"),
    ("Today, i ran.", "Today, I ran.", "a small i"),
    ("Yes. We can!", "Yes. we can!", "having no sentences that begin small"),
    ("Yes. we can!", "Yes. We can!", "sentences that begin small"),
    ("Fine, thanks.", "Fine , thanks.", "having no spaces before punctuation"),
    ("Fine , thanks.", "Fine, thanks.", "spaces before punctuation"),
    ("Fine, thanks.", "Fine,thanks.", "having a space after all punctuation"),
    ("Fine,thanks.", "Fine, thanks.", "punctuation without a space after it"),
    ("Fine, thanks.", "Fine,  thanks.", "having no double spaces"),
    ("Fine,  thanks.", "Fine, thanks.", "double spaces"),
    ("Fine, thanks.", "Fine,\nthanks.", "having no line breaks"),
    ("Fine,\nthanks.", "Fine, thanks.", "line breaks"),
]


@pytest.mark.parametrize(("gold", "candidate", "feature"), GIVEAWAYS)
def test_a_gold_is_found_out_by_case_or_spacing_alone_in_either_direction(
    gold: str, candidate: str, feature: str
) -> None:
    report = check_style((gold, [candidate, f"{candidate} {candidate}"]) for _ in range(50))

    assert feature in {finding.feature for finding in report.findings}


@pytest.mark.parametrize("text", ["I think I know what you mean, I do.", "It costs 3.50, e.g. at 5:30.", "OK! What?"])
def test_ordinary_writing_has_nothing_that_gives_it_away(text: str) -> None:
    report = check_style((text, ["Well, that is fine.", "So it is."]) for _ in range(50))

    assert [one.feature for one in report.findings if "ing the " not in one.feature] == []


def test_texts_drawn_from_one_urn_raise_no_alarm() -> None:
    rng = random.Random(7)

    report = check_style(
        (text_of(rng.randint(1, 30)), [text_of(rng.randint(1, 30)) for _ in range(4)]) for _ in range(400)
    )

    assert report.findings == []
    assert report.dialog_count == 400


def test_too_few_dialogs_raise_no_alarm_and_none_are_no_error() -> None:
    for count in (1, 2, 19):
        assert check_style([("Long long text.", ["Short."])] * count).findings == []
    assert check_style([("Long long text.", ["Short."])] * 20).findings != []
    assert check_style([]).dialog_count == 0


def test_a_candidate_that_equals_the_gold_is_one_card_with_it() -> None:
    assert check_style([("Same.", ["Same."])]).dialog_count == 0


def test_equal_candidates_are_one_card_and_count_once_for_chance() -> None:
    report = check_style([("A long text.", ["Short."] * 4)] * 30)

    assert report.findings[0].chance == 0.5


@pytest.mark.usefixtures("example_corpus")
def test_the_example_corpus_keeps_its_gold_hidden() -> None:
    for dataset in Dataset.objects.all():
        assert check_dataset_style(dataset).findings == []
        assert dataset.style_checked_at is not None


def test_the_gold_of_the_real_corpus_is_longer_but_not_told_by_case_or_spacing_after_tidying(shared_data: Path) -> None:
    lines = (shared_data / "ed_test_candidates.jsonl").read_text().splitlines()
    dialogs = [json.loads(line) for line in lines[:1000]]

    report = check_style(
        (
            display_text(one["reference"], one["context"]),
            [display_text(text, one["context"]) for text in one["candidates"].values()],
        )
        for one in dialogs
    )

    features = [finding.feature for finding in report.findings]
    assert features[0] == "being the longest"
    assert not [feature for feature in features if "letter" in feature or "space" in feature]
