"""What decoding knows of a network: a Decoder, and the log-probabilities that each of its steps gives.

A family of networks makes a Decoder when it begins the replies of a batch (`DecodingAnswerer.begin`). Whatever the
network must remember between tokens, such as keys and values, a mixture or a latent variable, the Decoder carries.
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
        """[B * beams, vocabulary]. The next step may overwrite it."""
        ...

    def best(self, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float) -> Continuations:
        """The `count` best continuations of each group. `scores` [B, beams] are the beams' log-probabilities so far."""
        ...


class Decoder(Protocol):
    """The replies of one batch while they are written. All of a dialog's beams begin as one."""

    first_token: int  # what every reply begins with, and is no part of it
    end_token: int

    @property
    def dialogs(self) -> int: ...

    @property
    def device(self) -> torch.device: ...

    def step(self, tokens: Tensor) -> NextTokens:
        """Read one more token of each beam, [B, beams]."""
        ...

    def keep_beams(self, parents: Tensor) -> None:
        """`parents` [B, beams]: each new beam continues that old one."""
        ...

    def keep_dialogs(self, kept: Tensor) -> None:
        """`kept` [fewer]: the dialogs that go on. The others are finished."""
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
    """[B * beams, vocabulary] and [B, beams] -> [B, groups, count] each.

    Groups choose one after the other. A token that earlier groups have chosen at this step costs `diversity` for each
    time. The penalty decides what is chosen; the scores stay log-probabilities.
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
        said.scatter_add_(1, tokens[:, : count // 2], said.new_ones(dialogs, count // 2))
        found.append((own.flatten(1).gather(1, chosen), first + chosen // vocabulary_size, tokens))
    return Continuations(*(torch.stack(part, dim=1) for part in zip(*found, strict=True)))
