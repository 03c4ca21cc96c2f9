"""Greedy decoding, and sampling from the k most probable tokens or from the nucleus, with one beam for each dialog.

    score(reply) = mean of log P(token | context, tokens before), before temperature and cut-offs

Sources: top-k, Fan et al. 2018; nucleus, Holtzman et al. 2020. Example: with P = (.2, .5, .3), greedy takes the second
token; top-k with k = 2 draws the second with probability 5/8 and the third with 3/8.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from generation.decoding.beam import Hypothesis
from generation.decoding.decoder import Decoder
from generation.decoding.decoding_settings import GREEDY, TOP_K, DecodingSettings
from generation.decoding.noise import noise_of, only_nucleus, only_top_k, with_noise
from generation.decoding.repeating import repeating_tokens


@torch.inference_mode()
def sample_replies(decoder: Decoder, settings: DecodingSettings, seeds: Sequence[int]) -> list[Hypothesis]:
    """Draw one reply for each dialog, with the dialog's own seed."""
    noise = noise_of(seeds)
    replies: list[Hypothesis | None] = [None] * decoder.dialogs
    running = list(range(decoder.dialogs))
    sequences = torch.full((len(running), 1), decoder.first_token, device=decoder.device)  # [B, tokens]
    summed = torch.zeros(len(running), device=decoder.device)
    for length in range(1, settings.max_tokens + 1):
        log_probabilities = decoder.step(sequences[:, -1:]).log_probabilities()
        banned = repeating_tokens(sequences, settings.no_repeat_ngram)
        tokens = pick_tokens(_ban_tokens(log_probabilities, banned), settings, noise)
        summed = summed + log_probabilities.gather(1, tokens[:, None])[:, 0]
        sequences = torch.cat([sequences, tokens[:, None]], dim=1)
        is_ended = tokens == decoder.end_token
        is_open = ~is_ended & (length < settings.max_tokens)
        for index in (~is_open).nonzero()[:, 0].tolist():
            said, score = sequences[index, 1:].tolist(), float(summed[index]) / length
            replies[running[index]] = Hypothesis(said, score, bool(is_ended[index]))
        kept = is_open.nonzero()[:, 0]
        if not len(kept):
            break
        if len(kept) < len(running):
            running = [running[index] for index in kept.tolist()]
            noise = [noise[index] for index in kept.tolist()]
            sequences, summed = sequences[kept], summed[kept]
            decoder.keep_dialogs(kept)
    return [reply for reply in replies if reply is not None]


def pick_tokens(scores: Tensor, settings: DecodingSettings, noise: Sequence[torch.Generator]) -> Tensor:
    """Return a token for each row of log-probabilities [B, vocabulary]: the most probable, or one drawn at random.

    Sampling divides by the temperature first, P'(token) ~ P(token) ^ (1 / temperature), and then cuts off.

    >>> pick_tokens(torch.tensor([[.2, .5, .3]]).log(), DecodingSettings(TOP_K, top_k=1), noise_of([7]))
    tensor([1])
    """
    if settings.method == GREEDY:
        return scores.argmax(dim=1)
    scores = scores / settings.temperature
    is_top_k = settings.method == TOP_K
    allowed = only_top_k(scores, settings.top_k) if is_top_k else only_nucleus(scores, settings.top_p)
    return with_noise(allowed, noise).argmax(dim=1)


def _ban_tokens(scores: Tensor, banned: tuple[Tensor, Tensor] | None) -> Tensor:
    return scores if banned is None else scores.index_put(banned, scores.new_tensor(-torch.inf))
