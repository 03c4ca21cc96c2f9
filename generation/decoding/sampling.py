"""Greedy decoding, and sampling from the k most probable tokens or from the nucleus."""

from collections.abc import Sequence

import torch
from torch import Tensor

from generation.decoding.beam import Hypothesis
from generation.decoding.drawing import noise_of, only_nucleus, only_top_k, with_noise
from generation.decoding.projection import Projection
from generation.decoding.repeating import repeating_tokens
from generation.decoding.settings import GREEDY, TOP_K, DecodingSettings
from generation.networks.reply_state import ReplyState
from generation.networks.tokenizing import BEGIN, END
from generation.networks.transformer import Transformer


@torch.inference_mode()
def sample_replies(
    network: Transformer, projection: Projection, state: ReplyState, settings: DecodingSettings, seeds: Sequence[int]
) -> list[Hypothesis]:
    """One reply a dialog, drawn with that dialog's own seed; its score is the mean log-probability of its tokens."""
    noise = noise_of(seeds)
    replies: list[Hypothesis | None] = [None] * state.dialogs
    running = list(range(state.dialogs))
    sequences = torch.full((len(running), 1), BEGIN, device=state.device)  # [B, tokens]
    summed = torch.zeros(len(running), device=state.device)
    for length in range(1, settings.max_tokens + 1):
        hidden = network.read_tokens(sequences[:, -1:], state)
        log_probabilities = projection.log_probabilities(hidden[:, 0])
        banned = repeating_tokens(sequences, settings.no_repeat_ngram)
        tokens = pick_tokens(_without(log_probabilities, banned), settings, noise)
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
            noise = [noise[place] for place in kept.tolist()]
            sequences, summed = sequences[kept], summed[kept]
            state.keep_dialogs(kept)
    return [reply for reply in replies if reply is not None]


def pick_tokens(scores: Tensor, settings: DecodingSettings, noise: Sequence[torch.Generator]) -> Tensor:
    """The most probable token of each row of `scores` [B, vocabulary], or one that is drawn from the row's best.

    >>> pick_tokens(torch.tensor([[.2, .5, .3]]).log(), DecodingSettings(TOP_K, top_k=1), noise_of([7]))
    tensor([1])
    """
    if settings.method == GREEDY:
        return scores.argmax(dim=1)
    scores = scores / settings.temperature
    is_top_k = settings.method == TOP_K
    allowed = only_top_k(scores, settings.top_k) if is_top_k else only_nucleus(scores, settings.top_p)
    return with_noise(allowed, noise).argmax(dim=1)


def _without(scores: Tensor, banned: tuple[Tensor, Tensor] | None) -> Tensor:
    return scores if banned is None else scores.index_put(banned, scores.new_tensor(-torch.inf))
