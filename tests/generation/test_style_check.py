"""Can the gold be told from the candidates by its looks?"""

import json
import random
from pathlib import Path

import pytest

from generation.display import display_text
from generation.models import Dataset
from generation.style_check import Texts, check_dataset_style, check_on_other_half, check_style
from generation.tidying import tidy_reply


def text_of(length: int) -> str:
    return ("Word " * length).strip() + "."


def test_a_gold_that_is_always_the_longest_is_found_out_with_its_accuracy_in_words() -> None:
    report = check_style((text_of(20), [text_of(3), text_of(4), text_of(5)]) for _ in range(50))

    assert report.is_notable
    assert (report.accuracy, report.chance) == (1.0, 0.25)
    assert "finds the human reply in 100% of 50 dialogs (95 % interval 93% to 100%); chance finds it in 25%" in (
        report.sentence
    )
    assert any("being longer (100.0 characters on average, the models' 20.0)" in one.words for one in report.giveaways)
    assert "write at about the same length" in report.advice[0]


GIVEAWAYS = [
    ("FINE, THANKS.", "Fine, thanks.", "no small letters"),
    ("Fine, thanks.", "FINE, THANKS.", "small letters"),
    ("I was in Paris with John.", "I was in paris with john.", "having more capital letters"),
    ("Today, I ran.", "Today, i ran.", "no small i"),
    ("Today, i ran.", "Today, I ran.", "a small i"),
    ("Yes. We can!", "Yes. we can!", "no sentences that begin small"),
    ("Yes. we can!", "Yes. We can!", "sentences that begin small"),
    ("Fine, thanks.", "Fine , thanks.", "no spaces before punctuation"),
    ("Fine , thanks.", "Fine, thanks.", "spaces before punctuation"),
    ("Fine, thanks.", "Fine,thanks.", "a space after all punctuation"),
    ("Fine,thanks.", "Fine, thanks.", "punctuation without a space after it"),
    ("Fine,  thanks.", "Fine, thanks.", "double spaces or line breaks"),
    ("Fine,\nthanks.", "Fine, thanks.", "double spaces or line breaks"),
    ("I dont mind.", "I don't mind.", "contractions without an apostrophe"),
    ("Fine, thanks", "Fine, thanks.", "ending without punctuation"),
    ("fine, thanks.", "Fine, thanks.", "beginning with a small letter"),
]


@pytest.mark.parametrize(("gold", "candidate", "words"), GIVEAWAYS)
def test_a_gold_is_found_out_by_how_it_was_typed_alone_and_the_report_says_by_what(
    gold: str, candidate: str, words: str
) -> None:
    report = check_style((gold, [candidate, f"{candidate} {candidate}"]) for _ in range(50))

    assert report.accuracy == 1
    assert any(one.words.startswith(words) for one in report.giveaways)


# But for the first three, which are about names and capitals: tidying changes no word.
@pytest.mark.parametrize(("gold", "candidate"), [pair[:2] for pair in GIVEAWAYS[3:]])
def test_tidying_leaves_nothing_of_how_it_was_typed(gold: str, candidate: str) -> None:
    assert tidy_reply(gold) == tidy_reply(candidate)


def test_texts_drawn_from_one_urn_raise_no_alarm() -> None:
    rng = random.Random(7)

    report = check_style(
        (text_of(rng.randint(1, 30)), [text_of(rng.randint(1, 30)) for _ in range(4)]) for _ in range(400)
    )

    assert not report.is_notable
    assert report.low < report.chance < report.high
    assert report.dialog_count == 400
    assert report.advice == []


def test_it_is_judged_on_dialogs_that_it_has_not_learnt_from() -> None:
    """Twenty dialogs and more looks than that: learnt by heart they would all be found."""
    rng = random.Random(3)
    words = "ah Oh, no! why? i am So it's Fine 3 ... yes: well; (ok) im Paris".split()
    dialogs: list[Texts] = [
        (" ".join(rng.choices(words, k=6)), [" ".join(rng.choices(words, k=6)) for _ in range(3)]) for _ in range(24)
    ]

    assert check_style(dialogs).accuracy < 0.6


def test_too_few_dialogs_raise_no_alarm_and_none_are_no_error() -> None:
    for count in (0, 1, 2, 19):
        report = check_style([("Long long text.", ["Short."])] * count)
        assert (report.is_notable, report.is_judged) == (False, False)
        assert f"Too few dialogs to tell: {count} have both" in report.sentence
    assert check_style([("Long long text.", ["Short."])] * 20).is_notable


def test_a_candidate_that_equals_the_gold_is_one_card_with_it() -> None:
    assert check_style([("Same.", ["Same."])]).dialog_count == 0


def test_equal_candidates_are_one_card_and_count_once_for_chance() -> None:
    report = check_style([("A long text.", ["Short."] * 4)] * 30)

    assert report.chance == 0.5


@pytest.mark.usefixtures("example_corpus")
def test_the_example_corpus_keeps_its_gold_hidden() -> None:
    for dataset in Dataset.objects.all():
        report = check_dataset_style(dataset)
        assert not report.is_notable, report.sentence
        assert dataset.style_checked_at is not None
        assert dataset.style_findings["sentence"] == report.sentence  # type: ignore[index]


def test_tidying_hides_part_of_what_tells_the_gold_of_the_real_corpus_and_no_typing_is_left(shared_data: Path) -> None:
    lines = (shared_data / "ed_test_candidates.jsonl").read_text().splitlines()
    dialogs: list[Texts] = []
    for one in map(json.loads, lines[:800]):
        shown = [display_text(text, one["context"]) for text in one["candidates"].values()]
        dialogs.append((display_text(one["reference"], one["context"]), shown))

    before = check_on_other_half(dialogs)
    after = check_on_other_half((tidy_reply(gold), [tidy_reply(text) for text in texts]) for gold, texts in dialogs)

    assert after.accuracy < before.accuracy - 0.03
    assert "typing" in {giveaway.kind for giveaway in before.giveaways}
    assert "typing" not in {giveaway.kind for giveaway in after.giveaways}
