"""All replies are typed alike when workers read them; no word is changed."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.tidying import tidy_reply


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("im fine", "I'm fine."),
        ("yes  i  know\nthat", "Yes I know that."),
        ("i'm sure i’ve seen it", "I'm sure I've seen it."),
        ("dont worry ,it isnt bad", "Don't worry, it isn't bad."),
        ("IM SO HAPPY", "I'M SO HAPPY."),
        ("THATS GREAT!", "THAT'S GREAT!"),
        ("great!i knew it", "Great! I knew it."),
        ("I ran.He ran.", "I ran. He ran."),
        ("ok. so what?", "Ok. So what?"),
        ("it costs 3,50 or 3.50", "It costs 3,50 or 3.50."),
        ("e.g. this, i.e. that", "E.g. this, i.e. that."),
        ("see www.example.org/a,b for more", "See www.example.org/a,b for more."),
        ("mail me at im.i@example.org", "Mail me at im.i@example.org"),
        (
            "its well, were they ill? he lets us, as is their wont",
            "Its well, were they ill? He lets us, as is their wont.",
        ),
        ("so sad :( i cried", "So sad :( I cried."),
        ("wait...", "Wait..."),
        ('"really?" she said', '"Really?" she said.'),
        ("日本語です", "日本語です"),
        ("שלום, מה שלומך", "שלום, מה שלומך"),
        ("élan vital", "Élan vital."),
        ("😀", "😀"),
        ("!", "!"),
        ("ım fine", "ım fine."),  # as a Turkish keyboard types it
        ("İm fine", "İm fine."),
        ("hello.IM fine", "Hello. I'M fine."),
        ("hello.Im fine", "Hello. I'm fine."),
        ("look at example.im", "Look at example.im."),
        ("i couldn;t go, that,s all", "I couldn't go, that's all."),
        ("it;s what she,d do", "It;s what she,d do."),
        ("you know what i mean ;)", "You know what I mean ;)"),
        ("good guess ;p", "Good guess ;p"),
        ("good guess;D", "Good guess;D."),
        ("so happy ;i cried", "So happy; I cried."),
        ("haha hopefully not :D", "Haha hopefully not :D"),
        ("it was you <3", "It was you <3"),
        ("a@b.c \0 i http://d", "a@b.c \0 I http://d"),
    ],
)
def test_a_reply_is_typed_as_all_others_are(typed: str, shown: str) -> None:
    assert tidy_reply(typed) == shown


def test_what_is_english_is_done_to_english_alone() -> None:
    assert tidy_reply("i ragazzi e i cani", "it") == "I ragazzi e i cani."
    assert tidy_reply("im Haus", "de-CH") == "Im Haus."
    assert tidy_reply("im home", "en-GB") == "I'm home."


@given(st.text())
def test_tidying_never_loses_a_letter_and_a_second_time_changes_nothing(text: str) -> None:
    shown = tidy_reply(text)

    assert [c.lower() for c in shown if c.isalnum()] == [c.lower() for c in text if c.isalnum()]
    assert tidy_reply(shown) == shown


PIECES = [
    *"i im IM Im I'm dont DONT couldn;t that,s t s fine ok hello A e.g. www.a.b http://a.b a@b 3 ı ß é 日".split(),
    *", . ; : ! ? ... … ' ’ ` \" “ ( ) - _ ;) ;p :D <3 \0 \n".split(" "),
    *[" "] * 12,
]


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_people_type_is_tidied_once_and_for_all(text: str) -> None:
    shown = tidy_reply(text)

    assert tidy_reply(shown) == shown
    assert re.sub(r"\W", "", shown).lower() == re.sub(r"\W", "", text).lower()


def test_every_real_reply_is_tidied_once_and_for_all(shared_data: Path) -> None:
    lines = (shared_data / "ed_test_candidates.jsonl").read_text().splitlines()
    replies = {
        reply
        for record in map(json.loads, lines)
        for reply in [record["reference"], *record["context"], *record["candidates"].values()]
    }

    changed_again = [reply for reply in replies if tidy_reply(tidy_reply(reply)) != tidy_reply(reply)]

    assert len(replies) > 10_000
    assert changed_again == []


def test_a_reply_without_spaces_takes_no_time() -> None:
    """Minutes, when each letter was looked at as the first of an address."""
    tidy_reply("a" * 1_000_000)
