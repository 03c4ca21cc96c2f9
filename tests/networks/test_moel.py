"""MoEL's mixture of listeners: known numbers, top-k, and the true emotion that tells in training only."""

import pytest
import torch
from torch import Tensor

from generation.networks.empathy_layers import sinusoids
from generation.networks.empathy_network import Encoded
from generation.networks.moel import Moel, MoelConfig, MoelObjective, mixture, oracle_probability, score_moel
from generation.training.objective import IGNORED
from generation.training.options import TrainingSettings
from tests.networks.empathy_networks import small_network
from tests.networks.known_layers import filled, waves

THREE = MoelConfig("moel", 10, width=4, heads=2, layers=1, feed_forward=3, max_tokens=16, attention_width=4)


def known_moel() -> Moel:
    """With the listeners' weights by a formula. Only the first three of the 32 are ever heard."""
    network = Moel(THREE)
    for number, listener in enumerate(network.listeners):
        filled(listener, 20 * (number + 1))
    filled(network.shared, 100)
    filled(network.meta)
    return network


def weights_of(*first: float) -> Tensor:
    weights = torch.zeros(1, 32)
    weights[0, : len(first)] = torch.tensor(first)
    return weights


@pytest.mark.parametrize(
    ("weights", "rows"),
    [
        ((0.5, 0.3, 0.2), [[1.3016, 0.0957, -0.2984, -1.0989], [-0.6829, -1.0166, 0.6827, 1.0168]]),
        ((1.0, 0.0, 0.0), [[1.2482, 0.1583, -0.2408, -1.1657], [-0.6566, -1.0395, 0.6903, 1.0059]]),
    ],
)
def test_a_mixture_of_three_listeners_gives_the_known_numbers(
    weights: tuple[float, ...], rows: list[list[float]]
) -> None:
    network, reply = known_moel(), waves(2, "cos") + sinusoids(2, 4)

    found = network.reply_norm(network.listen(reply, Encoded(waves(2, "sin"), None), weights_of(*weights)))

    assert [pytest.approx(row, abs=6e-5) for row in found[0].tolist()] == rows


def test_one_listener_alone_is_the_shared_one_and_it() -> None:
    network, reply, encoded = known_moel(), waves(2, "cos"), Encoded(waves(2, "sin"), None)

    found = network.listen(reply, encoded, torch.eye(32)[7:8])

    listener = list(network.listeners)[7]
    both = sum(layer(reply, layer.remember(*encoded))[0] for layer in (network.shared, listener))
    expected, _ = network.meta(both, network.meta.remember(*encoded))
    torch.testing.assert_close(found, expected)


def test_if_all_listeners_are_alike_the_mixture_does_not_matter() -> None:
    network, reply, encoded = known_moel(), waves(2, "cos"), Encoded(waves(2, "sin"), None)
    for listener in network.listeners:
        filled(listener, 20)

    found = [network.listen(reply, encoded, weights_of(*one)) for one in ((1.0,), (0.2, 0.8), (0.1, 0.3, 0.6))]

    torch.testing.assert_close(found[0], found[1])
    torch.testing.assert_close(found[0], found[2])


def test_a_mixture_is_of_the_largest_logits_or_of_what_is_told() -> None:
    torch.manual_seed(0)
    logits = torch.randn(3, 32)

    of_five, of_all = mixture(logits, 5), mixture(logits, 32)
    told = mixture(logits, 5, torch.tensor([4, IGNORED, 31]))

    assert (of_five > 0).sum(dim=1).tolist() == [5, 5, 5]
    torch.testing.assert_close(of_five.sum(dim=1), torch.ones(3))
    torch.testing.assert_close(of_all, logits.softmax(dim=1))
    assert torch.equal(of_five.topk(5).indices, logits.topk(5).indices)
    assert torch.equal(told[[0, 2]], torch.eye(32)[[4, 31]])
    assert torch.equal(told[1], of_five[1])


def test_a_true_emotion_is_told_ever_more_rarely() -> None:
    found = [oracle_probability(step) for step in (0, 1000, 10_000, 30_000)]

    assert found == pytest.approx([1, 0.90485, 0.36794, 0.04988], abs=5e-6)


def test_a_listener_hears_nothing_of_dialogs_in_which_it_has_no_weight() -> None:
    network = small_network("moel")
    assert isinstance(network, Moel)
    torch.manual_seed(0)
    encoded, reply = Encoded(torch.randn(3, 5, 16), torch.ones(3, 1, 1, 5, dtype=torch.bool)), torch.randn(3, 4, 16)
    weights = mixture(torch.randn(3, 32), 5)

    found = network.listen(reply, encoded, weights)

    mixed, _ = network.shared(reply, network.shared.remember(*encoded))
    for number, listener in enumerate(network.listeners):
        mixed = mixed + weights[:, number, None, None] * listener(reply, listener.remember(*encoded))[0]
    torch.testing.assert_close(found, network.meta(mixed, network.meta.remember(*encoded))[0])


@torch.no_grad()
def test_training_is_told_the_true_emotion_and_validation_never() -> None:
    network = small_network("moel")
    assert isinstance(network, Moel)
    batch = {
        "source_ids": torch.tensor([[6, 7, 8, 9]]),
        "source_speakers": torch.tensor([[6, 4, 4, 5]]),
        "target_ids": torch.tensor([[3, 8, 9]]),
        "targets": torch.tensor([[8, 9, 2]]),
        "emotions": torch.tensor([int(network(*[torch.tensor([[6, 7, 8]])] * 2, torch.tensor([[3]]))[1].argmin())]),
    }
    objective = MoelObjective(network, None, None, score_moel, lambda: None, training_score=score_moel)  # type: ignore[arg-type]
    plans = [objective.plan_step(step, TrainingSettings(seed=5))[0] for step in (0, 10**6)]

    told, late = (float(plan.score(network, batch).losses.sum()) for plan in plans)
    validated = float(objective.score(network, batch).losses.sum())
    for parameter in list(network.listeners)[int(batch["emotions"])].parameters():
        parameter.add_(0.5)
    assert late == validated != told
    assert float(plans[0].score(network, batch).losses.sum()) != told  # that listener alone was heard, with the shared
    assert float(objective.score(network, batch).losses.sum()) == validated  # and now it was not heard at all


def test_moel_has_the_published_number_of_weights() -> None:
    """Without the gate of a pointer (301) and a matrix (19,200), which the published code holds and does not use."""
    network = Moel(MoelConfig("moel", 100))

    assert sum(one.numel() for one in network.parameters()) == 601 * 100 + 6_727_751 - 301
