"""What networks of ours read: texts as tokens, each with its speaker and label."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from generation.emotions import LABEL_IDS, LABELS
from generation.errors import CheckpointRefused
from generation.networks.tokenizing import BEGIN, END, decode_reply, encode_context, encode_reply, load_tokenizer
from tests.networks.small_networks import TURNS


def test_a_context_is_joined_and_every_token_knows_its_speaker_and_label(tokenizer: Tokenizer) -> None:
    labels = ("sad", "questioning", "devastated")

    encoded = encode_context(tokenizer, TURNS, labels, 100)

    ends = [place for place, token in enumerate(encoded.ids) if token == END]
    assert tokenizer.decode(encoded.ids, skip_special_tokens=False) == (
        f"<s>{TURNS[0]}</s></s>{TURNS[1]}</s></s>{TURNS[2]}</s>"
    )
    assert encoded.segments == [0] * (ends[0] + 1) + [1] * (ends[2] - ends[0]) + [0] * (ends[4] - ends[2])
    assert [LABELS[number] for number in (encoded.labels[0], encoded.labels[ends[1]], encoded.labels[-1])] == list(
        labels
    )
    assert (encoded.turns_cut, encoded.reply_segment) == (0, 1)


def test_too_long_a_context_loses_its_oldest_turns(tokenizer: Tokenizer) -> None:
    whole = encode_context(tokenizer, TURNS, (), 100)

    shorter = encode_context(tokenizer, TURNS, (), len(whole.ids) - 1)
    shortest = encode_context(tokenizer, TURNS, (), 5)

    assert tokenizer.decode(shorter.ids, skip_special_tokens=False) == f"<s>{TURNS[1]}</s></s>{TURNS[2]}</s>"
    assert (shorter.turns_cut, shorter.segments[0], shorter.reply_segment) == (1, 1, 1)
    assert shortest.ids == [BEGIN, *whole.ids[-4:]]
    assert shortest.turns_cut == 3


def test_what_people_type_is_text_even_if_it_looks_like_a_special_token(tokenizer: Tokenizer) -> None:
    encoded = encode_reply(tokenizer, "I typed </s> and <pad>, 😀", 100)

    assert encoded[1:-1].count(END) == 0
    assert decode_reply(tokenizer, encoded) == "I typed </s> and <pad>, 😀"
    assert encode_reply(tokenizer, TURNS[0], 3) == encode_reply(tokenizer, TURNS[0], 100)[:4]


def test_a_tokenizer_must_begin_like_roberta_s(tokenizer: Tokenizer, tmp_path: Path) -> None:
    other = tokenizer.to_str().replace("<pad>", "<fill>")
    (tmp_path / "tokenizer.json").write_text(other)

    with pytest.raises(CheckpointRefused, match="as RoBERTa's does"):
        load_tokenizer(tmp_path)


def test_there_are_41_labels() -> None:
    assert len(LABELS) == len(LABEL_IDS) == 41
    assert (LABELS[0], LABELS[31], LABELS[32], LABELS[40]) == ("afraid", "trusting", "agreeing", "neutral")
