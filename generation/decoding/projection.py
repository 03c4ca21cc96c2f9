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
MOST_ROWS = 256  # beams that are scored at once: more would be no faster, and need more memory


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
        self._scores = self._weight.new_empty(0, len(self._weight))

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> [rows, vocabulary], which the next call overwrites."""
        return self._score(hidden)[:, : self.vocabulary_size]

    def continue_beams(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        """`hidden` [B, beams, W] are the beams' last states, `scores` [B, beams] their log-probabilities so far."""
        if groups > 1:
            return self._continue_groups(hidden, scores, banned, count, groups, diversity)
        dialogs, beams, _ = hidden.shape
        step = max(1, MOST_ROWS // beams)
        parts = []
        for first in range(0, dialogs, step):
            rows = slice(first * beams, (first + step) * beams)
            part = self._score(hidden.flatten(0, 1)[rows])
            _ban(part, banned, rows)
            parts.append(_best_by_blocks(part, scores[first : first + step], count))
        return Continuations(*(torch.cat(part)[:, None] for part in zip(*parts, strict=True)))

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

    def _score(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> log-probabilities [rows, padded vocabulary]"""
        if hidden.device.type != "cpu":
            return F.linear(hidden, self._weight, self._bias).float().log_softmax(dim=1)
        # One buffer for all steps, normalised in place: new memory of this size costs as much as the arithmetic in it.
        if len(self._scores) < len(hidden):
            self._scores = hidden.new_empty(len(hidden), len(self._weight))
        scores = torch.addmm(self._bias, hidden, self._weight.T, out=self._scores[: len(hidden)])
        return torch.log_softmax(scores, 1, out=scores)


def _ban(scores: Tensor, banned: Pairs | None, rows: slice) -> None:
    if banned is not None:
        which, tokens = banned
        inside = (which >= rows.start) & (which < rows.stop)
        scores[which[inside] - rows.start, tokens[inside]] = -torch.inf


def _best_by_blocks(log_probabilities: Tensor, scores: Tensor, count: int) -> Continuations:
    """[B * beams, padded vocabulary] and [B, beams] -> [B, count] each. A block's tokens stand apart, one in each
    BLOCKth of the vocabulary: so its best is found by comparing whole stretches of memory."""
    dialogs, beams = scores.shape
    blocks = log_probabilities.view(dialogs, beams, BLOCK, -1)
    block_count = blocks.shape[3]
    bests = (blocks.amax(dim=2) + scores[:, :, None]).flatten(1)  # [B, beams * block_count]
    chosen = bests.topk(min(count, bests.shape[1]), dim=1).indices  # [B, blocks that matter]
    parents, places = chosen // block_count, chosen % block_count
    dialog = torch.arange(dialogs, device=scores.device)[:, None]
    inside = blocks[dialog, parents, :, places] + scores.gather(1, parents)[:, :, None]  # [B, blocks, BLOCK]
    top, order = inside.flatten(1).topk(count, dim=1)
    which, place_in_block = order // BLOCK, order % BLOCK
    tokens = place_in_block * block_count + places.gather(1, which)
    return Continuations(top, parents.gather(1, which), tokens)
