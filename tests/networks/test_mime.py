"""MIME: its groups of emotions, its latent variables, the refined context, and its ablations."""

import math

import pytest
import torch
from torch import Tensor

from generation.contexts import Context
from generation.decoding.decoding_settings import GREEDY
from generation.emotions import MOEL_EMOTIONS
from generation.errors import CheckpointRefused
from generation.networks.checkpoint import Checkpoint
from generation.networks.families import load_family
from generation.networks.mime import ABLATIONS, GROUPING, MIMICRY, STOCHASTICITY, Mime, MimeConfig, score_mime
from generation.networks.mime_emotions import POSITIVE, EmotionGroup, Normal
from tests.networks.empathy_networks import TURNS, small_network, small_words

IDS = torch.tensor([[6, 9, 10, 11], [6, 12, 1, 1]])
SPEAKERS = torch.tensor([[6, 4, 4, 5], [6, 4, 1, 1]])
REPLY = torch.tensor([[3, 9, 13], [3, 14, 8]])
JOYFUL, SAD = MOEL_EMOTIONS.index("joyful"), MOEL_EMOTIONS.index("sad")


def small_mime(without: str = "", seed: int = 0) -> Mime:
    network = small_network("mime", seed=seed, without=without)
    assert isinstance(network, Mime)
    return network


@torch.inference_mode()
def predict(network: Mime, emotion: int | None = None) -> Tensor:
    told = None if emotion is None else torch.tensor([emotion, emotion])
    found: Tensor = network(IDS, SPEAKERS, REPLY, told).log_probabilities
    return found


def test_divergences_of_normal_distributions_have_the_known_values() -> None:
    one, zero = torch.ones(1, 300), torch.zeros(1, 300)
    assert Normal(one, zero).divergence_from(Normal(zero, zero)).tolist() == [150]

    wide = Normal(zero[:, :1], torch.tensor([[math.log(4)]]))
    assert wide.divergence_from(Normal(zero[:, :1], zero[:, :1])).tolist() == pytest.approx([0.80685], abs=1e-5)


def test_a_draw_lies_as_many_deviations_from_the_mean_as_its_noise_says() -> None:
    mean, variance, noise = torch.tensor([[1.0, 1.0]]), torch.tensor([[9.0, 0.25]]), torch.tensor([[2.0, -2.0]])

    assert Normal(mean, variance.log()).draw(noise).tolist() == [pytest.approx([7, 0], abs=1e-6)]


def test_the_loss_of_a_group_is_a_divergence_and_the_cross_entropy_of_its_mixture() -> None:
    group = EmotionGroup(4, [0, 2, 3], is_stochastic=True)
    with torch.no_grad():
        for parameter in group.parameters():
            parameter.zero_()  # so the prior has mean 0 and variance 1, and the mixture is a third of each emotion
        group.posterior.mean.bias.fill_(1)
        group.posterior.log_variance.bias.fill_(math.log(4))

    vector, emotions, logits = torch.randn(1, 4), torch.randn(32, 4), torch.randn(1, 32)
    _, loss = group.mix_for_training(vector, torch.randn(1, 4), emotions, vector, logits)

    divergence = 0.5 * (4 + 1 - 1 - math.log(4))
    assert loss.tolist() == pytest.approx([4 * divergence + math.log(3)], abs=1e-5)


PARAMETERS = 3_082_465 - 109_833 - 320_150  # of the published code; of it unused; its second encoder


@pytest.mark.parametrize(
    ("without", "parameters"),
    [("", PARAMETERS), (STOCHASTICITY, 1_750_082), (MIMICRY, PARAMETERS), (GROUPING, 2_110_982)],
)
def test_it_has_as_many_parameters_as_published_but_for_the_unused_and_the_second_encoder(
    without: str, parameters: int
) -> None:
    network = load_family("mime").build(MimeConfig("mime", 11, without=without))

    assert sum(one.numel() for one in network.parameters()) == 601 * 11 + parameters


def test_the_groups_are_13_positive_and_19_negative_emotions() -> None:
    first, second = small_mime().mixer.groups

    assert [len(first.members), len(second.members)] == [13, 19]
    assert {MOEL_EMOTIONS[number] for number in first.members.tolist()} == POSITIVE
    assert sorted([*first.members.tolist(), *second.members.tolist()]) == list(range(32))


def test_a_closed_gate_leaves_only_a_bias() -> None:
    network = small_mime()
    with torch.no_grad():
        network.gate.bias.fill_(-torch.inf)
        encoded = network.encode(IDS, SPEAKERS)
        refined = network.refine(encoded, torch.randn(2, 2, 16), torch.tensor([JOYFUL, SAD]))

    torch.testing.assert_close(refined.states, network.fusion.bias.expand(2, 3, 16))


def test_if_all_emotions_are_alike_neither_the_seed_nor_the_polarity_matters() -> None:
    network = small_mime()
    with torch.no_grad():
        network.emotions.weight.copy_(network.emotions.weight[:1].expand(32, -1))
        encoded = network.encode(IDS, SPEAKERS)
        mixtures = [
            network.mixer.mix(encoded.states[:, 0], network.noise_for([seed, seed]), network.emotions.weight)
            for seed in (1, 2)
        ]

    torch.testing.assert_close(*mixtures)
    torch.testing.assert_close(predict(network, JOYFUL), predict(network, SAD))


def test_the_polarity_decides_unless_mimicry_is_left_out() -> None:
    assert not torch.allclose(predict(small_mime(), JOYFUL), predict(small_mime(), SAD), atol=1e-3)
    for without in (MIMICRY, GROUPING):
        torch.testing.assert_close(predict(small_mime(without), JOYFUL), predict(small_mime(without), SAD))
    torch.testing.assert_close(predict(small_mime(MIMICRY)), predict(small_mime(), JOYFUL))  # positive emotions first


def test_replies_depend_on_their_own_seed_alone_unless_stochasticity_is_left_out() -> None:
    contexts = [Context(TURNS), Context(("so sad",)), Context(("you will find them",))]

    def answer(without: str, seeds: list[int], order: list[int]) -> list[str]:
        checkpoint = Checkpoint(small_mime(without), small_words("mime"))
        answerer = load_family("mime").answerer(checkpoint, {"method": GREEDY, "max_tokens": 12})
        found = answerer.answer([contexts[place] for place in order], [seeds[place] for place in order])
        texts = dict(zip(order, [reply.text or reply.failure for reply in found], strict=True))
        return [texts[place] for place in sorted(order)]

    together = answer("", [1, 2, 3], [2, 0, 1])
    assert [*answer("", [1, 2, 3], [0]), *answer("", [1, 2, 3], [1, 2])] == together
    seeded = [answer("", [seed] * 3, [0, 1, 2]) for seed in range(5)]
    assert any(one != seeded[0] for one in seeded)
    plain = [answer(STOCHASTICITY, [seed] * 3, [0, 1, 2]) for seed in range(3)]
    assert plain == [plain[0]] * 3


def test_training_draws_from_the_posterior_and_teaches_both() -> None:
    network = small_mime()
    torch.manual_seed(5)

    predicted = network(IDS, SPEAKERS, REPLY, torch.tensor([JOYFUL, SAD]), is_training=True)

    def learns_from(loss: Tensor) -> set[str]:
        """Return which distributions of the first group a loss teaches."""
        named = {name: weight for name, weight in network.mixer.named_parameters() if name.startswith("groups.0.")}
        found = torch.autograd.grad(loss, list(named.values()), retain_graph=True, allow_unused=True)
        return {name.split(".")[2] for name, gradient in zip(named, found, strict=True) if gradient is not None}

    assert learns_from(-predicted.log_probabilities.mean()) == {"posterior", "posterior_hidden", "choice"}
    assert learns_from(predicted.latent_losses.sum()) == {"prior", "posterior", "posterior_hidden", "choice"}
    assert bool((predicted.latent_losses > 0).all())


def test_the_latent_loss_of_a_context_does_not_depend_on_its_batch() -> None:
    network = small_mime()
    torch.manual_seed(5)

    with torch.no_grad():
        together = network(IDS, SPEAKERS, REPLY, is_training=True)
        alone = network(IDS[1:, :2], SPEAKERS[1:, :2], REPLY[1:], is_training=True)

    torch.testing.assert_close(alone.latent_losses, together.latent_losses[1:], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(alone.log_probabilities, together.log_probabilities[1:], rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def test_it_is_scored_with_the_predicted_polarity_and_with_the_true_one() -> None:
    network = small_mime()
    predicted = network(IDS, SPEAKERS, REPLY).emotion_logits.argmax(dim=1)
    is_positive = [MOEL_EMOTIONS[number] in POSITIVE for number in predicted.tolist()]
    wrong = torch.tensor([SAD if positive else JOYFUL for positive in is_positive])
    batch = {"source_ids": IDS, "source_speakers": SPEAKERS, "target_ids": REPLY, "targets": REPLY}

    right = score_mime(network, batch | {"emotions": predicted})
    other = score_mime(network, batch | {"emotions": wrong})

    torch.testing.assert_close(right.others["true_polarity"], right.losses)
    torch.testing.assert_close(other.losses, right.losses)
    assert not torch.allclose(other.others["true_polarity"], right.losses, atol=1e-3)


def test_an_unknown_ablation_is_refused_in_one_line() -> None:
    assert len(ABLATIONS) == 4
    with pytest.raises(CheckpointRefused, match="mimicry-and-grouping, but not without 'luck'"):
        MimeConfig("mime", 11, without="luck")
