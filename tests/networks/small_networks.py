"""The cast of the tests of networks: small ones with a fixed seed, and contexts for them."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from generation.decoding.packing import PackedLinear
from generation.decoding.projection import BLOCK, Projection
from generation.networks.batches import stack
from generation.networks.families import load_family
from generation.networks.meed2 import Meed2, ResponsePredictor
from generation.networks.network_config import NetworkConfig
from generation.networks.tokenizing import BEGIN, END, PAD
from generation.networks.transformer import Transformer, TransformerDecoder

VOCABULARY = 300
SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "max_tokens": 64}
TURNS = ("I lost my keys again.", "Oh no! Where did you look?", "Everywhere, but they are gone.")


def small_network(kind: str = "transformer", seed: int = 0, *, spread: float = 1.0, end: float = 9.0) -> Transformer:
    """With weights spread so far that contexts get different replies, and so keen to end that replies do."""
    torch.manual_seed(seed)
    network = load_family(kind).build(NetworkConfig(kind, VOCABULARY, **SMALL))
    assert isinstance(network, Transformer)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=spread)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        network.output.bias[END] += end
    return network.eval()


def some_contexts(count: int, seed: int = 0, longest: int = 60) -> list[list[int]]:
    rng = random.Random(seed)
    return [
        [BEGIN, *(rng.randrange(4, VOCABULARY) for _ in range(rng.randint(1, longest - 2))), END] for _ in range(count)
    ]


def begin(
    network: Transformer, contexts: Sequence[Sequence[int]], output: nn.Linear | PackedLinear | None = None
) -> TransformerDecoder:
    """With the output layer packed, as it is on CPUs, unless another one is given."""
    ids = stack(contexts, PAD)
    nobody = torch.zeros(len(contexts), dtype=torch.long)
    labels = torch.zeros_like(ids) if isinstance(network, Meed2) else None
    output = output or PackedLinear(network.output.weight, network.output.bias, multiple_of=BLOCK)
    with torch.inference_mode():
        state = network.begin_replies(
            ids, torch.zeros_like(ids), nobody, labels, nobody if labels is not None else None
        )
    return TransformerDecoder(network, Projection(output), state)


def as_inputs(contexts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    """For Hugging Face."""
    ids = stack(contexts, PAD)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long()}


def spread(predictor: ResponsePredictor) -> ResponsePredictor:
    """Weights so far apart that contexts get different labels."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in predictor.parameters():
            if weight.dim() > 1:
                weight.normal_()
    return predictor.eval()
