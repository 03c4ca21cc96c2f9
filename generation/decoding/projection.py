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
        self._output = output
        self._padded_size = self.vocabulary_size + -self.vocabulary_size % BLOCK
        self._scores = self._room(0)

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> [rows, vocabulary], which the next call overwrites."""
        return self._score(hidden)[:, : self.vocabulary_size]

    def continue_beams(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        """`hidden` [B, beams, W] are the beams' last states, `scores` [B, beams] their log-probabilities so far."""
        dialogs, beams, _ = hidden.shape
        step = max(1, MOST_ROWS // beams)
        parts = []
        for first in range(0, dialogs, step):
            rows = slice(first * beams, (first + step) * beams)
            scored = self._score(hidden[first : first + step].flatten(0, 1))
            _ban(scored, banned, rows)
            if groups == 1:
                parts.append(_best_by_blocks(scored, scores[first : first + step], count))
            else:
                scored = scored[:, : self.vocabulary_size]
                parts.append(_best_of_groups(scored, scores[first : first + step], count, groups, diversity))
        return Continuations(*(torch.cat(part) for part in zip(*parts, strict=True)))

    def _score(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> log-probabilities [rows, padded vocabulary]

        One buffer serves all steps and is normalised in place: new memory of this size costs as much as the arithmetic.
        """
        if len(self._scores) < len(hidden):
            self._scores = self._room(len(hidden))
        scores = self._scores[: len(hidden)]
        weight, bias = self._output.weight, self._output.bias
        if hidden.dtype == scores.dtype:
            torch.addmm(bias, hidden, weight.T, out=scores[:, : self.vocabulary_size])
        else:
            scores[:, : self.vocabulary_size] = F.linear(hidden, weight, bias)
        return torch.log_softmax(scores, dim=1, out=scores)

    def _room(self, rows: int) -> Tensor:
        device = self._output.weight.device
        return torch.full((rows, self._padded_size), -torch.inf, dtype=torch.float32, device=device)


def _ban(scores: Tensor, banned: Pairs | None, rows: slice) -> None:
    if banned is not None:
        which, tokens = banned
        inside = (which >= rows.start) & (which < rows.stop)
        scores[which[inside] - rows.start, tokens[inside]] = -torch.inf


def _best_by_blocks(log_probabilities: Tensor, scores: Tensor, count: int) -> Continuations:
    """[B * beams, padded vocabulary] and [B, beams] -> [B, 1, count] each. A block's tokens stand apart, one in each
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
    return Continuations(top[:, None], parents.gather(1, which)[:, None], tokens[:, None])


def _best_of_groups(
    log_probabilities: Tensor, scores: Tensor, count: int, groups: int, diversity: float
) -> Continuations:
    """[B * beams, vocabulary] and [B, beams] -> [B, groups, count] each. One group after the other: what earlier ones
    say at this step costs `diversity` a time. That decides what is chosen; the scores stay log-probabilities."""
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
    return Continuations(*(torch.stack(parts, dim=1) for parts in zip(*found, strict=True)))
