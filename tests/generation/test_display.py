"""Text that tells a model by its looks is made to look like the others; all other text stays as it is."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.display import display_text, looks_tokenised


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("i am so sorry to hear that . did you call helen ?", "I am so sorry to hear that. Did you call Helen?"),
        ("that 's great , i did n't know you 're from paris !", "That's great, I didn't know you're from Paris!"),
        ("it ' s ok , i ' ll wait .", "It's ok, I'll wait."),
        ("oh ... i wan na go , but i ca n't . . .", "Oh... I wanna go, but I can't..."),
        ('he said " come in " ( again ) !', 'He said "come in" (again)!'),
        ("it cost me $ 50 on monday , i 'd say 20 % off", "It cost me $50 on Monday, I'd say 20% off"),
        ("i am sure you will be fine", "I am sure you will be fine"),
        ("late - sorry , i am in hawaii .", "Late - sorry, I am in Hawaii."),
        ("i love it :) so much !", "I love it :) so much!"),
        ("so sad :( i am sorry .", "So sad :( I am sorry."),
        ("helen 's cat likes us .", "Helen's cat likes us."),
        ("i love the NBA .", "I love the NBA."),
        ("! ! !", "!!!"),
    ],
)
def test_tokenised_text_is_joined_and_capitalised(raw: str, shown: str) -> None:
    assert display_text(raw, ["Did Helen tell you? She moved to Hawaii. lol My bad."]) == shown


@pytest.mark.parametrize(
    "text",
    [
        "I am fine.",
        "so sorry to hear that! it's awful, isn't it?",
        "Did you go to Paris ? I love it .",
        "שלום, מה שלומך?",
        "i'm here",
        "see https://example.org/a,b",
        "日本語です。",
        "😀",
    ],
)
def test_all_other_text_stays_as_it_is(text: str) -> None:
    assert display_text(text, ["Helen"]) == text


@given(st.text(min_size=1).filter(str.strip))
def test_display_never_loses_a_letter(raw: str) -> None:
    shown = display_text(raw)

    assert shown.strip()
    assert [c.lower() for c in shown if c.isalnum()] == [c.lower() for c in raw if c.isalnum()]


def test_real_outputs_come_out_clean(shared_data: Path) -> None:
    lines = (shared_data / "ed_test_candidates.jsonl").read_text().splitlines()
    shown = [
        display_text(text, values["context"])
        for values in map(json.loads, lines)
        for text in values["candidates"].values()
    ]

    assert len(shown) == 26_190
    assert not [text for text in shown if looks_tokenised(text) and any(c.isalpha() for c in text)]
    assert not [text for text in shown if " ." in text or " ?" in text or " ," in text]
