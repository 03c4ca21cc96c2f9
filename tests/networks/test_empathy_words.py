"""The words of TRS, Multi-TR, MoEL, MIME and EmpDG: splitting, vocabularies, contexts, vectors from files."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from generation.errors import CheckpointRefused, TrainingRefused
from generation.networks.empathy_words import (
    BEGIN,
    CLASSIFY,
    END,
    FIRST_SPEAKER,
    SECOND_SPEAKER,
    SPECIAL_WORDS,
    UNKNOWN,
    encode_turns,
    encode_words,
    load_words,
    train_words,
)
from generation.networks.tokenizing import train_tokenizer
from generation.networks.word_vectors import fill_words

SAID = "I didn't know. It's 3:30, Mr. Smith's dog cannot... he'll (well) o'clock shouldn’t; 1,000!! <eos>"
SPLIT = (
    "i did not know . it is 3:30 , mr. smith 's dog can not ... he 'll ( well ) o'clock should n't ; 1,000 ! ! < eos >"
)
ED_TRAIN = Path(__file__).parents[3] / "shared" / "data" / "ed_train.jsonl"


def test_words_are_lower_cased_have_long_forms_and_stand_apart_from_punctuation() -> None:
    words = train_words([SAID], 1000, 1)

    found = words.encode(SAID, add_special_tokens=False)

    assert found.tokens == SPLIT.split()
    assert words.decode(found.ids) == SPLIT
    assert UNKNOWN not in found.ids
    assert END not in found.ids  # though somebody typed it


def test_a_vocabulary_has_the_commonest_words_of_the_training_texts_and_special_ones_first() -> None:
    texts = ["a a a b b c", "b a c d"]

    vocabulary = {most: set(train_words(texts, 100, most).get_vocab()) - set(SPECIAL_WORDS) for most in (1, 2, 3)}
    limited = train_words(texts, len(SPECIAL_WORDS) + 1, 1, ("<lab>",))

    assert vocabulary == {1: set("abcd"), 2: set("abc"), 3: set("ab")}
    assert [limited.id_to_token(number) for number in range(8)] == [*SPECIAL_WORDS, "<lab>"]
    assert train_words(texts, 100, 3).encode("a d").ids[1] == UNKNOWN


def test_a_context_says_who_speaks_and_loses_its_oldest_turns_where_it_is_too_long() -> None:
    words = train_words(["one two three four"], 100, 1)
    one, two, three, four = (words.token_to_id(word) for word in ("one", "two", "three", "four"))
    turns = ["One two", "three", "four four"]

    whole = encode_turns(words, turns, 1000)
    cut = encode_turns(words, turns, 4)
    cut_inside = encode_turns(words, turns, 2)

    assert whole.ids == [CLASSIFY, one, two, three, four, four]
    assert whole.speakers == [CLASSIFY, *[FIRST_SPEAKER] * 2, SECOND_SPEAKER, *[FIRST_SPEAKER] * 2]
    assert (cut.ids, cut.turns_cut) == ([CLASSIFY, three, four, four], 1)
    assert cut.speakers == [CLASSIFY, SECOND_SPEAKER, FIRST_SPEAKER, FIRST_SPEAKER]
    assert (cut_inside.ids, cut_inside.turns_cut) == ([CLASSIFY, four], 3)
    assert encode_words(words, "two one", 1000) == [BEGIN, two, one, END]
    assert encode_words(words, "two one", 2) == [BEGIN, two, one]


def test_a_file_that_is_no_vocabulary_of_words_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    train_words(["a b"], 100, 1).save(str(file))
    assert load_words(tmp_path).get_vocab_size() == len(SPECIAL_WORDS) + 2

    with pytest.raises(CheckpointRefused, match=r"a vocabulary of words that begins with <unk> .* <lab>\."):
        load_words(file, ("<lab>",))
    train_tokenizer(["a b"], 300).save(str(file))
    with pytest.raises(CheckpointRefused, match="a vocabulary of words that begins with <unk>"):
        load_words(tmp_path)


@pytest.mark.skipif(not ED_TRAIN.exists(), reason="EmpatheticDialogues may not be part of this project")
def test_empathetic_dialogues_has_as_many_words_as_nltk_finds() -> None:
    """NLTK finds 20,807 in the training data, with the special ones; our rules for quotes and abbreviations differ."""
    lines = map(json.loads, ED_TRAIN.read_text().splitlines())
    texts = {text for line in lines for text in (*line["context"], line["reference"], line["situation"])}

    assert train_words(sorted(texts), 1_000_000, 1).get_vocab_size() == pytest.approx(20_807, rel=0.005)


ROWS = {"sad": [1.5, -2.0, 0.25], "unheard": [9.0, 9.0, 9.0], "dog": [0.5, 0.0, 4.0]}


def as_text(rows: dict[str, list[float]]) -> bytes:
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows.items()).encode()


def as_binary(rows: dict[str, list[float]]) -> bytes:
    return b"".join(word.encode() + b" " + np.array(row, "<f4").tobytes() + b"\n" for word, row in rows.items())


@pytest.mark.parametrize(
    "content",
    [as_text(ROWS), b"3 3\n" + as_text(ROWS), b"3 3\n" + as_binary(ROWS)],
    ids=["glove", "word2vec text", "word2vec binary"],
)
def test_words_start_from_the_vectors_of_a_file(content: bytes, tmp_path: Path) -> None:
    words = train_words(["sad dog cat"], 100, 1)
    heard: list[str] = []
    table = nn.Embedding(words.get_vocab_size(), 3)
    before = table.weight.detach().clone()
    path = tmp_path / "vectors"
    path.write_bytes(content)

    fill_words(table, words, path, heard.append)

    for word in ("sad", "dog"):
        assert table.weight[words.token_to_id(word)].tolist() == ROWS[word]
    others = [number for number in range(len(before)) if words.id_to_token(number) not in ROWS]
    assert torch.equal(table.weight[others], before[others])
    assert heard == ["2 of 10 words start from vectors."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"sad 1 2\ndog 1 2\n", "has vectors of 2 numbers; this network's words have 3"),
        (b"sad 1 2 3\ndog 1 2\n", "its line 2 has 2 numbers, earlier ones 3"),
        (b"sad 1 two 3\n", "does not hold word vectors"),
        (b"sad nan 2 3\n", "numbers that are not finite"),
        (b"hat 1 2 3\n", "has a vector for none of the 10 words"),
        (b"3 3\n" + as_binary(ROWS)[:-5], "it ends early"),
        (b"", "has a vector for none"),
    ],
)
def test_a_file_of_vectors_that_can_t_be_used_is_refused_with_one_line(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    words = train_words(["sad dog cat"], 100, 1)
    path = tmp_path / "vectors"
    path.write_bytes(content)

    with pytest.raises(TrainingRefused) as refused:
        fill_words(nn.Embedding(words.get_vocab_size(), 3), words, path, lambda text: None)

    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
