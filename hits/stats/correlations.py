"""Defines how two criteria go together. It stands apart from hits.stats.halo, because web processes have no pandas."""

from dataclasses import dataclass

from hits.stats.estimates import Estimate, Undefined


@dataclass(frozen=True)
class CriteriaCorrelation:
    """Pearson's correlation of a worker's ratings of the same reply on two criteria. `within` takes the models' means
    out first."""

    criterion: str
    other: str
    replies: int  # how often somebody rated a reply on both
    pearson: Estimate | Undefined
    within: Estimate | Undefined
