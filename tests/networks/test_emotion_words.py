"""Which words of a vocabulary are EmpDG's emotion words, and which lexicons are refused."""

from pathlib import Path

import pytest

from generation.errors import DataRefused
from generation.networks.emotion_words import are_emotion_words, read_lexicon


def test_emotion_words_are_those_of_the_lexicon_and_adjectives_but_no_stop_words(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.txt"
    lexicon.write_text("Job\nstreet\n\nsame\n")
    words = ["job", "street", "same", "happy", "worse", "such", "lamp", "terrify", "!", "<unk>"]

    found = are_emotion_words(words, read_lexicon(lexicon))

    assert [word for word, is_one in zip(words, found, strict=True) if is_one] == ["job", "street", "happy", "worse"]
    assert [word for word, is_one in zip(words, are_emotion_words(words), strict=True) if is_one] == ["happy", "worse"]


def test_a_lexicon_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    for content, reason in (("aback\tanger\t0\n", "Line 1 .* several words"), ("\n", "has no words")):
        table.write_text(content)
        with pytest.raises(DataRefused, match=reason):
            read_lexicon(table)
    with pytest.raises(DataRefused, match=r"The lexicon .*none.txt can't be read"):
        read_lexicon(tmp_path / "none.txt")
    table.write_bytes(b"\xff\xfe")
    with pytest.raises(DataRefused, match="can't be read"):
        read_lexicon(table)
