"""Networks of ours: sizes and equations as the papers say."""

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch

from generation.emotions import LABELS
from generation.networks.batches import stack
from generation.networks.meed2 import ResponsePredictor
from generation.networks.network_config import NetworkConfig
from generation.networks.tokenizing import PAD
from generation.networks.transformer import Transformer
from generation.networks.unfilled import build_unfilled
from tests.networks.small_networks import small_network, some_contexts, spread


def test_the_paper_s_sizes_are_the_paper_s() -> None:
    network = build_unfilled(lambda: Transformer(NetworkConfig("transformer", 50_265)))

    words = 50_265 * 300
    norms = [module for module in network.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert sum(one.numel() for one in network.parameters()) == pytest.approx(2 * words + 10.2e6, rel=0.01)
    assert len(norms) == 1 + 4 * 2 + 4 * 3
    assert {norm.eps for norm in norms} == {1e-5}


def test_the_response_predictor_pools_and_predicts_as_the_paper_s_equations_say(config: NetworkConfig) -> None:
    predictor = spread(ResponsePredictor(config))
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
