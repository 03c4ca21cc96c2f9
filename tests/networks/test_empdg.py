"""EmpDG's generator: its emotion words, how it copies, and how a reply begins."""

import pytest
import torch

from generation.errors import CheckpointRefused
from generation.networks.copying import mix_with_copies
from generation.networks.emotion_words import are_emotion_words
from generation.networks.empathy_words import PAD
from generation.networks.empdg import EMOTION_WORDS, LABEL, Empdg, EmpdgConfig
from generation.networks.families import load_family
from tests.networks.empathy_networks import small_network

IDS = torch.tensor([[6, 9, 10, 11], [6, 12, PAD, PAD]])
SPEAKERS = torch.tensor([[6, 4, 4, 5], [6, 4, PAD, PAD]])
REPLY = torch.tensor([[3, 9, 13], [3, 14, 8]])


def small_empdg(without: str = "", emotional: tuple[int, ...] = (9, 11)) -> Empdg:
    network = small_network("empdg", without=without)
    assert isinstance(network, Empdg)
    network.is_emotional[list(emotional)] = 1
    return network


def test_words_are_said_and_copied_with_the_known_probabilities() -> None:
    logits, places, ids = torch.tensor([[[1.0, 2, 3, 0]]]), torch.tensor([[[0.0, 1, 0]]]), torch.tensor([[2, 0, 2]])

    mixed = mix_with_copies(logits, torch.tensor([[[3.0]]]).log(), places, ids)
    only_said = mix_with_copies(logits, torch.tensor([[[50.0]]]), places, ids)

    assert mixed.exp()[0, 0].tolist() == pytest.approx([0.2094, 0.1777, 0.5889, 0.0240], abs=5e-5)
    torch.testing.assert_close(only_said, logits.log_softmax(dim=2))


@pytest.mark.parametrize(("without", "parameters"), [("", 768_451), (EMOTION_WORDS, 518_801)])
def test_it_has_the_published_number_of_parameters_that_have_an_effect(without: str, parameters: int) -> None:
    network = load_family("empdg").build(EmpdgConfig("empdg", 11, without=without))

    assert sum(one.numel() for one in network.parameters()) == 601 * 11 + parameters


def test_emotion_words_keep_their_order_and_a_context_without_any_still_has_a_label() -> None:
    network = small_empdg()

    assert network.emotion_words_of(IDS).tolist() == [[LABEL, 9, 11], [LABEL, PAD, PAD]]
    assert network.emotion_words_of(IDS[1:]).tolist() == [[LABEL]]
    assert are_emotion_words(["<lab>"], frozenset(["<lab>"])) == [False]


@torch.inference_mode()
def test_a_reply_begins_with_the_emotions_instead_of_a_first_word() -> None:
    other = REPLY.clone()
    other[:, 0] = 10
    for without, is_same in (("", True), (EMOTION_WORDS, False)):
        network = small_empdg(without)
        first, second = (network(IDS, SPEAKERS, reply).log_probabilities for reply in (REPLY, other))
        assert torch.allclose(first, second, atol=1e-4) is is_same


@torch.inference_mode()
def test_a_word_that_only_the_context_has_can_be_copied() -> None:
    network = small_empdg()
    network.output.bias[10] = -1e9
    network.copying.bias.fill_(-2.0)

    found = network(IDS, SPEAKERS, REPLY).log_probabilities

    assert bool((found[0, :, 10] > -30).all())
    assert bool((found[1, :, 10] < -60).all())  # this context has another word
    torch.testing.assert_close(found.exp().sum(dim=2), torch.ones(2, 3))


@torch.inference_mode()
def test_emotion_words_change_replies_and_emotions() -> None:
    with_words, without_words = small_empdg(), small_empdg(emotional=())

    found, other = (network(IDS, SPEAKERS, REPLY) for network in (with_words, without_words))

    assert not torch.allclose(found.emotion_logits[0], other.emotion_logits[0], atol=1e-3)
    torch.testing.assert_close(found.log_probabilities[1], other.log_probabilities[1])


def test_an_unknown_ablation_is_refused_in_one_line() -> None:
    with pytest.raises(CheckpointRefused, match="can be without emotion-words, but not without 'words'"):
        EmpdgConfig("empdg", 11, without="words")
