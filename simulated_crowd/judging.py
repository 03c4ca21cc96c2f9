"""Decide how a simulated worker judges a card: a latent opinion, cut where the truth's shares say.

The model is that of hits.stats.simulated_studies:

    z = sqrt(a) D[dialog] + sqrt(b) R[dialog, writers] + sqrt(c) W[worker] + sqrt(t) T[worker, writers]
        + sqrt(1 - a - b - c - t) e[worker, dialog, writers]

z is standard normal, so the shares hold exactly, whatever the effects. If a worker does not look at a card, its level
is random.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from statistics import NormalDist, fmean

from simulated_crowd.dice import happens, normal, uniform
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.people import SimulatedWorker
from simulated_crowd.truths import Truth, cuts_of

Writers = tuple[str, ...]


class Judge:
    """One worker's opinions, as levels of the protocol's scale; 0 is the best."""

    def __init__(self, worker: SimulatedWorker, truth: Truth, level_count: int) -> None:
        self.worker = worker
        self._truth = truth
        self._level_count = level_count

    def levels_on(
        self, dialog: KnownDialog, cards: Sequence[Writers], level_counts: Mapping[str, int]
    ) -> dict[str, list[int]]:
        """Return the level of each card on each criterion, whose numbers of levels are given, the main one first. A
        criterion that the truth does not name has the shares of all ratings; if it is not the main one, the worker's
        chance on it is its own, since criteria would otherwise be one in disguise."""
        if (of_pair := self._levels_of_pair(dialog, cards)) is not None:
            return dict.fromkeys(level_counts, of_pair)
        main = next(iter(level_counts))
        return {
            name: [_scaled(self.level(dialog, card), self._level_count, count) for card in cards]
            if name == main and name not in self._truth.criteria
            else [self._level_on(dialog, card, name, count) for card in cards]
            for name, count in level_counts.items()
        }

    def leads(self, dialog: KnownDialog, cards: Sequence[Writers]) -> list[float]:
        """Return opinions that can be compared, the higher the better, for a protocol whose answers put the cards in
        order. How much better a writer is in general lies in the truth's cuts."""
        if self.worker.type.has_favourite_level:
            return [-float(place) for place in range(len(cards))]  # always in the order of the page
        return [self._lead(dialog, card) for card in cards]

    def _lead(self, dialog: KnownDialog, writers: Writers) -> float:
        card = (dialog.dataset, dialog.external_id, *writers, *dialog.showing)
        if not happens(self.worker.type.attention, *self.worker.key, "looks at", *card):
            return normal(*self.worker.key, "anywhere", *card)
        cuts = self._truth.cuts(dialog.dataset, writers, len(self._truth.default))
        return self.opinion(dialog, writers) - fmean(_quantile(1 - cut) for cut in cuts)

    def _levels_of_pair(self, dialog: KnownDialog, cards: Sequence[Writers]) -> list[int] | None:
        """Return levels of which the lower one is better, if the truth is about this pair of models."""
        names = sorted(card[0] for card in cards if len(card) == 1)
        shares = self._truth.shares_of_pair(*names) if len(names) == len(cards) == 2 else None
        if shares is None:
            return None
        if self.worker.type.has_favourite_level:
            return [0, 1]
        pair = (names[0], "or", names[1])
        looks_at = (*self.worker.key, "looks at", dialog.dataset, dialog.external_id, *pair, *dialog.showing)
        if happens(self.worker.type.attention, *looks_at):
            opinion = self.opinion(dialog, pair)
            said = sum(opinion <= _quantile(1 - cut) for cut in cuts_of(shares, self._level_count))
        else:
            anywhere = uniform(*self.worker.key, "anywhere", dialog.external_id, *pair, *dialog.showing)
            said = int(anywhere * self._level_count)
        is_worse = {names[0]: 2 * said > self._level_count - 1, names[1]: 2 * said < self._level_count - 1}
        return [int(is_worse[card[0]]) for card in cards]

    def level(self, dialog: KnownDialog, writers: Writers) -> int:
        return self._level_on(dialog, writers, "", self._level_count)

    def _level_on(self, dialog: KnownDialog, writers: Writers, criterion: str, level_count: int) -> int:
        of_criterion = (criterion,) if criterion else ()
        habits, card = self.worker.type, (dialog.dataset, dialog.external_id, *writers, *dialog.showing)
        if habits.has_favourite_level:
            return _scaled(self._favourite, self._level_count, level_count)
        if not happens(habits.attention, *self.worker.key, "looks at", *card, *of_criterion):
            return int(uniform(*self.worker.key, "anywhere", *card, *of_criterion) * level_count)
        opinion = self.opinion(dialog, writers, *of_criterion)
        cuts = self._truth.cuts(dialog.dataset, writers, level_count, criterion)
        return sum(opinion <= _quantile(1 - cut) for cut in cuts)

    def opinion(self, dialog: KnownDialog, writers: Writers, *criterion: str) -> float:
        """Return the latent opinion. Of several criteria, each has its own chance and all else in common: the halo. So
        does a dialog that comes again: what is left to chance is drawn anew, and makes all the difference."""
        effects, seed = self._truth.effects, self.worker.seed
        name = (dialog.dataset, dialog.external_id)
        return (
            math.sqrt(effects.dialog) * normal(seed, "dialog", *name)
            + math.sqrt(effects.reply) * normal(seed, "reply", *name, *writers)
            + math.sqrt(effects.worker) * self._severity
            + (math.sqrt(effects.taste) * self._taste(writers) if effects.taste else 0)
            + math.sqrt(effects.rest) * normal(*self.worker.key, "rating", *name, *writers, *criterion, *dialog.showing)
        )

    def _taste(self, writers: Writers) -> float:
        return normal(*self.worker.key, "taste", *writers)

    @cached_property
    def _severity(self) -> float:
        return normal(*self.worker.key, "severity")

    @cached_property
    def _favourite(self) -> int:
        return int(uniform(*self.worker.key, "favourite") * self._level_count)


def _scaled(level: int, of: int, to: int) -> int:
    return level if of == to else round(level * (to - 1) / (of - 1))


@lru_cache(maxsize=10_000)
def _quantile(share: float) -> float:
    if share < 1e-12:
        return -math.inf
    return NormalDist().inv_cdf(share) if share < 1 - 1e-12 else math.inf
