"""How TRS, Multi-TR, MoEL and their kin answer: decoding beside a plain loop, batches, likelihoods, checkpoints."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from generation.contexts import Context
from generation.emotions import EMOTIONS
from generation.errors import CheckpointRefused, SettingsRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.empathy_network import NEVER_SAID, EmpathyNetwork
from generation.networks.empathy_words import BEGIN, END, encode_turns, encode_words
from generation.networks.families import load_family
from generation.networks.trs import Trs
from generation.registry import load_kind
from tests.networks.empathy_networks import KINDS, TURNS, edit_config, save_small, small_network, small_words

CONTEXTS = [
    Context(TURNS),
    Context(TURNS[:1]),
    Context(("You will find them soon!", "so sad", "what a pity, my friend")),
    Context(TURNS * 3),
    Context(TURNS[1:2]),
    Context(("keys keys zebra", "where", "soon, again")),
]
WIDE: dict[str, Any] = {"spread": 0.8, "end": 0.0}  # so wide that replies differ, and so few end at once
METHODS: list[dict[str, Any]] = [
    {"length_penalty": 1.0},
    {"method": "diverse-beam", "beams": 6, "groups": 3, "max_tokens": 15},
    {"method": "greedy", "no_repeat_ngram": 2},
    {"method": "nucleus"},
]


def sources_of(context: Context) -> tuple[Tensor, Tensor]:
    encoded = encode_turns(small_words(), context.turns, 60)
    return torch.tensor([encoded.ids]), torch.tensor([encoded.speakers])


@torch.inference_mode()
def say_in_a_plain_loop(network: EmpathyNetwork, context: Context, longest: int) -> list[int]:
    """Greedy, one dialog at a time, and all that was said read anew for each word."""
    said = [BEGIN]
    while len(said) <= longest and said[-1] != END:
        scores = network(*sources_of(context), torch.tensor([said])).log_probabilities[0, -1]
        scores[NEVER_SAID] = -torch.inf
        said.append(int(scores.argmax()))
    return said[1:]


@torch.inference_mode()
def search_in_a_plain_loop(network: EmpathyNetwork, context: Context, longest: int, beams: int) -> list[int]:
    """The best ended reply by summed log-probability, as decoding/beam.py finds it, without a cache."""
    running, ended = [(0.0, [BEGIN])], [(-1e9, [0])]
    for _ in range(longest):
        found = []
        for score, said in running:
            scores = network(*sources_of(context), torch.tensor([said])).log_probabilities[0, -1]
            scores[NEVER_SAID] = -torch.inf
            found += [(score + float(one), [*said, word]) for word, one in enumerate(scores)]
        found = sorted(found, reverse=True)[: 2 * beams]
        ended += [one for one in found[:beams] if one[1][-1] == END]
        running = [one for one in found if one[1][-1] != END][:beams]
    return max(ended)[1][1:]


@pytest.mark.parametrize("kind", KINDS)
def test_cached_decoding_says_what_a_plain_loop_says(kind: str, tmp_path: Path) -> None:
    network, longest = small_network(kind, spread=1.0, end=2.0), 12
    folder = save_small(kind, tmp_path / "it", spread=1.0, end=2.0)

    for settings, asked in (({"method": "greedy"}, CONTEXTS), ({"beams": 3}, CONTEXTS[1:4])):
        if "beams" in settings:
            expected = [search_in_a_plain_loop(network, one, longest, beams=3) for one in asked]
        else:
            expected = [say_in_a_plain_loop(network, one, longest) for one in asked]
        generator = load_kind(kind).load(str(folder), {"max_tokens": longest, **settings}, "cpu")
        replies = generator.answer(asked, range(len(asked)))
        words = [small_words().decode(said) if END in said else "" for said in expected]
        assert [reply.text for reply in replies] == words
        assert any(words)


@pytest.mark.parametrize("settings", METHODS, ids=lambda settings: settings.get("method", "beam"))
@pytest.mark.parametrize("kind", KINDS)
def test_a_dialog_gets_the_same_reply_alone_and_among_others(
    kind: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    generator = load_kind(kind).load(str(save_small(kind, tmp_path / "it", **WIDE)), settings, "cpu")

    together = generator.answer(CONTEXTS, range(6))
    alone = [generator.answer([context], [seed])[0] for seed, context in enumerate(CONTEXTS)]

    told = [(reply.text, reply.turns_cut, reply.failure) for reply in together]
    assert told == [(reply.text, reply.turns_cut, reply.failure) for reply in alone]
    scores = [[reply.score or 0.0 for reply in replies] for replies in (together, alone)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)
    assert len({reply.text for reply in together}) > 1
    assert all("<" not in reply.text for reply in together)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_no_prediction(kind: str) -> None:
    network, words = small_network(kind, **WIDE), small_words()
    reply = torch.tensor([encode_words(words, "you will find them soon !", 60)])
    ids, speakers = sources_of(CONTEXTS[0])
    pad = torch.ones(1, 7, dtype=torch.long)

    with torch.inference_mode():
        alone = network(ids, speakers, reply)
        padded = network(torch.cat([ids, pad], 1), torch.cat([speakers, pad], 1), torch.cat([reply, pad], 1))

    torch.testing.assert_close(padded.log_probabilities[:, : reply.shape[1]], alone.log_probabilities)
    torch.testing.assert_close(padded.emotion_logits, alone.emotion_logits)


@pytest.mark.parametrize("kind", KINDS)
def test_a_gold_s_likelihood_is_that_of_its_words_read_one_by_one(kind: str, tmp_path: Path) -> None:
    network, words = small_network(kind, **WIDE), small_words()
    generator: Any = load_kind(kind).load(str(save_small(kind, tmp_path / "it", **WIDE)), {}, "cpu")
    golds = ["Oh no!", "So sad that it hurts, my friend. " * 9, "zebra", "You will find them.", "Soon!", "Where?"]

    found = generator.score_gold(CONTEXTS, golds)

    for (total, count), context, gold in zip(found, CONTEXTS, golds, strict=True):
        said, expected = encode_words(words, gold, 60), 0.0
        with torch.inference_mode():
            for place in range(1, len(said)):
                predicted = network(*sources_of(context), torch.tensor([said[:place]])).log_probabilities
                expected += float(predicted[0, -1, said[place]])
        assert (total, count) == (pytest.approx(expected, rel=1e-4), len(said) - 1)
    assert found[1][1] == 60


@pytest.mark.parametrize("kind", KINDS)
def test_emotions_are_ranked_by_those_that_recognise_them(kind: str, tmp_path: Path) -> None:
    generator: Any = load_kind(kind).load(str(save_small(kind, tmp_path / "it", **WIDE)), {}, "cpu")

    assert load_kind(kind).can_rank_emotions(str(tmp_path / "it")) == (kind != "trs")  # type: ignore[attr-defined]
    ranked = generator.rank_emotions(CONTEXTS * 3)

    assert [sorted(one) for one in ranked] == [sorted(EMOTIONS)] * 18
    assert len({one[0] for one in ranked}) > 1
    assert ranked[:6] == ranked[6:12]


@pytest.mark.parametrize("kind", KINDS)
def test_in_bfloat16_a_network_answers_too(kind: str, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(save_small(kind, tmp_path / "it", **WIDE))
    checkpoint.network.bfloat16()

    settings = load_kind(kind).check(str(tmp_path / "it"), {})
    replies = load_family(kind).answerer(checkpoint, settings).answer(CONTEXTS, range(6))

    assert any(reply.text for reply in replies)


def test_settings_have_the_papers_defaults(tmp_path: Path) -> None:
    folder = str(save_small("trs", tmp_path / "it"))

    assert load_kind("trs").check(folder, {}) == {
        "method": "beam", "beams": 5, "length_penalty": 0.0, "no_repeat_ngram": 0, "max_tokens": 51
    }  # fmt: skip
    assert load_kind("trs").check(folder, {"method": "diverse-beam"})["groups"] == 5
    with pytest.raises(SettingsRefused, match="beams are too many for"):
        load_kind("trs").check(folder, {"beams": 500})


def _drop_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["reply_projection.weight"]
    save_file(weights, folder / "model.safetensors")


def _cut_weights(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: edit_config(folder, width=18), "does not fit its config.json"),
        (lambda folder: edit_config(folder, width=17, heads=1), "width 17 is odd"),
        (lambda folder: edit_config(folder, attention_width=7), "attention_width is 7, not a multiple of 2 heads"),
        (lambda folder: edit_config(folder, dropout=0.1), "dropout is 0.1, but this kind of network has none"),
        (lambda folder: edit_config(folder, labels=sorted(EMOTIONS)), "other labels"),
        (lambda folder: edit_config(folder, vocabulary_size=9), "its tokenizer has"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "is not a tokenizer"),
        (_drop_weights, "reply_projection.weight has shape nothing"),
        (_cut_weights, "bytes instead of"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_or_mismatched_checkpoint_is_refused_with_one_line(
    kind: str, spoil: Any, reason: str, tmp_path: Path
) -> None:
    folder = save_small(kind, tmp_path / "it", **WIDE)
    spoil(folder)

    with pytest.raises(CheckpointRefused) as refused:
        load_checkpoint(folder)

    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_checkpoints_of_kinds_that_are_alike_are_told_apart(tmp_path: Path) -> None:
    save_small("trs", tmp_path / "it")
    with pytest.raises(CheckpointRefused, match="is of kind trs, not multi-tr"):
        load_kind("multi-tr").check(str(tmp_path / "it"), {})
    edit_config(tmp_path / "it", kind="moel", mixed_listeners=33)
    with pytest.raises(CheckpointRefused, match="mixed_listeners is 33, not from 1 to 32"):
        load_checkpoint(tmp_path / "it")
    edit_config(tmp_path / "it", kind="moel", mixed_listeners=5)
    with pytest.raises(CheckpointRefused, match=r"does not fit its config.json: (decoder|listeners)"):
        load_checkpoint(tmp_path / "it")


def test_trs_has_the_published_number_of_weights() -> None:
    """Without the gate of a pointer (300 + 1), which the published code holds and does not use."""
    family = load_family("trs")
    network = family.build(family.config_class(kind="trs", vocabulary_size=100))

    assert isinstance(network, Trs)
    assert sum(one.numel() for one in network.parameters()) == 601 * 100 + 846_501 - 301
