"""Choose a Hugging Face model's tokens so that a reply depends on its own seed, never on the rest of the batch."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from generation.decoding.noise import noise_of, only_nucleus, only_top_k, with_noise

if TYPE_CHECKING:
    from torch import Tensor


class PickTokens:
    """A step of Hugging Face's `generate` that turns its greedy choice into a draw, each row with its own seed.

    At temperature 0, nothing is drawn. The log-probabilities of the chosen tokens, before temperature and cut-offs, are
    remembered for the replies' scores.
    """

    def __init__(self, seeds: Sequence[int], temperature: float, top_k: int, top_p: float) -> None:
        self._noise = noise_of(seeds)
        self._temperature, self._top_k, self._top_p = temperature, top_k, top_p
        self._chosen: list[Tensor] = []  # per step: (batch,) log-probabilities

    def __call__(
        self, input_ids: "Tensor", logits: "Tensor"
    ) -> "Tensor":  # (batch, tokens so far), (batch, vocabulary)
        logits = logits.float()
        drawn = self._draw(logits) if self._temperature else logits
        best = drawn.argmax(-1, keepdim=True)
        self._chosen.append(logits.log_softmax(-1).gather(-1, best)[:, 0])
        return drawn

    def mean_scores(self, rows: Sequence[Sequence[int]], ends: Sequence[int]) -> list[float]:
        """Return the mean log-probability of each reply's tokens, its end included."""
        chosen = torch.stack(self._chosen).T.tolist()
        lengths = [next((at + 1 for at, id in enumerate(row) if id in ends), len(row)) for row in rows]
        return [sum(steps[:length]) / length for steps, length in zip(chosen, lengths, strict=True)]

    def _draw(self, logits: "Tensor") -> "Tensor":
        logits = logits / self._temperature
        if self._top_k:
            logits = only_top_k(logits, self._top_k)
        if self._top_p < 1:
            logits = only_nucleus(logits, self._top_p)
        return with_noise(logits, self._noise)


class WithinReply:
    """A step of `generate` that sees only the reply: not its context, and not the padding, which depends on the
    batch."""

    def __init__(self, step: Callable[["Tensor", "Tensor"], "Tensor"], start: int) -> None:
        self._step, self._start = step, start

    def __call__(self, input_ids: "Tensor", logits: "Tensor") -> "Tensor":
        return self._step(input_ids[:, self._start :], logits)
