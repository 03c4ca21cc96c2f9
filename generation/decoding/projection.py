"""Score the next tokens fast: from a decoder's last states to log-probabilities and the best continuations.

    log P(token) = log_softmax(W state + b)

This takes most of decoding's time and memory, so it finds the k best of beams x vocabulary without sorting or copying
the scores. The vocabulary is cut into blocks. One pass finds the best token of each block, and the k blocks with the
best ones are chosen. The k best tokens are all in those blocks: a token outside of them is beaten by the best tokens of
k blocks. For example, with k = 1 and the blocks (3, 9) and (7, 8), only the first block has to be searched. The
vocabulary is padded with tokens that can't be chosen, so that all blocks have the same size.
"""

import torch
from torch import Tensor, nn

from generation.decoding.decoder import Continuations, best_of_groups
from generation.decoding.packing import PackedLinear, can_pack
from generation.decoding.repeating import Pairs

BLOCK = 32  # tokens
MOST_ROWS = 256  # beams that are scored at once; more would be no faster, and need more memory
MOST_PACKED_ROWS = 64  # fewer for a packed layer: it allocates its scores each time, and large pieces fragment memory


class Projection:
    """A network's output layer as decoding uses it. One serves all steps of all batches."""

    def __init__(self, output: nn.Linear | PackedLinear) -> None:
        self.vocabulary_size = output.out_features
        self._output = output
        self._padded_size = self.vocabulary_size + -self.vocabulary_size % BLOCK
        self._scores: Tensor | None = None

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Score all tokens: [rows, W] -> [rows, vocabulary]. The next call may overwrite the result."""
        return self._score(hidden)[:, : self.vocabulary_size]

    def continue_beams(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        """Return the best continuations. `hidden` [B, beams, W] are the beams' last states, `scores` [B, beams] their
        log-probabilities so far."""
        dialogs, beams, _ = hidden.shape
        most_rows = MOST_PACKED_ROWS if isinstance(self._output, PackedLinear) else MOST_ROWS
        step = max(1, most_rows // beams)
        found = []
        for first in range(0, dialogs, step):
            some = slice(first, first + step)
            banned_there = _select_banned(banned, some, beams)
            found.append(self._continue_some(hidden[some], scores[some], banned_there, count, groups, diversity))
        return Continuations(*(torch.cat(part) for part in zip(*found, strict=True)))

    def _continue_some(
        self, hidden: Tensor, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float
    ) -> Continuations:
        scored = self._score(hidden.flatten(0, 1))
        if banned is not None:
            scored[banned] = -torch.inf
        if groups == 1:
            return _best_by_blocks(scored, scores, count)
        return best_of_groups(scored[:, : self.vocabulary_size], scores, count, groups, diversity)

    def _score(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> log-probabilities [rows, padded vocabulary]. They are normalised in place, because allocating
        memory of this size takes as long as the arithmetic."""
        scores = self._multiply(hidden)
        return torch.log_softmax(scores, dim=1, out=scores)

    def _multiply(self, hidden: Tensor) -> Tensor:
        """[rows, W] -> logits [rows, padded vocabulary]. A plain layer writes into one buffer that serves all steps."""
        output = self._output
        if isinstance(output, PackedLinear):
            return output.padded(hidden)
        if self._scores is None or len(self._scores) < len(hidden):
            shape = len(hidden), self._padded_size
            self._scores = torch.full(shape, -torch.inf, dtype=torch.float32, device=hidden.device)
        scores = self._scores[: len(hidden)]
        if hidden.dtype == scores.dtype:
            torch.addmm(output.bias, hidden, output.weight.T, out=scores[:, : self.vocabulary_size])
        else:
            scores[:, : self.vocabulary_size] = output(hidden)
        return scores


class ProjectedNextTokens:
    """NextTokens of a decoder whose last states [B, beams, W] go through an output layer."""

    def __init__(self, projection: Projection, states: Tensor) -> None:
        self._projection, self._states = projection, states

    def log_probabilities(self) -> Tensor:
        return self._projection.log_probabilities(self._states.flatten(0, 1))

    def best(self, scores: Tensor, banned: Pairs | None, count: int, groups: int, diversity: float) -> Continuations:
        return self._projection.continue_beams(self._states, scores, banned, count, groups, diversity)


def pack_output(output: nn.Linear, weight: Tensor) -> nn.Linear | PackedLinear:
    """Return the layer in its fastest form, for a network that only answers from here on: packed on a CPU.

    `weight` is the layer's own weight, read from the file once more. The memory of the first reading can be freed only
    when no tensor of it is used any more.
    """
    return PackedLinear(weight, output.bias, multiple_of=BLOCK) if can_pack(output) else output


def _select_banned(banned: Pairs | None, dialogs: slice, beams: int) -> Pairs | None:
    """Return the banned pairs of these dialogs, with rows counted from the first of them."""
    if banned is None:
        return None
    rows, tokens = banned
    first, end = dialogs.start * beams, dialogs.stop * beams
    is_inside = (rows >= first) & (rows < end)
    return rows[is_inside] - first, tokens[is_inside]


def _best_by_blocks(log_probabilities: Tensor, scores: Tensor, count: int) -> Continuations:
    """Find the best continuations: [B * beams, padded vocabulary] and [B, beams] -> [B, 1, count] each.

    A block takes one token from each of BLOCK equal stretches of the vocabulary, so that all blocks' best tokens are
    found by comparing whole stretches of memory.
    """
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
