"""The step from a decoder's states to the next tokens: most of decoding's arithmetic, and of its memory.

The best k of beams x vocabulary are found without sorting, normalising or copying the scores: the vocabulary is cut
into blocks, one pass takes each block's best logit and each row's log-sum-exp, the k best blocks are chosen by their
best, and the k best tokens are among them. (If a token outside of those blocks were among the k best, so would be the
k blocks' bests before it.) The vocabulary is padded with tokens that cannot be chosen, so that blocks are even.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.decoding.repeating import Pairs

BLOCK = 32  # tokens


class Continuations(NamedTuple):
    """The best of each group of beams, best first: [B, groups, k] each."""

    scores: Tensor  # log-probability of all that was said
    parents: Tensor  # which of the dialog's beams goes on
    tokens: Tensor


class Projection:
    """A network's output layer, prepared for decoding."""

    def __init__(self, output: nn.Linear) -> None:
        self.vocabulary_size = output.out_features
        filled = -self.vocabulary_size % BLOCK
        self._weight = F.pad(output.weight.detach(), (0, 0, 0, filled))
        self._bias = F.pad(output.bias.detach(), (0, filled), value=-torch.inf)

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> [rows, vocabulary]"""
        return self._logits(hidden)[:, : self.vocabulary_size].log_softmax(dim=1)

    def continue_beams(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        """`hidden` [B, beams, W] are the beams' last states, `scores` [B, beams] their log-probabilities so far."""
        if groups > 1:
            return self._continue_groups(hidden, scores, banned, count, groups, diversity)
        dialogs, beams, _ = hidden.shape
        logits = self._logits(hidden.flatten(0, 1))  # [B * beams, padded vocabulary]
        start = scores - logits.logsumexp(dim=1).view(dialogs, beams)
        if banned is not None:
            logits[banned] = -torch.inf
        blocks = logits.view(dialogs, beams, -1, BLOCK)
        bests = (blocks.amax(dim=3) + start[:, :, None]).flatten(1)  # [B, beams * blocks]
        chosen = bests.topk(min(count, bests.shape[1]), dim=1).indices  # [B, blocks that matter]
        parents = chosen // blocks.shape[2]
        inside = blocks.flatten(1, 2).gather(1, chosen[:, :, None].expand(-1, -1, BLOCK))  # [B, count, BLOCK]
        summed = inside + start.gather(1, parents)[:, :, None]
        top, places = summed.flatten(1).topk(count, dim=1)
        first_tokens = (chosen % blocks.shape[2]) * BLOCK
        tokens = first_tokens.gather(1, places // BLOCK) + places % BLOCK
        return Continuations(top[:, None], parents.gather(1, places // BLOCK)[:, None], tokens[:, None])

    def _continue_groups(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        """One group after the other: what earlier ones say at this step costs `diversity` a time. That decides what is
        chosen; the scores stay log-probabilities."""
        dialogs, beams, _ = hidden.shape
        log_probabilities = self.log_probabilities(hidden.flatten(0, 1))
        if banned is not None:
            log_probabilities[banned] = -torch.inf
        summed = log_probabilities.view(dialogs, beams, -1) + scores[:, :, None]
        said = summed.new_zeros(dialogs, self.vocabulary_size)
        found = []
        for group in range(groups):
            size = max(beams // groups, 1)  # at the first step, one beam serves all groups
            first = group * size if beams > 1 else 0
            own = summed[:, first : first + size].flatten(1)  # [B, size * vocabulary]
            chosen = (own.view(dialogs, size, -1) - diversity * said[:, None]).flatten(1).topk(count, dim=1).indices
            tokens = chosen % self.vocabulary_size
            said.scatter_add_(1, tokens[:, : count // 2], torch.ones_like(said[:, : count // 2]))
            found.append(Continuations(own.gather(1, chosen), first + chosen // self.vocabulary_size, tokens))
        return Continuations(*(torch.stack(parts, dim=1) for parts in zip(*found, strict=True)))

    def _logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self._weight, self._bias).float()
