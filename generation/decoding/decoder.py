"""Define what decoding knows of a network: a Decoder, and the log-probabilities that each of its steps gives.

A family of networks makes a Decoder when it begins the replies of a batch (`DecodingAnswerer.begin`). The Decoder holds
whatever the network must remember between tokens, such as keys and values, a mixture or a latent variable.
"""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from generation.decoding.repeating import Pairs


class Continuations(NamedTuple):
    """The best continuations of each group of beams, best first: [B, groups, k] each."""

    scores: Tensor  # log-probability of the whole reply so far
    parents: Tensor  # which of the dialog's beams is continued
    tokens: Tensor


class NextTokens(Protocol):
    """How probable each token of the vocabulary is after each beam."""

    def log_probabilities(self) -> Tensor:
        """Return log P of each token, [B * beams, vocabulary]. The next step may overwrite it."""
        ...

    def best(self, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float) -> Continuations:
        """Return the `count` best continuations of each group. `scores` [B, beams] are the log-probabilities of the
        beams so far. `banned` pairs of a beam and a token must not be chosen."""
        ...


class Decoder(Protocol):
    """The replies of one batch while they are being written. At the first step, each dialog has only one beam."""

    first_token: int  # every reply begins with it; it is not part of the text
    end_token: int

    @property
    def dialogs(self) -> int: ...

    @property
    def device(self) -> torch.device: ...

    def step(self, tokens: Tensor) -> NextTokens:
        """Read one more token of each beam, [B, beams]."""
        ...

    def keep_beams(self, parents: Tensor) -> None:
        """Choose beams: `parents` [B, beams] says for each new beam which old one it continues."""
        ...

    def keep_dialogs(self, kept: Tensor) -> None:
        """Drop finished dialogs: `kept` [fewer] are the indexes of those that go on."""
        ...


class PlainNextTokens:
    """NextTokens of a decoder that has all log-probabilities at hand. projection.py has the fast alternative.

    >>> scores = torch.tensor([[[.2, .5, .3]]]).log()
    >>> PlainNextTokens(scores).best(torch.zeros(1, 1), None, count=2, groups=1, diversity=0).tokens
    tensor([[[1, 2]]])
    """

    def __init__(self, log_probabilities: Tensor) -> None:
        self._scores = log_probabilities  # [B, beams, vocabulary]

    def log_probabilities(self) -> Tensor:
        return self._scores.flatten(0, 1)

    def best(self, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float) -> Continuations:
        scored = self.log_probabilities()
        if banned is not None:
            scored = scored.index_put(banned, scored.new_tensor(-torch.inf))
        return best_of_groups(scored, scores, count, groups, diversity)


def best_of_groups(
    log_probabilities: Tensor, scores: Tensor, count: int, groups: int, diversity: float
) -> Continuations:
    """Choose continuations for groups of beams: [B * beams, vocabulary] and [B, beams] -> [B, groups, count] each.

        chosen by  score of the beam + log P(token) - diversity * (how often earlier groups chose the token just now)

    This is diverse beam search with Hamming diversity (Vijayakumar et al. 2016). Groups choose one after the other. The
    penalty decides what is chosen; the scores that are returned are log-probabilities without it. With diversity 0.5,
    for example, a second group prefers a token with log P -1.2 to the first group's with log P -1.0.
    """
    dialogs, beams = scores.shape
    vocabulary_size = log_probabilities.shape[1]
    size = max(beams // groups, 1)  # at the first step, one beam serves all groups
    summed = log_probabilities.view(dialogs, beams, -1) + scores[:, :, None]
    said = summed.new_zeros(dialogs, vocabulary_size)
    found = []
    for group in range(groups):
        first = group * size if beams > 1 else 0
        own = summed[:, first : first + size]
        chosen = (own - diversity * said[:, None]).flatten(1).topk(count, dim=1).indices
        tokens = chosen % vocabulary_size
        # Only the better half counts as chosen: `count` is twice a group's size, and so many beams of it go on.
        said.scatter_add_(1, tokens[:, : count // 2], said.new_ones(dialogs, count // 2))
        found.append((own.flatten(1).gather(1, chosen), first + chosen // vocabulary_size, tokens))
    return Continuations(*(torch.stack(part, dim=1) for part in zip(*found, strict=True)))
