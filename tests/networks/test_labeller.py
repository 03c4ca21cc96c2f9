"""Labels before what a network reads (EmoPrepend, TopicPrepend): fastText's own answers, and replies without labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from generation.contexts import Context
from generation.errors import CheckpointRefused, TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.labeller import LABELLER, Labeller, read_labeller, save_labeller, tokens_of
from generation.networks.labeller_training import accuracy, emotions_of, load_labeller, train_fasttext, train_labeller
from generation.networks.retrieval import train_words
from generation.networks.retriever import texts_of
from generation.registry import load_kind
from generation.training.context_pairs import Source
from tests.conftest import ROOT
from tests.networks.training_runs import THINGS, Killed, Listener, Run, assert_same_tensors

TEXTS = [
    (f"{'sad' if lost else 'joyful'}", f"I {'lost' if lost else 'found'} my {thing}{'.' if lost else '!'} Naïve…")
    for thing in THINGS
    for lost in (True, False)
]
REAL = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def labeller() -> Labeller:
    return train_labeller(TEXTS * 5)


def test_our_reading_of_a_fasttext_model_gives_fasttext_s_own_probabilities(tmp_path: Path) -> None:
    theirs = train_fasttext(TEXTS * 5, wordNgrams=3)
    theirs.save_model(str(tmp_path / "model.bin"))

    ours = load_labeller(str(tmp_path / "model.bin"))

    for text in ("I lost my naïve lamp.", "Good!", "unheard of words", "the the the garden ..."):
        labels, probabilities = theirs.f.predict(" ".join(tokens_of(text)) + "\n", 2, 0.0, "strict"), ours.scores(text)
        softmax = np.exp(probabilities) / np.exp(probabilities).sum()
        found = {f"__label__{label}": share for label, share in zip(ours.labels, softmax.tolist(), strict=True)}
        assert {label: share for share, label in labels} == pytest.approx(found, abs=1e-4)


def test_a_labeller_comes_back_as_it_was_saved_and_broken_ones_are_refused(labeller: Labeller, tmp_path: Path) -> None:
    place = tmp_path / "labeller.safetensors"
    save_labeller(labeller, place)

    again = load_labeller(str(place))

    assert accuracy(labeller, TEXTS) == 1
    assert again.digest() == labeller.digest()
    assert [again.label(text) for _, text in TEXTS] == [label for label, _ in TEXTS]
    place.write_bytes(place.read_bytes()[:-8])
    (tmp_path / "model.bin").write_text("no model")
    for broken in (place, tmp_path / "model.bin", tmp_path / "nowhere.bin"):
        with pytest.raises(CheckpointRefused) as refused:
            load_labeller(str(broken))
        assert "\n" not in str(refused.value)


def test_a_fasttext_model_of_another_make_is_refused(tmp_path: Path) -> None:
    others: dict[str, dict[str, Any]] = {"characters": {"minn": 2, "maxn": 3}, "tree": {"loss": "hs"}}
    for name, settings in others.items():
        train_fasttext(TEXTS, **settings).save_model(str(tmp_path / name))
        with pytest.raises(TrainingRefused, match="character n-grams or hierarchical softmax"):
            load_labeller(str(tmp_path / name))


def test_the_command_learns_emotions_of_grouped_dialogs_or_labelled_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    situations = [f"{one} {word}" for one in ("My", "The", "Our", "Your", "This") for word in THINGS]
    dialogs = [
        {"id": f"{emotion}{place}", "context": [text], "emotion": emotion, "situation": f"{word} {text}"}
        for emotion, word in (("sad", "lost"), ("joyful", "found"))
        for place, text in enumerate(situations)
    ]
    data = tmp_path / "dialogs.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in dialogs))
    lines = tmp_path / "topics.tsv"
    lines.write_text(
        "".join(f"{'boats' if n < 20 else 'cars'}\t{'ship sail' if n < 20 else 'road'} {n}\n" for n in range(40))
    )

    call_command("train_labeller", data=[str(data)], out=tmp_path / "emotions.safetensors")
    call_command("train_labeller", texts=lines, out=tmp_path / "topics.safetensors")

    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("2 labels learned from ")
    assert "right for 1.0000 of 4 others" in told[1]
    assert read_labeller(tmp_path / "topics.safetensors").label("Sail the ship") == "boats"
    assert load_labeller(str(tmp_path / "emotions.safetensors")).label("It is lost") == "sad"
    lines.write_text("no tab\n")
    with pytest.raises(CommandError, match="line 1: write a label, a tab and a text"):
        call_command("train_labeller", texts=lines, out=tmp_path / "topics.safetensors")


def test_retrieval_and_transformer_read_the_label_and_never_say_it(
    labeller: Labeller, run: Run, tmp_path: Path
) -> None:
    save_labeller(labeller, tmp_path / "labeller.safetensors")
    for kind in ("retrieval", "transformer"):
        run(kind, kind, labeller=tmp_path / "labeller.safetensors", max_steps=8)
        with pytest.raises(Killed):
            run(kind, f"{kind}-killed", labeller=tmp_path / "labeller.safetensors", listener=Listener(kill_at=6))
        run(kind, f"{kind}-killed", labeller=tmp_path / "labeller.safetensors")
        name = "model.safetensors"
        assert_same_tensors(tmp_path / f"{kind}-killed" / name, tmp_path / kind / name)

    loaded = load_checkpoint(tmp_path / "retrieval")
    texts, label = texts_of(loaded), loaded.tokenizer.token_to_id("sad")
    assert texts.context(["I lost my lamp."])[0][0] == label
    assert texts.reply("I lost my boat.")[0] == label
    assert label != loaded.tokenizer.token_to_id("<unk>")
    writer = load_checkpoint(tmp_path / "transformer")
    writing: Any = load_kind("transformer").load(str(tmp_path / "transformer"), {"method": "greedy"}, "cpu")
    (encoded,) = writing.answerer.encode([Context(("I lost my lamp. " * 30,))])
    start = writer.tokenizer.encode("sad").ids
    assert encoded.ids[: 1 + len(start)] == [0, *start]
    assert len(encoded.ids) == len(encoded.segments) == len(encoded.labels) == 24  # the label takes room, not more
    chooser = load_kind("retrieval").load(str(tmp_path / "retrieval"), {}, "cpu")
    replies = chooser.answer([Context((f"I lost my {thing}.",)) for thing in THINGS], [0] * 8)
    assert all(reply.text.split()[0] not in labeller.labels for reply in replies)


def test_a_labeller_that_always_says_one_word_leaves_the_replies_as_they_were(run: Run, tmp_path: Path) -> None:
    one_word = train_labeller([("happy", text) for _, text in TEXTS])
    save_labeller(one_word, tmp_path / "one.safetensors")

    run("retrieval", "plain", max_steps=2, validate_every=2)
    run("retrieval", "labelled", labeller=tmp_path / "one.safetensors", max_steps=2, validate_every=2)

    pools = [(tmp_path / name / "pool.jsonl").read_text() for name in ("plain", "labelled")]
    assert pools[0] == pools[1]
    assert load_checkpoint(tmp_path / "labelled").parts[LABELLER].label("whatever") == "happy"


@pytest.mark.skipif(not REAL.is_dir(), reason="EmpatheticDialogues is not at hand (../shared/data)")
def test_on_empathetic_dialogues_the_settings_name_as_many_emotions_as_is_known() -> None:
    training, test = (
        list(emotions_of(Source([str(REAL / f"ed_{part}.jsonl")]).records())) for part in ("train", "test")
    )

    found = accuracy(train_labeller(training), test)

    assert found == pytest.approx(0.42, abs=0.012)


def test_labels_and_special_tokens_that_are_also_words_of_the_texts_leave_no_gap_in_the_words() -> None:
    tokenizer = train_words(["I am proud </s> and sad", "so proud <pad>"], 100, labels=["proud", "sad", "joyful"])

    words = tokenizer.get_vocab()
    assert sorted(words.values()) == list(range(tokenizer.get_vocab_size()))
    assert [words[token] for token in ("<s>", "<pad>", "</s>", "<unk>", "proud", "sad", "joyful")] == list(range(7))
