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


def test_candidates_with_spaced_punctuation_give_the_gold_away() -> None:
    report = check_style(("Fine, thanks.", ["Fine , thanks.", "Okay , then ."]) for _ in range(50))

    assert "having no spaces before punctuation" in {finding.feature for finding in report.findings}


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
