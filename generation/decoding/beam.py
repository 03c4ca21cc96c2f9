"""Beam search for the most probable replies of a batch, and diverse beam search (Vijayakumar et al. 2016) on top of it.

    score(reply) = sum of log P(token | context, tokens before) / length ^ penalty

At each step, we look at the 2 x beams best continuations of a dialog's beams, by summed log-probability. Those among
the best `beams` that end are finished and get their score; the best `beams` that do not end go on. A dialog is done
when it has `beams` finished replies, and its best running one, at its present length, scores no better than the worst
of them. Hugging Face's generate does the same with `early_stopping=False`; unlike there, a dialog that is done leaves
the batch.

Example with penalty 1: "Sad ." with log-probability -2.0 and 2 tokens scores -1.0, and "So sad ." with -2.4 and 3
tokens scores -0.8. The longer one wins, though it is less probable.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from generation.decoding.decoder import Continuations, Decoder
from generation.decoding.decoding_settings import DIVERSE_BEAM, DecodingSettings
from generation.decoding.repeating import repeating_tokens


@dataclass(frozen=True)
class Hypothesis:
    """A reply. Its tokens don't include the first one, which all replies share, but include the end token if it
    ends."""

    tokens: list[int]
    score: float  # log-probability / length ^ penalty
    is_ended: bool


@torch.inference_mode()
def beam_search(decoder: Decoder, settings: DecodingSettings) -> list[list[Hypothesis]]:
    """Return each dialog's finished replies, best first."""
    groups = settings.groups if settings.method == DIVERSE_BEAM else 1
    size = settings.beams // groups
    results = [[_Finished(size, settings.length_penalty) for _ in range(groups)] for _ in range(decoder.dialogs)]
    running = list(results)
    sequences = torch.full((decoder.dialogs, 1, 1), decoder.first_token, device=decoder.device)  # [B, beams, tokens]
    scores = torch.zeros(decoder.dialogs, 1, device=decoder.device)  # [B, beams]
    for length in range(1, settings.max_tokens + 1):
        next_tokens = decoder.step(sequences[:, :, -1])
        banned = repeating_tokens(sequences.flatten(0, 1), settings.no_repeat_ngram)
        best = next_tokens.best(scores, banned, 2 * size, groups, settings.diversity)
        is_end = best.tokens == decoder.end_token  # [B, groups, 2 * size]
        is_over = is_end | (length == settings.max_tokens)
        _add_finished(running, best, is_end, is_over, sequences, size)
        going_on = is_over.to(torch.uint8).argsort(dim=2, stable=True)[:, :, :size]
        scores, parents, tokens = (values.gather(2, going_on).flatten(1) for values in best)  # [B, beams]
        past = sequences.gather(1, parents[:, :, None].expand(-1, -1, length))
        sequences = torch.cat([past, tokens[:, :, None]], dim=2)
        decoder.keep_beams(parents)
        unfinished = _find_unfinished(running, scores[:, ::size].tolist(), length)
        if not unfinished:
            break
        if len(unfinished) < len(running):
            running = [running[dialog] for dialog in unfinished]
            kept = torch.tensor(unfinished, device=decoder.device)
            sequences, scores = sequences[kept], scores[kept]
            decoder.keep_dialogs(kept)
    return [_sort_by_score(hypothesis for group in result for hypothesis in group.hypotheses) for result in results]


@dataclass
class _Finished:
    """The best replies of one group of beams so far."""

    size: int
    penalty: float
    hypotheses: list[Hypothesis] = field(default_factory=list)
    is_done: bool = False

    def add(self, tokens: list[int], log_probability: float, is_ended: bool) -> None:
        if self.is_done or log_probability == -math.inf:
            return
        hypothesis = Hypothesis(tokens, log_probability / len(tokens) ** self.penalty, is_ended)
        self.hypotheses = _sort_by_score([*self.hypotheses, hypothesis])[: self.size]

    def update(self, best_running: float, length: int) -> None:
        is_full = len(self.hypotheses) == self.size
        if is_full and best_running / length**self.penalty <= self.hypotheses[-1].score:
            self.is_done = True


def _add_finished(
    results: list[list[_Finished]], best: Continuations, is_end: Tensor, is_over: Tensor, sequences: Tensor, size: int
) -> None:
    """Add the replies that end now to the finished ones. Only the best `size` continuations may do so; the others were
    looked at so that enough are left to go on."""
    at = dialogs, groups, _ = is_over[:, :, :size].nonzero(as_tuple=True)
    said = torch.cat([sequences[dialogs, best.parents[at], 1:], best.tokens[at][:, None]], dim=1)
    for dialog, group, tokens, score, is_ended in zip(
        *(part.tolist() for part in (dialogs, groups, said, best.scores[at], is_end[at])), strict=True
    ):
        results[dialog][group].add(tokens, score, is_ended)


def _find_unfinished(results: list[list[_Finished]], best_running: list[list[float]], length: int) -> list[int]:
    unfinished = []
    for dialog, (groups, scores) in enumerate(zip(results, best_running, strict=True)):
        for group, score in zip(groups, scores, strict=True):
            group.update(score, length)
        if not all(group.is_done for group in groups):
            unfinished.append(dialog)
    return unfinished


def _sort_by_score(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda hypothesis: hypothesis.score, reverse=True)
