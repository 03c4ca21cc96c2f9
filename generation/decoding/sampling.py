"""Greedy decoding, and sampling from the k most probable tokens or from the nucleus (Holtzman et al. 2020)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from generation.decoding.beam import Hypothesis
from generation.decoding.projection import Projection
from generation.decoding.repeating import repeating_tokens
from generation.decoding.settings import GREEDY, NUCLEUS, TOP_K, DecodingSettings
from generation.networks.reply_state import ReplyState
from generation.networks.tokenizing import BEGIN, END
from generation.networks.transformer import Transformer


@torch.inference_mode()
def sample_replies(
    network: Transformer, projection: Projection, state: ReplyState, settings: DecodingSettings, seeds: Sequence[int]
) -> list[Hypothesis]:
    """One reply a dialog, drawn with that dialog's own seed; its score is the mean log-probability of its tokens."""
    draws = torch.stack([_draws(seed, settings.max_tokens) for seed in seeds]).to(state.device)  # [B, tokens]
    replies: list[Hypothesis | None] = [None] * state.dialogs
    running = list(range(state.dialogs))
    sequences = torch.full((len(running), 1), BEGIN, device=state.device)  # [B, tokens]
    summed = torch.zeros(len(running), device=state.device)
    for length in range(1, settings.max_tokens + 1):
        hidden = network.read_tokens(sequences[:, -1:], state)
        log_probabilities = projection.log_probabilities(hidden[:, 0])
        banned = repeating_tokens(sequences, settings.no_repeat_ngram)
        tokens = pick_tokens(_without(log_probabilities, banned), settings, draws[:, length - 1])
        summed = summed + log_probabilities.gather(1, tokens[:, None])[:, 0]
        sequences = torch.cat([sequences, tokens[:, None]], dim=1)
        is_open = (tokens != END) & (length < settings.max_tokens)
        for place in (~is_open).nonzero()[:, 0].tolist():
            replies[running[place]] = Hypothesis(sequences[place, 1:].tolist(), float(summed[place]) / length)
        kept = is_open.nonzero()[:, 0]
        if not len(kept):
            break
        if len(kept) < len(running):
            running = [running[place] for place in kept.tolist()]
            sequences, summed, draws = sequences[kept], summed[kept], draws[kept]
            state.keep_dialogs(kept)
    return [reply for reply in replies if reply is not None]


def pick_tokens(scores: Tensor, settings: DecodingSettings, draws: Tensor) -> Tensor:
    """The most probable token of each row of `scores` [B, vocabulary], or the one on which the draw, a number from 0 to
    1 a row, falls when the tokens that may be drawn stand in a line by their probability.

    >>> pick_tokens(torch.tensor([[.2, .5, .3]]).log(), DecodingSettings(TOP_K, top_k=2), torch.tensor([.7]))
    tensor([2])
    """
    if settings.method == GREEDY:
        return scores.argmax(dim=1)
    scores = scores / settings.temperature
    kept = min(settings.top_k, scores.shape[1]) if settings.method == TOP_K else scores.shape[1]
    values, tokens = scores.topk(kept, dim=1)  # best first
    shares = values.double().softmax(dim=1)
    reached = shares.cumsum(dim=1)
    if settings.method == NUCLEUS:
        # The fewest tokens that together reach top_p: those before which it is not yet reached.
        shares = shares.where(reached - shares < settings.top_p, 0)
        reached = shares.cumsum(dim=1)
    aim = draws[:, None] * reached[:, -1:]
    place = torch.searchsorted(reached, aim, right=True).clamp(max=kept - 1)
    return tokens.gather(1, place)[:, 0]


def _draws(seed: int, count: int) -> Tensor:
    """On the CPU, so that a GPU draws the same."""
    generator = torch.Generator().manual_seed(seed % 2**63)
    return torch.rand(count, generator=generator, dtype=torch.float64)


def _without(scores: Tensor, banned: tuple[Tensor, Tensor] | None) -> Tensor:
    return scores if banned is None else scores.index_put(banned, scores.new_tensor(-torch.inf))
