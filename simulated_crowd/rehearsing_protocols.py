"""Rehearse a design many times without a database: how clearly would its way of asking tell the models apart?

In: a design, a truth, how many workers and studies, a seed. Out: what such a study sees on average
(hits.analysing.SeenBy). Guaranteed: the same seed gives the same answer; answers go through the study's own protocol,
as a page would send them; nothing is stored.

Opinions follow simulated_crowd.judging. Who rates replies one by one cuts each opinion where the truth says. Who
compares two replies does not cut them first: the better one is chosen, or neither if the two opinions are closer than
`TIED` of two equally good replies would be. Nor does who puts several in order. Careless workers are not rehearsed.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from hits.analysing import Effort, SeenBy, price_of_assignment, seen_in
from hits.designing import size_of_batches
from hits.frames import build_ratings, categories_from_codes
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import Judgement, Protocol, protocol_of
from hits.stats import Plan, code_ratings, compare_generators, draw_strengths, family_of, mean_signal
from simulated_crowd.simulating import size_for
from simulated_crowd.truths import Truth

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
    protocol = protocol_of(design)
    main = protocol.criteria[0]
    frame = _draw(design, protocol, truth, workers, np.random.Generator(np.random.SFC64(seed)))
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


def _draw(
    design: StudyDesign, protocol: Protocol[Any], truth: Truth, workers: int, rng: np.random.Generator
) -> pd.DataFrame:
    names, scale = design.generators, protocol.criteria[0].scale
    opinions = _Opinions(truth, names, _dialogs(design), workers, rng)
    rows = []
    places = ((items, worker) for items in _hits(design, protocol) for worker in _crew(design, workers, rng))
    for number, (items, worker) in enumerate(places):
        for at, item in enumerate(items):
            rows += [
                (number, worker, at, item.dialog, item.dataset, *_columns_of(one, scale.values))
                for one in _answer(protocol, opinions, item, worker, rng)
            ]
    columns = list(zip(*rows, strict=True))
    submission, crew, position, dialog, dataset, card, place, value, generator, opponent = columns
    return build_ratings(
        {
            "submission": submission,
            "worker": categories_from_codes(crew, [f"W-{number}" for number in range(workers)]),
            "dialog": dialog,
            "dataset": pd.Categorical(dataset, categories=[one.name for one in design.datasets]),
            "position": position,
            "card": card,
            "place": place,
            "value": value,
            "generator": categories_from_codes(generator, names),
            "opponent": categories_from_codes(opponent, names),
            "score": np.array(scale.scores)[np.array(value)],
        },
        scale.values,
    )


def _crew(design: StudyDesign, workers: int, rng: np.random.Generator) -> list[int]:
    return [int(worker) for worker in rng.permutation(workers)[: design.hits.assignments]]


def _columns_of(one: Judgement, values: Sequence[str]) -> tuple[int, ...]:
    opponent = -1 if one.opponent is None else one.opponent
    return one.card, one.place, values.index(one.value), one.candidate or 0, opponent


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
        alike = math.sqrt(2 * (effects.reply + effects.taste + effects.rest))  # of the difference of two equal writers
        self.tied_below = alike * NormalDist().inv_cdf((1 + TIED) / 2)

    def of(self, item: _Item, worker: int, writers: Sequence[int]) -> list[float]:
        shared = self._dialog[item.dialog] + self._worker[worker]
        rest = self._rng.standard_normal(len(writers)) * math.sqrt(self._effects.rest)
        return [
            float(shared + self._reply[item.dialog, writer] + self._taste[worker, writer] + chance)
            for writer, chance in zip(writers, rest, strict=True)
        ]

    def cuts(self, item: _Item, writer: int, level_count: int) -> list[float]:
        """Return below which opinion this writer's reply leaves each level."""
        name = self.names[writer] if writer < len(self.names) else ""
        cuts = self.truth.cuts(item.dataset, (name,), level_count)
        return [NormalDist().inv_cdf(min(max(1 - cut, 1e-9), 1 - 1e-9)) for cut in cuts]


def _answer(
    protocol: Protocol[Any], opinions: _Opinions, item: _Item, worker: int, rng: np.random.Generator
) -> list[Judgement]:
    """Return what follows about the models from this worker's answer, on the main criterion."""
    shown = protocol.line_up(item.number, item.is_checkpoint)
    writers = [opinions.names.index(name) for name in shown] + ([len(opinions.names)] if item.is_checkpoint else [])
    cards = [Card((writer,), False) if writer < len(opinions.names) else Card((), True) for writer in writers]
    order = rng.permutation(len(cards)).tolist()
    found = opinions.of(item, worker, writers)
    main = protocol.criteria[0]
    if main.is_comparison:
        levels = _compared(protocol, opinions, item, writers, found)
    elif protocol.puts_in_order:
        levels = protocol.levels_in_order(_leads(opinions, item, writers, found))
    else:
        count = len(main.scale.values)
        levels = [
            sum(opinion <= border for border in opinions.cuts(item, writer, count))
            for writer, opinion in zip(writers, found, strict=True)
        ]
    value = protocol.read(protocol.sent_by([levels[card] for card in order]), order)
    judgements = protocol.judgements(value, order, cards)
    return [one for one in judgements if one.criterion == main.name and one.candidate is not None]


def _compared(
    protocol: Protocol[Any], opinions: _Opinions, item: _Item, writers: Sequence[int], found: Sequence[float]
) -> list[int]:
    """Return levels of which the lower one is better, from opinions that are not cut."""
    first, second = _leads(opinions, item, writers, found)
    lead = first - second
    has_ties = "tie" in protocol.criteria[0].scale.values
    if has_ties and abs(lead) < opinions.tied_below:
        return [0, 0]
    return [0, 1] if lead > 0 else [1, 0]


def _leads(opinions: _Opinions, item: _Item, writers: Sequence[int], found: Sequence[float]) -> list[float]:
    """Return opinions that can be compared. How much better a writer is in general lies in the cuts, since opinions are
    about equally good replies."""
    return [
        opinion - float(np.mean(opinions.cuts(item, writer, len(opinions.truth.default))))
        for writer, opinion in zip(writers, found, strict=True)
    ]
