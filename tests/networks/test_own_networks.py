"""Networks of ours: what they read, what their checkpoints refuse, and how they answer."""

import json
import math
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torch.nn.functional as F
from django.core.management import call_command
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from generation.generators.base import CheckpointRefused, Context, SettingsRefused
from generation.generators.devices import best_dtype
from generation.generators.own_networks import Meed2Generator, TransformerGenerator
from generation.models import Candidate, Dataset, Dialog, Generator, context_key
from generation.networks.batches import stack, stack_contexts
from generation.networks.checkpoint import load_checkpoint, save_checkpoint
from generation.networks.config import NetworkConfig
from generation.networks.emotion_classifier import EmotionClassifier
from generation.networks.labels import LABEL_IDS, LABELS
from generation.networks.layers import parameter_count
from generation.networks.meed2 import Meed2
from generation.networks.response_predictor import ResponsePredictor
from generation.networks.tokenizing import (
    BEGIN,
    END,
    PAD,
    decode_reply,
    encode_context,
    encode_reply,
    load_tokenizer,
    train_tokenizer,
)
from generation.networks.transformer import Transformer
from generation.networks.unfilled import build_unfilled
from generation.registering import Registration, register_generator
from generation.training.loop import resolve_precision
from tests.networks.small_networks import small_network, some_contexts

TURNS = ("I lost my keys again.", "Oh no! Where did you look?", "Everywhere, but they are gone.")
SIZES: dict[str, int] = {"width": 32, "heads": 2, "layers": 1, "feed_forward": 64, "max_tokens": 40}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train_tokenizer([*TURNS, *LABELS] * 3, 400)


@pytest.fixture(scope="module")
def config(tokenizer: Tokenizer) -> NetworkConfig:
    return NetworkConfig("meed2", tokenizer.get_vocab_size(), **SIZES)


@pytest.fixture(scope="module")
def trained(tokenizer: Tokenizer, config: NetworkConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MEED2 that has learned to name the label that it is told."""
    torch.manual_seed(0)
    network, predictor = Meed2(config), ResponsePredictor(config)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    context = encode_context(tokenizer, TURNS, (), config.max_tokens)
    source = stack_contexts([context] * len(LABELS))
    replies = stack([encode_reply(tokenizer, label, config.max_tokens) for label in LABELS], PAD)
    said, wanted = replies[:, :-1], replies[:, 1:]
    for _ in range(60):
        logits = network(
            source["source_ids"],
            source["source_segments"],
            said,
            torch.ones_like(said),
            source["source_labels"],
            torch.arange(len(LABELS)),
        )
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    folder = tmp_path_factory.mktemp("checkpoints") / "meed2"
    save_checkpoint(folder, network.eval(), tokenizer, predictor.eval())
    return folder


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copied"))


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


def test_the_paper_s_sizes_are_the_paper_s() -> None:
    network = build_unfilled(lambda: Transformer(NetworkConfig("transformer", 50_265)))

    words = 50_265 * 300
    norms = [module for module in network.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert parameter_count(network) == pytest.approx(2 * words + 10.2e6, rel=0.01)
    assert len(norms) == 1 + 4 * 2 + 4 * 3
    assert {norm.eps for norm in norms} == {1e-5}


def test_the_response_predictor_pools_and_predicts_as_the_paper_s_equations_say(config: NetworkConfig) -> None:
    predictor = _spread(ResponsePredictor(config))
    contexts = some_contexts(5, longest=config.max_tokens)
    ids = stack(contexts, PAD)
    segments, labels = torch.randint(0, 2, ids.shape), torch.randint(0, len(LABELS), ids.shape)

    with torch.no_grad():
        predicted = predictor(ids, segments, labels).softmax(dim=-1)

    for row, length in enumerate(map(len, contexts)):
        alone = (ids[[row], :length], segments[[row], :length], labels[[row], :length])
        with torch.no_grad():
            states = predictor.encoder(predictor.embedder(*alone), None)[0].double().numpy()
        expected = _predict_by_hand(predictor, states)
        assert predicted[row].tolist() == pytest.approx(expected.tolist(), abs=1e-4)
    assert len({int(best) for best in predicted.argmax(dim=1)}) > 1


def _spread(predictor: ResponsePredictor) -> ResponsePredictor:
    """Weights so far apart that contexts get different labels."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in predictor.parameters():
            if weight.dim() > 1:
                weight.normal_()
    return predictor.eval()


def _predict_by_hand(predictor: ResponsePredictor, states: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Equations 1 and 2 of the paper, a hidden layer with GELU (its appendix B), and a softmax layer."""
    weights = {name: tensor.double().numpy() for name, tensor in predictor.state_dict().items()}
    v = weights["pooling.weight"][0]
    exps = [math.exp(v @ r_i) for r_i in states]
    alphas = [exp / sum(exps) for exp in exps]
    r = sum(alpha * r_i for alpha, r_i in zip(alphas, states, strict=True))
    inner = weights["hidden.weight"] @ r + weights["hidden.bias"]
    hidden = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in inner])
    scores = np.exp(weights["output.weight"] @ hidden + weights["output.bias"])
    predicted: npt.NDArray[np.float64] = scores / scores.sum()
    return predicted


@pytest.mark.parametrize("kind", ["transformer", "meed2"])
def test_token_by_token_a_decoder_computes_what_it_computes_at_once(kind: str) -> None:
    network, source = small_network(kind), stack(some_contexts(5), PAD)
    target, speakers = torch.randint(4, 300, (5, 30)), torch.tensor([0, 1, 1, 0, 1])
    segments = torch.randint(0, 2, source.shape)
    labels = [torch.randint(0, 41, source.shape), torch.tensor([3, 40, 0, 17, 3])] if kind == "meed2" else []

    with torch.no_grad():
        at_once = network(source, segments, target, speakers[:, None].expand_as(target), *labels)
        state = network.begin_replies(source, segments, speakers, *labels)
        one_by_one = [network.output(network.read_tokens(target[:, [place]], state))[:, 0] for place in range(30)]

    torch.testing.assert_close(torch.stack(one_by_one, dim=1), at_once, rtol=1e-4, atol=1e-4)


def test_a_forced_label_is_obeyed(trained: Path) -> None:
    generator = Meed2Generator.load(str(trained), {"beams": 4}, "cpu")
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

    with pytest.raises(SettingsRefused, match="'bored'; it is none of the 41"):
        register_generator(registration)

    assert not Generator.objects.exists()


def test_in_bfloat16_a_network_says_what_it_says_in_float32(trained: Path) -> None:
    contexts = [Context(TURNS, forced_label=label) for label in LABELS]
    wide = Meed2Generator.load(str(trained), {"beams": 4}, "cpu")
    checkpoint = load_checkpoint(trained)
    checkpoint.network.bfloat16()
    narrow = Meed2Generator(checkpoint, wide.settings)

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
    predictor = _spread(ResponsePredictor(network.config))
    save_checkpoint(tmp_path / "it", network, train_tokenizer(TURNS * 3, 300), predictor)
    generator = Meed2Generator.load(str(tmp_path / "it"), settings, "cpu")
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
    generator = Meed2Generator.load(str(trained), {"method": "greedy"}, "cpu")
    checkpoint = load_checkpoint(trained)
    assert checkpoint.predictor is not None
    contexts = [Context(TURNS), Context(TURNS[:1], turn_labels=("sad",)), Context(TURNS * 9)]
    encoded = [encode_context(checkpoint.tokenizer, context.turns, context.turn_labels, 40) for context in contexts]
    predicted = [LABELS[int(checkpoint.predictor(**stack_contexts([one])).argmax())] for one in encoded]

    replies = generator.answer(contexts, [0, 1, 2])

    assert [reply.label for reply in replies] == predicted
    assert [reply.turns_cut for reply in replies] == [0, 0, encoded[2].turns_cut]
    assert encoded[2].turns_cut > 20


def test_turns_without_labels_get_the_classifier_s(trained: Path, copied: Path, tokenizer: Tokenizer) -> None:
    torch.manual_seed(0)
    classifier = EmotionClassifier.start_from_scratch(tokenizer, width=16, heads=2, layers=1)
    checkpoint = load_checkpoint(copied)
    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer, classifier=classifier)

    generator = Meed2Generator.load(str(copied), {"method": "greedy"}, "cpu")
    assert generator.checkpoint.predictor is not None
    labels = generator._label_turns([Context(TURNS), Context(TURNS, turn_labels=("sad", "caring", "sad"))])

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
    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer, classifier=classifier)
    contexts = [Context((turn, "Really?")) for turn in TURNS] * 22  # more than are classified at once
    generator = Meed2Generator.load(str(copied), {}, "cpu")

    ranked = generator.rank_emotions(contexts)

    assert len(ranked) == 66
    for context, labels in zip(contexts[:3] + contexts[-3:], ranked[:3] + ranked[-3:], strict=True):
        likelihood = dict(zip(LABELS, classifier.probabilities([context.turns[0]])[0].tolist(), strict=True))
        assert sorted(labels) == sorted(LABELS)
        assert [likelihood[label] for label in labels] == pytest.approx(sorted(likelihood.values(), reverse=True))
    assert len({labels[0] for labels in ranked}) > 1
    with pytest.raises(CheckpointRefused, match="has no classifier, which ranks emotions"):
        Meed2Generator(checkpoint, generator.settings).rank_emotions(contexts)


@pytest.mark.parametrize(("end", "failure"), [(-1e4, "endless"), (1e4, "empty")])
def test_replies_that_are_none_are_failures(copied: Path, end: float, failure: str) -> None:
    checkpoint = load_checkpoint(copied)
    with torch.no_grad():
        checkpoint.network.output.bias[END] = end
    generator = Meed2Generator(checkpoint, Meed2Generator.load(str(copied), {"beams": 2}, "cpu").settings)

    (reply,) = generator.answer([Context(TURNS)], [0])

    assert (reply.text, reply.failure) == ("", failure)


def test_a_checkpoint_comes_back_as_it_was_saved(trained: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    first = load_checkpoint(trained)

    save_checkpoint(tmp_path / "again", first.network, first.tokenizer, first.predictor)
    second = load_checkpoint(tmp_path / "again")

    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    assert second.config == first.config
    assert second.tokenizer.to_str() == first.tokenizer.to_str()
    assert not second.network.training
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_saving_again_replaces_the_network_and_keeps_the_predictor(copied: Path) -> None:
    checkpoint = load_checkpoint(copied)
    with torch.no_grad():
        checkpoint.network.output.bias.add_(1)

    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer)

    again = load_checkpoint(copied)
    assert torch.equal(again.network.output.bias, checkpoint.network.output.bias)
    assert again.predictor is not None


def test_a_save_that_died_between_its_two_renames_leaves_the_former_checkpoint(copied: Path) -> None:
    copied.rename(copied.with_name(f".{copied.name}.former"))

    assert load_checkpoint(copied).config.kind == "meed2"
    assert copied.is_dir()


def _edit_config(**values: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text()) | values
        (folder / "config.json").write_text(json.dumps(config))

    return edit


def _cut_model(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def _spoil_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["output.bias"][0] = torch.nan
    save_file(weights, folder / "model.safetensors")


def _drop_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["output.bias"]
    save_file(weights, folder / "model.safetensors")


def _save_as(dtype: torch.dtype) -> Callable[[Path], None]:
    def convert(folder: Path) -> None:
        for name in ("model.safetensors", "predictor.safetensors"):
            weights = load_file(folder / name)
            weights["output.bias"] = weights["output.bias"].to(dtype)
            save_file(weights, folder / name)

    return convert


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (shutil.rmtree, "There is no checkpoint folder"),
        (lambda folder: (folder / "model.safetensors").unlink(), "lacks model.safetensors"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "lacks tokenizer.json"),
        (_cut_model, "its header promises"),
        (_write("model.safetensors", ""), "not a whole safetensors file"),
        (_write("model.safetensors", "pickled or what?" * 9), "not a whole safetensors file"),
        (_write("config.json", "{"), "cannot be read"),
        (_write("config.json", "[]"), "not of format 1"),
        (_write("tokenizer.json", "{}"), "is not a tokenizer"),
        (_edit_config(format_version=99), "not of format 1"),
        (_edit_config(width=31), "not a multiple of 2 heads"),
        (_edit_config(kind="lstm"), "not one of transformer, meed2"),
        (_edit_config(labels=["happy"]), "other labels"),
        (_edit_config(layers=2), "does not fit its config.json"),
        (_edit_config(vocabulary_size=300), "its tokenizer has"),
        (_drop_weights, "does not fit its config.json: output.bias has shape nothing"),
        (_save_as(torch.int64), "output.bias holds int64"),
        (_spoil_weights, "output.bias holds numbers that are not finite"),
    ],
)
def test_a_broken_or_mismatched_checkpoint_is_refused_with_one_line(
    copied: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(copied)

    with pytest.raises(CheckpointRefused) as refused:
        load_checkpoint(copied)

    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_that_were_saved_in_another_precision_answer_in_the_network_s_own(
    copied: Path, dtype: torch.dtype
) -> None:
    _save_as(dtype)(copied)

    generator = Meed2Generator.load(str(copied), {"beams": 2}, "cpu")
    (reply,) = generator.answer([Context(TURNS, forced_label="sad")], [0])

    assert reply.text == "sad"


def test_a_classifier_without_its_head_is_refused_though_its_config_names_the_labels(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    EmotionClassifier.start_from_scratch(tokenizer, width=16, heads=2, layers=1).save(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    encoder = {name: weight for name, weight in weights.items() if not name.startswith("classifier.")}
    save_file(encoder, tmp_path / "model.safetensors", metadata={"format": "pt"})

    with pytest.raises(CheckpointRefused, match=r"is not complete: its weights lack classifier\.") as refused:
        EmotionClassifier.load(str(tmp_path))

    assert len(encoder) < len(weights)
    assert "\n" not in str(refused.value)


def test_a_kind_refuses_checkpoints_of_another_and_a_meed2_without_its_predictor(copied: Path) -> None:
    with pytest.raises(CheckpointRefused, match="is of kind meed2, not transformer"):
        TransformerGenerator.check(str(copied), {})
    (copied / "predictor.safetensors").unlink()
    with pytest.raises(CheckpointRefused, match="--part predictor"):
        Meed2Generator.check(str(copied), {})


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
    assert Meed2Generator.check(str(trained), {}) == {
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
            Meed2Generator.check(str(trained), settings)


def test_a_tokenizer_must_begin_like_roberta_s(tokenizer: Tokenizer, tmp_path: Path) -> None:
    other = tokenizer.to_str().replace("<pad>", "<fill>")
    (tmp_path / "tokenizer.json").write_text(other)

    with pytest.raises(CheckpointRefused, match="as RoBERTa's does"):
        load_tokenizer(tmp_path)


def test_there_are_41_labels() -> None:
    assert len(LABELS) == len(LABEL_IDS) == 41
    assert (LABELS[0], LABELS[31], LABELS[32], LABELS[40]) == ("afraid", "trusting", "agreeing", "neutral")
