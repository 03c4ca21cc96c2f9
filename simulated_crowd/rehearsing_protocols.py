"""Rehearse a design many times without a database: how clearly would its way of asking tell the models apart?

In: a design, a truth, how many workers and studies, a seed. Out: what such a study sees on average
(hits.analysing.SeenBy). Guaranteed: the same seed gives the same answer; answers go through the study's own protocol,
as a page would send them; nothing is stored.

Opinions follow simulated_crowd.judging. Who rates replies one by one cuts each opinion where the truth says. Who
compares two replies does not cut them first: the better one is chosen, or neither if the two opinions are closer than
`TIED` of two equally good replies would be; where the truth is about the pair, the difference of the two is cut where
it says. Nor does who puts several in order. Careless workers are not rehearsed.

`draw_ratings` makes the ratings frame of one such study, with all criteria, the human reply and fourth votes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from hits.analysing import Effort, SeenBy, price_of_assignment, seen_in
from hits.designing import size_of_batches
from hits.frames import build_ratings, categories_from_codes
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import Criterion, Judgement, Protocol, protocol_of
from hits.stats import Plan, code_ratings, compare_generators, draw_strengths, family_of, mean_signal
from simulated_crowd.simulating import size_for
from simulated_crowd.truths import HUMAN, Truth

TIED = 1 / 3  # of two equally good replies; the papers' tables of comparisons have about a third of ties


@dataclass(frozen=True)
class _Item:
    dialog: int
    dataset: str
    number: int  # Protocol.line_up
    is_checkpoint: bool


def rehearse(name: str, design: StudyDesign, truth: Truth, studies: int, workers: int, seed: int = 1) -> SeenBy:
    """Return what a study of this design sees: the mean over simulated studies."""
    seen = [_rehearse_once(name, design, truth, workers, seed * 1_000_003 + number) for number in range(studies)]
    pairs = {pair: mean_signal([one.signals[pair] for one in seen]) for pair in seen[0].signals}
    ranked = [one for one in seen if not one.no_ranking]
    draws = np.array([list(one.strengths.values()) for one in ranked]) if ranked else seen[0].draws
    strengths = dict(zip(ranked[0].strengths, draws.mean(axis=0).tolist(), strict=True)) if ranked else {}
    first = seen[0]
    return SeenBy(
        name,
        first.protocol,
        first.outcome,
        first.dialogs,
        first.effort,
        pairs,
        strengths,
        draws,
        "" if ranked else first.no_ranking,
        simulated=studies,
    )


def usual_workers(design: StudyDesign) -> int:
    """Return how many workers would come to a study of this size."""
    return size_for(design, size_of_batches(design, _dialogs(design)).assignment_count)


def _rehearse_once(name: str, design: StudyDesign, truth: Truth, workers: int, seed: int) -> SeenBy:
    main = protocol_of(design).criteria[0]
    drawn = draw_ratings(design, truth, workers, seed)
    frame = drawn[((drawn["criterion"] == main.name) & ~drawn["is_fourth_vote"]).to_numpy()]
    ratings = code_ratings(frame, main.measured).by_generators
    analysis = design.analysis
    plan = Plan(
        analysis.outcome,
        family_of(analysis.compare, design.generators, analysis.reference, analysis.pairs),
        is_pooled=True,
    )
    table = compare_generators(ratings, plan=plan)[0]
    assignments = int(frame["submission"].nunique())
    effort = Effort(
        len(ratings),
        assignments * design.pay.expected_minutes,
        assignments * price_of_assignment(design),
        design.pay.currency,
    )
    return seen_in(design, name, table, draw_strengths(ratings), _dialogs(design), effort)


def _dialogs(design: StudyDesign) -> int:
    return sum(one.dialog_count for one in design.datasets)


def draw_ratings(design: StudyDesign, truth: Truth, workers: int, seed: int) -> pd.DataFrame:
    """Draw a study's ratings frame (hits.frames): what so many careful workers say, with all criteria, the human reply
    and, where the design asks for them, fourth votes (`is_fourth_vote`)."""
    protocol, rng = protocol_of(design), np.random.Generator(np.random.SFC64(seed))
    opinions = _Opinions(truth, design.generators, _dialogs(design), workers + 1, rng)
    raters, rows, submission = design.hits.assignments, list[tuple[Any, ...]](), 0
    for items in _hits(design, protocol):
        # Where all workers have rated everything, somebody else gives the fourth votes.
        people = [*rng.permutation(workers).tolist(), workers]
        answers = [[_answer(protocol, opinions, item, worker, rng) for item in items] for worker in people[:raters]]
        if protocol.verdict_rule == "fourth vote":
            of_items = zip(items, zip(*answers, strict=True), strict=True)
            fourth = people[raters]
            answers.append(
                [_answer(protocol, opinions, item, fourth, rng) if _all_differ(said) else [] for item, said in of_items]
            )
        for number, (worker, said) in enumerate(zip(people, answers, strict=False)):
            rows += [
                (submission, worker, at, item.dialog, item.dataset, number == raters, *_columns_of(one))
                for at, (item, judgements) in enumerate(zip(items, said, strict=True))
                for one in judgements
            ]
            submission += 1
    return _build_frame(design, protocol, rows, workers)


def _all_differ(said: Sequence[Sequence[Judgement]]) -> bool:
    """Return whether three people said three different things about the main question."""
    return len({answer[0].value for answer in said}) == len(said)


def _columns_of(one: Judgement) -> tuple[Any, ...]:
    missing = -1
    return (
        one.card,
        one.place,
        one.value,
        one.criterion,
        missing if one.candidate is None else one.candidate,
        missing if one.opponent is None else one.opponent,
    )


def _build_frame(
    design: StudyDesign, protocol: Protocol[Any], rows: Sequence[tuple[Any, ...]], workers: int
) -> pd.DataFrame:
    scores = {
        (one.name, value): score
        for one in protocol.criteria
        for value, score in zip(one.scale.values, one.scale.scores, strict=True)
    }
    values = list(dict.fromkeys(value for _, value in scores))  # of all criteria
    columns = list(zip(*rows, strict=True))
    submission, worker, position, dialog, dataset, is_fourth, card, place, said, criterion, writer, opponent = columns
    frame = build_ratings(
        {
            "submission": submission,
            "worker": categories_from_codes(worker, [f"W-{number}" for number in range(workers + 1)]),
            "dialog": dialog,
            "dataset": pd.Categorical(dataset, categories=[one.name for one in design.datasets]),
            "position": position,
            "card": card,
            "place": place,
            "value": [values.index(value) for value in said],
            "generator": categories_from_codes(writer, design.generators),
            "is_gold": np.array(writer) < 0,
            "opponent": categories_from_codes(opponent, design.generators),
            "criterion": pd.Categorical(criterion, categories=[one.name for one in protocol.criteria]),
            "score": [scores[key] for key in zip(criterion, said, strict=True)],
        },
        values,
    )
    return frame.assign(is_fourth_vote=np.array(is_fourth))


def _hits(design: StudyDesign, protocol: Protocol[Any]) -> Iterator[list[_Item]]:
    """Deal dialogs as batching does, as far as it matters here: whole HITs, each with its checkpoints, and the line-ups
    of a dialog in different HITs."""
    showings, size = protocol.showings, design.hits.dialogs_per_hit
    datasets = [one.name for one in design.datasets for _ in range(one.dialog_count)]
    cells = [(dialog, dialog * showings + showing) for showing in range(showings) for dialog in range(len(datasets))]
    for start in range(0, len(cells), size):
        yield [
            _Item(dialog, datasets[dialog], number, place < design.checkpoints.per_hit)
            for place, (dialog, number) in enumerate(cells[start : start + size])
        ]


class _Opinions:
    """The latent opinions of one simulated study."""

    def __init__(
        self, truth: Truth, names: Sequence[str], dialogs: int, workers: int, rng: np.random.Generator
    ) -> None:
        effects = truth.effects
        self.truth, self.names, self._rng, self._effects = truth, names, rng, effects
        # The human reply is the last writer.
        self._dialog = rng.standard_normal(dialogs) * math.sqrt(effects.dialog)
        self._reply = rng.standard_normal((dialogs, len(names) + 1)) * math.sqrt(effects.reply)
        self._worker = rng.standard_normal(workers) * math.sqrt(effects.worker)
        self._taste = rng.standard_normal((workers, len(names) + 1)) * math.sqrt(effects.taste)
        # The deviation of the difference of two equal writers.
        self.alike = math.sqrt(2 * (effects.reply + effects.taste + effects.rest))
        self.tied_below = self.alike * _quantile((1 + TIED) / 2)

    def of(self, item: _Item, worker: int, writers: Sequence[int]) -> list[float]:
        """Return the opinion of each writer's reply. All but chance is the same on each criterion: the halo."""
        shared = self._dialog[item.dialog] + self._worker[worker]
        rest = self._rng.standard_normal(len(writers)) * math.sqrt(self._effects.rest)
        return [
            float(shared + self._reply[item.dialog, writer] + self._taste[worker, writer] + chance)
            for writer, chance in zip(writers, rest, strict=True)
        ]

    def cuts(self, item: _Item, writer: int, level_count: int, criterion: str) -> list[float]:
        """Return below which opinion this writer's reply leaves each level."""
        cuts = self.truth.cuts(item.dataset, (self.name_of(writer),), level_count, criterion)
        return [_quantile(1 - cut) for cut in cuts]

    def name_of(self, writer: int) -> str:
        return self.names[writer] if writer < len(self.names) else HUMAN


@lru_cache(maxsize=10_000)
def _quantile(share: float) -> float:
    return NormalDist().inv_cdf(min(max(share, 1e-9), 1 - 1e-9))


def _answer(
    protocol: Protocol[Any], opinions: _Opinions, item: _Item, worker: int, rng: np.random.Generator
) -> list[Judgement]:
    """Return what follows from this worker's answer."""
    shown = protocol.line_up(item.number, item.is_checkpoint)
    writers = [opinions.names.index(name) for name in shown] + ([len(opinions.names)] if item.is_checkpoint else [])
    cards = [Card((writer,), False) if writer < len(opinions.names) else Card((), True) for writer in writers]
    order = rng.permutation(len(cards)).tolist()
    levels = {one.name: _levels(protocol, one, opinions, item, worker, writers) for one in protocol.criteria}
    sent = protocol.sent_on({name: [found[card] for card in order] for name, found in levels.items()})
    return list(protocol.judgements(protocol.read(sent, order), order, cards))


def _levels(
    protocol: Protocol[Any], criterion: Criterion, opinions: _Opinions, item: _Item, worker: int, writers: Sequence[int]
) -> list[int]:
    found = opinions.of(item, worker, writers)
    if criterion.is_comparison:
        return _compared(criterion, opinions, item, writers, found)
    if protocol.puts_in_order:
        return protocol.levels_in_order(_leads(criterion, opinions, item, writers, found))
    count = len(criterion.scale.values)
    return [
        sum(opinion <= border for border in opinions.cuts(item, writer, count, criterion.name))
        for writer, opinion in zip(writers, found, strict=True)
    ]


def _compared(
    criterion: Criterion, opinions: _Opinions, item: _Item, writers: Sequence[int], found: Sequence[float]
) -> list[int]:
    """Return levels of which the lower one is better, from opinions that are not cut."""
    if shares := opinions.truth.shares_of_pair(*map(opinions.name_of, writers)):
        win, _, loss = shares
        lead = (found[0] - found[1]) / opinions.alike
        return [int(lead <= _quantile(loss)), int(lead > _quantile(1 - win))]
    first, second = _leads(criterion, opinions, item, writers, found)
    if "tie" in criterion.scale.values and abs(first - second) < opinions.tied_below:
        return [0, 0]
    return [0, 1] if first > second else [1, 0]


def _leads(
    criterion: Criterion, opinions: _Opinions, item: _Item, writers: Sequence[int], found: Sequence[float]
) -> list[float]:
    """Return opinions that can be compared. How much better a writer is in general lies in the cuts, since opinions are
    about equally good replies."""
    levels = len(opinions.truth.default)
    return [
        opinion - float(np.mean(opinions.cuts(item, writer, levels, criterion.name)))
        for writer, opinion in zip(writers, found, strict=True)
    ]
