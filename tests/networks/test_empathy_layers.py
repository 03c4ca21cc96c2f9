"""The layers of TRS, Multi-TR, MoEL, MIME and EmpDG beside known answers, and what padding must not change."""

from typing import Any

import pytest
import torch
from torch import Tensor

from generation.networks.empathy_config import EmpathyConfig
from generation.networks.empathy_layers import DecoderLayer, EncoderLayer, SampleNorm, sinusoids
from generation.networks.empathy_network import EmpathyState, Encoded
from tests.networks.known_layers import TINY, filled, waves

FIRST_TWO = [[1.3084, 0.6166, -0.4151, -1.0550], [-0.1908, 0.2907, 0.9542, 0.8076]]


def rows_of(states: Tensor) -> list[Any]:
    return [pytest.approx(row, abs=6e-5) for row in states[0].tolist()]


def mask_of(*is_token: bool) -> Tensor:
    return torch.tensor(is_token)[None, None, None]


def test_the_norm_divides_by_the_deviation_of_a_sample() -> None:
    normed = SampleNorm(4)(torch.tensor([1.0, 2, 3, 4]))

    assert normed.tolist() == pytest.approx([-1.1619, -0.3873, 0.3873, 1.1619], abs=5e-5)


def test_positions_are_sines_and_then_cosines() -> None:
    assert sinusoids(2, 4)[1].tolist() == pytest.approx([0.8415, 0.0001, 0.5403, 1.0], abs=5e-5)
    assert sinusoids(1000, 300)[999, [0, 149, 150, 299]].tolist() == pytest.approx(
        [-0.026461, 0.099733, 0.999650, 0.995014], abs=1e-5
    )


def test_an_encoder_layer_gives_the_known_numbers() -> None:
    found = filled(EncoderLayer(TINY))(waves(3, "cos"), None)

    assert rows_of(found) == [
        [1.3591, 0.5889, -0.4262, -1.0098],
        [-0.1496, 0.2405, 0.9519, 0.8079],
        [0.2530, -0.8569, -0.8221, -0.0050],
    ]


def test_padding_changes_nothing_in_an_encoder_layer() -> None:
    layer = filled(EncoderLayer(TINY))

    alone = layer(waves(2, "cos"), None)
    padded = layer(waves(3, "cos"), mask_of(True, True, False))[:, :2]

    assert rows_of(alone) == FIRST_TWO
    assert rows_of(padded) == FIRST_TWO


def test_a_decoder_layer_gives_the_known_numbers_and_logits() -> None:
    layer, memory = filled(DecoderLayer(TINY)), waves(2, "sin")

    found, logits = layer(waves(3, "cos"), layer.remember(memory, None))

    assert rows_of(found) == [
        [1.3023, 0.7435, -0.5255, -0.9301],
        [-0.2185, 0.2637, 0.9891, 0.8218],
        [0.2788, -0.9311, -0.8142, 0.0180],
    ]
    assert rows_of(logits.mean(dim=1)) == [[-0.2494, -0.0272], [0.2495, -0.0451], [-0.0111, 0.1711]]


@torch.inference_mode()
def test_a_decoder_layer_reads_word_by_word_what_it_reads_at_once_padded_or_not() -> None:
    layer, memory = filled(DecoderLayer(TINY)), waves(3, "sin")
    mask = mask_of(True, True, False)
    states = waves(5, "cos")

    whole, _ = layer(states, layer.remember(memory, mask))
    state = EmpathyState.begin([layer], Encoded(memory, mask))
    read = []
    for place in range(5):
        state.make_room(1)
        read.append(state.read(0, layer, states[:, place : place + 1])[0])
    unpadded, _ = layer(states, layer.remember(memory[:, :2], None))

    torch.testing.assert_close(torch.cat(read, dim=1), whole)
    torch.testing.assert_close(unpadded, whole)


def test_layers_have_the_sizes_of_the_published_ones() -> None:
    config = EmpathyConfig("trs", 10)

    assert sum(one.numel() for one in EncoderLayer(config).parameters()) == 139_550
    assert sum(one.numel() for one in DecoderLayer(config).parameters()) == 188_150
