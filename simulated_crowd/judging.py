"""Decide how a simulated worker judges a card: a latent opinion, cut where the truth's shares say.

The model is that of hits.stats.simulated_studies:

    z = sqrt(a) D[dialog] + sqrt(b) R[dialog, writers] + sqrt(c) W[worker] + sqrt(t) T[worker, writers]
        + sqrt(1 - a - b - c - t) e[worker, dialog, writers]

z is standard normal, so the shares hold exactly, whatever the effects. If a worker does not look at a card, its level
is random.
"""

import math
from functools import cached_property, lru_cache
from statistics import NormalDist

from simulated_crowd.dice import happens, normal, uniform
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.people import SimulatedWorker
from simulated_crowd.truths import Truth

Writers = tuple[str, ...]


class Judge:
    """One worker's opinions, as levels of the protocol's scale; 0 is the best."""

    def __init__(self, worker: SimulatedWorker, truth: Truth, level_count: int) -> None:
        self.worker = worker
        self._truth = truth
        self._level_count = level_count

    def level(self, dialog: KnownDialog, writers: Writers) -> int:
        habits, card = self.worker.type, (dialog.dataset, dialog.external_id, *writers)
        if habits.has_favourite_level:
            return self._favourite
        if not happens(habits.attention, *self.worker.key, "looks at", *card):
            return int(uniform(*self.worker.key, "anywhere", *card) * self._level_count)
        opinion = self.opinion(dialog, writers)
        cuts = self._truth.cuts(dialog.dataset, writers, self._level_count)
        return sum(opinion <= _quantile(1 - cut) for cut in cuts)

    def opinion(self, dialog: KnownDialog, writers: Writers) -> float:
        effects, seed = self._truth.effects, self.worker.seed
        name = (dialog.dataset, dialog.external_id)
        return (
            math.sqrt(effects.dialog) * normal(seed, "dialog", *name)
            + math.sqrt(effects.reply) * normal(seed, "reply", *name, *writers)
            + math.sqrt(effects.worker) * self._severity
            + (math.sqrt(effects.taste) * self._taste(writers) if effects.taste else 0)
            + math.sqrt(effects.rest) * normal(*self.worker.key, "rating", *name, *writers)
        )

    def _taste(self, writers: Writers) -> float:
        return normal(*self.worker.key, "taste", *writers)

    @cached_property
    def _severity(self) -> float:
        return normal(*self.worker.key, "severity")

    @cached_property
    def _favourite(self) -> int:
        return int(uniform(*self.worker.key, "favourite") * self._level_count)


@lru_cache(maxsize=10_000)
def _quantile(share: float) -> float:
    if share < 1e-12:
        return -math.inf
    return NormalDist().inv_cdf(share) if share < 1 - 1e-12 else math.inf
