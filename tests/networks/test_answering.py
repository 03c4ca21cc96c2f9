"""How networks of ours answer: labels, settings, precision, and replies that are none."""

from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from django.core.management import call_command
from tokenizers import Tokenizer

from generation.contexts import Context
from generation.devices import best_dtype
from generation.emotions import LABELS
from generation.errors import CheckpointRefused, SettingsRefused
from generation.models import Candidate, Dataset, Dialog, Generator, context_key
from generation.networks.batches import stack_contexts
from generation.networks.checkpoint import load_checkpoint, save_checkpoint
from generation.networks.emotion_classifier import EmotionClassifier
from generation.networks.meed2 import PREDICTOR, Meed2Family, ResponsePredictor
from generation.networks.tokenizing import END, encode_context, train_tokenizer
from generation.registering import Registration, register_generator
from generation.registry import load_kind
from generation.training.loop import resolve_precision
from tests.networks.small_networks import TURNS, small_network, spread


def test_a_forced_label_is_obeyed(trained: Path) -> None:
    generator = load_kind("meed2").load(str(trained), {"beams": 4}, "cpu")
    contexts = [Context(TURNS, forced_label=label) for label in LABELS]

    replies = generator.answer(contexts, [0] * len(LABELS))

    assert [(reply.text, reply.label) for reply in replies] == [(label, label) for label in LABELS]
    assert all(reply.score is not None and reply.score > -0.5 for reply in replies)
    with pytest.raises(SettingsRefused, match="bored"):
        generator.answer([Context(TURNS, forced_label="bored")], [0])


@pytest.mark.django_db
def test_a_label_is_forced_by_a_generators_setting(trained: Path) -> None:
    turns = list(TURNS)
    dataset = Dataset.objects.create(name="D")
    Dialog.objects.create(dataset=dataset, external_id="keys", turns=turns, context_key=context_key(turns))
    model = {"generator": "grateful", "kind": "meed2", "checkpoint": str(trained)}

    call_command("generate_candidates", dataset="D", here=True, setting=["forced_label=grateful", "beams=4"], **model)

    candidate = Candidate.objects.get()
    assert (candidate.text, candidate.predicted_label) == ("grateful", "grateful")
    assert candidate.software is not None
    assert candidate.software["torch"] == version("torch")
    assert candidate.software["device"] == "cpu"


@pytest.mark.django_db
def test_a_label_that_is_none_of_the_41_is_refused_when_a_generator_is_registered(trained: Path) -> None:
    registration = Registration("bored", "meed2", str(trained), {"forced_label": "bored"})

    with pytest.raises(SettingsRefused, match="'bored'; it is not one of the 41"):
        register_generator(registration)

    assert not Generator.objects.exists()


def test_in_bfloat16_a_network_says_what_it_says_in_float32(trained: Path) -> None:
    contexts = [Context(TURNS, forced_label=label) for label in LABELS]
    wide = load_kind("meed2").load(str(trained), {"beams": 4}, "cpu")
    checkpoint = load_checkpoint(trained)
    checkpoint.network.bfloat16()
    narrow = Meed2Family().answerer(checkpoint, {"beams": 4})

    expected, found = (generator.answer(contexts, [0] * len(LABELS)) for generator in (wide, narrow))

    assert [reply.text for reply in found] == [reply.text for reply in expected] == list(LABELS)
    assert [reply.score for reply in found] == pytest.approx([reply.score for reply in expected], abs=0.05)
    assert [reply.score for reply in found] != [reply.score for reply in expected]


@pytest.mark.parametrize("settings", [{"beams": 8}, {"method": "nucleus"}])
def test_a_dialog_gets_the_same_reply_alone_and_among_others_of_other_labels_and_speakers(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    network = small_network("meed2", spread=0.8, end=7.0)
    with torch.no_grad():
        network.output.bias[4:260] -= 30  # words, not single bytes
    predictor = spread(ResponsePredictor(network.config))
    save_checkpoint(tmp_path / "it", network, train_tokenizer(TURNS * 3, 300), {PREDICTOR: predictor})
    generator = load_kind("meed2").load(str(tmp_path / "it"), settings, "cpu")
    contexts = [
        Context(TURNS, ("sad", "questioning", "devastated")),
        Context(TURNS, ("joyful", "agreeing", "proud")),
        Context(TURNS, ("sad", "questioning", "devastated"), forced_label="wishing"),
        Context(TURNS[:1], ("annoyed",)),
        Context(TURNS[:2], ("annoyed", "consoling")),
        Context(TURNS * 9),
    ]

    together = generator.answer(contexts, range(6))
    alone = [generator.answer([context], [seed])[0] for seed, context in enumerate(contexts)]

    told = [(reply.text, reply.label, reply.turns_cut, reply.failure) for reply in together]
    assert told == [(reply.text, reply.label, reply.turns_cut, reply.failure) for reply in alone]
    scores = [[reply.score or 0.0 for reply in replies] for replies in (together, alone)]  # none where one is endless
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)
    assert len({reply.text for reply in together}) > 4
    assert len({reply.label for reply in together}) > 3
    assert told[0] != told[1]  # labels of the turns matter
    assert told[0] != told[2]  # and the reply's own


def test_an_unforced_reply_has_the_predicted_label(trained: Path) -> None:
    generator = load_kind("meed2").load(str(trained), {"method": "greedy"}, "cpu")
    checkpoint = load_checkpoint(trained)
    contexts = [Context(TURNS), Context(TURNS[:1], turn_labels=("sad",)), Context(TURNS * 9)]
    encoded = [encode_context(checkpoint.tokenizer, context.turns, context.turn_labels, 40) for context in contexts]
    predicted = [LABELS[int(checkpoint.parts[PREDICTOR](**stack_contexts([one])).argmax())] for one in encoded]

    replies = generator.answer(contexts, [0, 1, 2])

    assert [reply.label for reply in replies] == predicted
    assert [reply.turns_cut for reply in replies] == [0, 0, encoded[2].turns_cut]
    assert encoded[2].turns_cut > 20


def test_turns_without_labels_get_the_classifier_s(trained: Path, copied: Path, tokenizer: Tokenizer) -> None:
    torch.manual_seed(0)
    classifier = EmotionClassifier.start_from_scratch(tokenizer, width=16, heads=2, layers=1)
    checkpoint = load_checkpoint(copied)
    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer, {"classifier": classifier})

    answerer = Meed2Family().answerer(load_checkpoint(copied), {"method": "greedy"})
    labels = answerer.label_turns([Context(TURNS), Context(TURNS, turn_labels=("sad", "caring", "sad"))])

    assert list(labels[0]) == classifier.label(TURNS)
    assert list(labels[1]) == ["sad", "caring", "sad"]
    assert classifier.probabilities(TURNS).sum(dim=1).tolist() == pytest.approx([1, 1, 1])


def test_emotions_are_ranked_by_what_the_classifier_makes_of_the_first_turn(copied: Path, tokenizer: Tokenizer) -> None:
    torch.manual_seed(0)
    classifier = EmotionClassifier.start_from_scratch(tokenizer, width=16, heads=2, layers=1)
    with torch.no_grad():
        for weight in classifier.network.parameters():
            weight.normal_()  # so that turns differ
    checkpoint = load_checkpoint(copied)
    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer, {"classifier": classifier})
    contexts = [Context((turn, "Really?")) for turn in TURNS] * 22  # more than are classified at once
    answerer = Meed2Family().answerer(load_checkpoint(copied), {})

    ranked = answerer.rank_emotions(contexts)

    assert len(ranked) == 66
    for context, labels in zip(contexts[:3] + contexts[-3:], ranked[:3] + ranked[-3:], strict=True):
        likelihood = dict(zip(LABELS, classifier.probabilities([context.turns[0]])[0].tolist(), strict=True))
        assert sorted(labels) == sorted(LABELS)
        assert [likelihood[label] for label in labels] == pytest.approx(sorted(likelihood.values(), reverse=True))
    assert len({labels[0] for labels in ranked}) > 1
    with pytest.raises(CheckpointRefused, match="has no classifier, which ranks emotions"):
        Meed2Family().answerer(checkpoint, {}).rank_emotions(contexts)


@pytest.mark.parametrize(("end", "failure"), [(-1e4, "endless"), (1e4, "empty")])
def test_replies_that_are_none_are_failures(copied: Path, end: float, failure: str) -> None:
    checkpoint = load_checkpoint(copied)
    with torch.no_grad():
        checkpoint.network.output.bias[END] = end
    (reply,) = Meed2Family().answerer(checkpoint, {"beams": 2, "max_tokens": 40}).answer([Context(TURNS)], [0])

    assert (reply.text, reply.failure) == ("", failure)


@pytest.mark.parametrize(
    ("major", "answers_in", "trains_in"), [(7, torch.float32, torch.float16), (8, torch.bfloat16, torch.bfloat16)]
)
def test_bf16_is_for_gpus_that_have_it_and_not_for_older_ones_that_emulate_it(
    major: int, answers_in: torch.dtype, trains_in: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch_s_answers = {
        "is_available": True,
        "current_device": 0,
        "get_device_properties": SimpleNamespace(major=major),
        "_check_bf16_tensor_supported": True,
    }
    for name, answer in torch_s_answers.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, answer=answer: answer)

    assert best_dtype("cuda") == answers_in
    assert best_dtype("cpu") == torch.float32
    assert resolve_precision("auto", torch.device("cuda")) == trains_in


def test_settings_are_filled_in_or_refused(trained: Path) -> None:
    assert load_kind("meed2").check(str(trained), {}) == {
        "method": "beam",
        "beams": 32,
        "length_penalty": 1.0,
        "no_repeat_ngram": 4,
        "max_tokens": 40,
    }
    refused: list[tuple[dict[str, Any], str]] = [
        ({"method": "best"}, "the methods are"),
        ({"top_p": 0.5}, "beam has no setting named 'top_p'"),
        ({"beams": 0}, "from 1 to"),
        ({"beams": "many"}, "must be a number"),
        ({"beams": 500}, "too many for"),
        ({"max_tokens": 41}, "from 1 to 40"),
        ({"method": "diverse-beam", "beams": 5, "groups": 2}, "equal groups"),
    ]
    for settings, reason in refused:
        with pytest.raises(SettingsRefused, match=reason):
            load_kind("meed2").check(str(trained), settings)
