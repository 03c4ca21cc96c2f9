"""MIME and EmpDG answer: word by word as their networks say it at once, with their parts, and as they are scored."""

from pathlib import Path

import pytest
import torch
from django.core.management import call_command

from generation.contexts import Context
from generation.decoding.beam import beam_search
from generation.decoding.decoder import Decoder
from generation.decoding.decoding_settings import GREEDY, DecodingSettings
from generation.decoding.drawn import sample_replies
from generation.errors import CheckpointRefused
from generation.generators.own_networks import NetworkGenerator
from generation.models import Dialog, GeneratorScore
from generation.networks.checkpoint import Checkpoint, save_checkpoint
from generation.networks.empathy_family import EmpathyAnswerer
from generation.networks.empathy_network import NEVER_SAID
from generation.networks.empathy_words import BEGIN, END
from generation.networks.empdg import LABEL, Discriminators, Empdg
from generation.networks.families import load_family
from generation.networks.mime import seeds_of_contexts
from tests.networks.empathy_networks import TURNS, small_network, small_words

KINDS = ["mime", "empdg"]
QUICK = {"method": GREEDY, "max_tokens": 12}
CONTEXTS = [Context(TURNS), Context(("so sad",)), Context(("what a pity, my friend", "you will find them soon!", "oh"))]


def small_answerer(kind: str) -> EmpathyAnswerer:
    network = small_network(kind)
    if isinstance(network, Empdg):
        network.is_emotional[9::3] = 1
    answerer = load_family(kind).answerer(Checkpoint(network, small_words(kind)), {"method": GREEDY})
    assert isinstance(answerer, EmpathyAnswerer)
    return answerer


def begin(answerer: EmpathyAnswerer) -> Decoder:
    """Begin replies with the noise that the network itself takes for these contexts."""
    read = answerer.read(CONTEXTS)
    return answerer.begin(read, seeds_of_contexts(read.ids))


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_replies_are_found_word_by_word_as_the_network_says_them_at_once(kind: str) -> None:
    answerer, settings = small_answerer(kind), DecodingSettings(GREEDY, max_tokens=8, no_repeat_ngram=0)
    decoder = begin(answerer)

    found = sample_replies(decoder, settings, [0] * 3)

    for context, reply in zip(CONTEXTS, found, strict=True):
        said, total = [BEGIN], 0.0
        while len(said) <= 8 and said[-1] != END:
            after = answerer.predict([context], torch.tensor([said])).log_probabilities[0, -1]
            after[[*NEVER_SAID, LABEL] if kind == "empdg" else NEVER_SAID] = -torch.inf
            said.append(int(after.argmax()))
            total += float(after.max())
        assert list(reply.tokens) == said[1:]
        assert reply.score == pytest.approx(total / len(said[1:]), abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_a_beam_s_score_is_the_likelihood_that_the_network_gives_its_reply(kind: str) -> None:
    answerer = small_answerer(kind)
    decoder = begin(answerer)

    found = beam_search(decoder, DecodingSettings(beams=4, max_tokens=7, length_penalty=0.0, no_repeat_ngram=0))

    for context, hypotheses in zip(CONTEXTS, found, strict=True):
        assert len({tuple(one.tokens) for one in hypotheses}) == len(hypotheses) > 1
        for one in hypotheses:
            said = torch.tensor([[BEGIN, *one.tokens]])
            log_probabilities = answerer.predict([context], said[:, :-1]).log_probabilities
            likelihood = log_probabilities.gather(2, said[:, 1:, None]).sum()
            assert one.score == pytest.approx(float(likelihood), abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_neither_the_batch_nor_padding_changes_what_is_predicted(kind: str) -> None:
    answerer, said = small_answerer(kind), torch.tensor([[BEGIN, 9, 12]])

    together = answerer.predict(CONTEXTS, said.expand(3, -1))

    for number, context in enumerate(CONTEXTS):
        alone = answerer.predict([context], said)
        torch.testing.assert_close(alone.log_probabilities[0], together.log_probabilities[number], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(alone.emotion_logits[0], together.emotion_logits[number], rtol=1e-4, atol=1e-4)
    ranked = answerer.rank_emotions(CONTEXTS)
    assert ranked == [answerer.rank_emotions([context])[0] for context in CONTEXTS]
    assert ranked[0] != ranked[1]


def test_an_empdg_answers_with_and_without_discriminators_but_not_with_broken_ones(tmp_path: Path) -> None:
    network, words = small_network("empdg"), small_words("empdg")
    assert isinstance(network, Empdg)
    network.is_emotional[10] = 1
    save_checkpoint(tmp_path / "alone", network, words)
    save_checkpoint(tmp_path / "both", network, words, {"discriminators": Discriminators(network.config)})
    kind = NetworkGenerator.of_family("empdg")

    replies = [kind.load(str(tmp_path / name), QUICK, "cpu").answer(CONTEXTS, [1, 2, 3]) for name in ("alone", "both")]

    assert replies[0] == replies[1]
    path = tmp_path / "both" / "discriminators.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(CheckpointRefused, match=r"discriminators.safetensors is broken: it has .* bytes instead of"):
        kind.load(str(tmp_path / "both"), {}, "cpu")
    other = small_network("empdg", without="emotion-words")
    assert isinstance(other, Empdg)
    save_checkpoint(tmp_path / "other", network, words, {"discriminators": Discriminators(other.config)})
    with pytest.raises(CheckpointRefused, match=r"discriminators.safetensors does not fit"):
        kind.load(str(tmp_path / "other"), {}, "cpu")


def test_seeds_of_contexts_do_not_depend_on_padding() -> None:
    padded = seeds_of_contexts(torch.tensor([[6, 9, 1], [6, 9, 10]]))

    assert seeds_of_contexts(torch.tensor([[6, 9]])) == padded[:1] != padded[1:]


@pytest.mark.usefixtures("example_corpus")
def test_a_mime_has_two_perplexities_that_differ_where_it_mistakes_the_polarity(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "mime", small_network("mime"), small_words("mime"))
    dataset = "example-empathetic"
    for_four = {"kind": "mime", "checkpoint": str(tmp_path / "mime"), "dialogs": 4, "setting": ["max_tokens=30"]}
    call_command("generate_candidates", dataset=dataset, generator="mime", here=True, **for_four)
    answered = Dialog.objects.with_gold().filter(candidates__generator__name="mime").order_by("pk")
    Dialog.objects.filter(pk=answered[0].pk).update(emotion="")

    call_command("score_candidates", dataset=dataset, generator=["mime"], device="cpu", without_similarity=True)

    found = {one.metric: one for one in GeneratorScore.objects.filter(generator__name="mime")}
    assert found["perplexity"].scored_count == answered.count() > 1
    assert found["perplexity_true_polarity"].scored_count == answered.count() - 1
    assert found["perplexity_true_polarity"].value != pytest.approx(found["perplexity"].value, rel=1e-4)
