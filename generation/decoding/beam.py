"""Batched exact beam search with a cache, and diverse beam search (Vijayakumar et al. 2016) on top of it.

Of all continuations of a dialog's beams, the 2 x beams best by summed log-probability are looked at. Those among the
best `beams` that end are finished, with score sum / length ^ penalty; the best `beams` that do not end go on. A dialog
is done when it has `beams` finished replies and its best running one, at its present length, scores no better than
the worst of them. This is what Hugging Face's generate does with `early_stopping=False`; unlike there, a dialog that is
done leaves the batch.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from generation.decoding.projection import Continuations, Projection
from generation.decoding.repeating import repeating_tokens
from generation.decoding.settings import DIVERSE_BEAM, DecodingSettings
from generation.networks.reply_state import ReplyState
from generation.networks.tokenizing import BEGIN, END
from generation.networks.transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """A reply's tokens after <s>, its </s> included if it has one."""

    tokens: list[int]
    score: float  # log-probability / length ^ penalty

    @property
    def is_ended(self) -> bool:
        return self.tokens[-1:] == [END]


@torch.inference_mode()
def beam_search(
    network: Transformer, projection: Projection, state: ReplyState, settings: DecodingSettings
) -> list[list[Hypothesis]]:
    """Each dialog's finished replies, best first."""
    groups = settings.groups if settings.method == DIVERSE_BEAM else 1
    size = settings.beams // groups
    results = [[_Finished(size, settings.length_penalty) for _ in range(groups)] for _ in range(state.dialogs)]
    running = list(results)
    sequences = torch.full((state.dialogs, 1, 1), BEGIN, device=state.device)  # [B, beams, tokens]
    scores = torch.zeros(state.dialogs, 1, device=state.device)  # [B, beams]
    for length in range(1, settings.max_tokens + 1):
        hidden = network.read_tokens(sequences[:, :, -1], state)
        banned = repeating_tokens(sequences.flatten(0, 1), settings.no_repeat_ngram)
        best = projection.continue_beams(hidden, scores, banned, 2 * size, groups, settings.diversity)
        is_end = (best.tokens == END) | (length == settings.max_tokens)  # [B, groups, 2 * size]
        _finish(running, best, is_end, sequences, size)
        going_on = is_end.to(torch.uint8).argsort(dim=2, stable=True)[:, :, :size]
        scores, parents, tokens = (values.gather(2, going_on).flatten(1) for values in best)  # [B, beams]
        past = sequences.gather(1, parents[:, :, None].expand(-1, -1, length))
        sequences = torch.cat([past, tokens[:, :, None]], dim=2)
        state.choose_beams(parents)
        unfinished = _find_unfinished(running, scores[:, ::size].tolist(), length)
        if not unfinished:
            break
        if len(unfinished) < len(running):
            running = [running[dialog] for dialog in unfinished]
            kept = torch.tensor(unfinished, device=state.device)
            sequences, scores = sequences[kept], scores[kept]
            state.keep_dialogs(kept)
    return [_sorted(hypothesis for group in result for hypothesis in group.hypotheses) for result in results]


@dataclass
class _Finished:
    """The best replies of one group of beams so far."""

    size: int
    penalty: float
    hypotheses: list[Hypothesis] = field(default_factory=list)
    is_done: bool = False

    def add(self, tokens: list[int], log_probability: float) -> None:
        if self.is_done or log_probability == -math.inf:
            return
        hypothesis = Hypothesis(tokens, log_probability / len(tokens) ** self.penalty)
        self.hypotheses = _sorted([*self.hypotheses, hypothesis])[: self.size]

    def update(self, best_running: float, length: int) -> None:
        is_full = len(self.hypotheses) == self.size
        if is_full and best_running / length**self.penalty <= self.hypotheses[-1].score:
            self.is_done = True


def _finish(results: list[list[_Finished]], best: Continuations, is_end: Tensor, sequences: Tensor, size: int) -> None:
    """Only the best `size` count: the others are looked at so that enough are left to go on."""
    at = dialogs, groups, _ = is_end[:, :, :size].nonzero(as_tuple=True)
    said = torch.cat([sequences[dialogs, best.parents[at], 1:], best.tokens[at][:, None]], dim=1)
    for dialog, group, tokens, score in zip(
        dialogs.tolist(), groups.tolist(), said.tolist(), best.scores[at].tolist(), strict=True
    ):
        results[dialog][group].add(tokens, score)


def _find_unfinished(results: list[list[_Finished]], best_running: list[list[float]], length: int) -> list[int]:
    unfinished = []
    for dialog, (groups, scores) in enumerate(zip(results, best_running, strict=True)):
        for group, score in zip(groups, scores, strict=True):
            group.update(score, length)
        if not all(group.is_done for group in groups):
            unfinished.append(dialog)
    return unfinished


def _sorted(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda hypothesis: hypothesis.score, reverse=True)
