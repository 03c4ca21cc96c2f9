"""Defines what the statistics return, as plain numbers, names and reasons, and when two generators are different.

It stands apart from the code that computes it, because pages read results from JSON, and web processes have no pandas.
`dataset` is None if a finding is about all datasets together, and `generator` if it is about all generators.
"""

from dataclasses import dataclass

from hits.stats.estimates import ALPHA, Estimate, Interval, Undefined


@dataclass(frozen=True)
class Share:
    value: str
    count: int
    share: float
    standard_error: float | Undefined
    interval: Interval | Undefined


@dataclass(frozen=True)
class ShareRow:
    """A line of table 5. `generator` is None for the human reply, `dataset` for all of them together."""

    dataset: str | None
    generator: str | None
    ratings: int
    dialogs: int
    workers: int
    shares: tuple[Share, ...] | Undefined
    mean_score: Estimate | Undefined


@dataclass(frozen=True)
class PairedTest:
    p_value: float
    corrected_p_value: float

    @property
    def tells_apart(self) -> bool:
        return self.corrected_p_value <= ALPHA


@dataclass(frozen=True)
class Comparison:
    """Two generators, rated by the same workers in the same dialogs. `difference` and `superiority` are the first
    generator's over the second. The corrected permutation test decides whether they are different; the signed-rank
    test stands beside it."""

    first: str
    second: str
    answers: int  # how many answers rate both
    first_higher: int
    alike: int
    second_higher: int
    difference: Estimate | Undefined
    superiority: Estimate | Undefined
    permutation: PairedTest | Undefined
    signed_rank: PairedTest | Undefined

    @property
    def is_different(self) -> bool:
        return isinstance(self.permutation, PairedTest) and self.permutation.tells_apart

    @property
    def better(self) -> str | None:
        """The generator that is rated higher, if the two are different."""
        if not self.is_different:
            return None
        # Comparisons have no difference of scores.
        found, none = (self.superiority, 0.5) if isinstance(self.difference, Undefined) else (self.difference, 0.0)
        if isinstance(found, Undefined):
            return None
        return self.first if found.value > none else self.second


@dataclass(frozen=True)
class Lettered:
    generator: str
    mean_score: float | Undefined
    letters: str


@dataclass(frozen=True)
class Comparisons:
    """All pairs in a dataset. `letters` come best first; generators that share a letter can't be told apart."""

    dataset: str | None
    comparisons: tuple[Comparison, ...]
    letters: tuple[Lettered, ...]


@dataclass(frozen=True)
class Ranked:
    """A generator in the ranking. `share_of_strength` is w divided by the sum of all w."""

    rank: int
    generator: str
    strength: Estimate
    share_of_strength: float


@dataclass(frozen=True)
class Ranking:
    """`dataset` is None for all of them together. `tie_weight` is v: 0 without ties, 1 where two equals tie in a third
    of their comparisons."""

    dataset: str | None
    comparisons: int
    ranked: tuple[Ranked, ...] | Undefined
    tie_weight: float | Undefined


@dataclass(frozen=True)
class Agreement:
    """`dataset` and `generator` are None for all of them together; `replies` and `ratings` are those rated twice or
    more."""

    dataset: str | None
    generator: str | None
    replies: int
    ratings: int
    alpha_nominal: Estimate | Undefined
    alpha_ordinal: Estimate | Undefined
    alpha_interval: Estimate | Undefined
    fleiss_kappa: Estimate | Undefined
    raw: Estimate | Undefined


@dataclass(frozen=True)
class TrueShares:
    """The shares of a generator's replies by their true value, in the order of the values, the best first."""

    dataset: str
    generator: str
    replies: int
    dawid_skene: tuple[float, ...]
    majority: tuple[float, ...]
    mean_score: float


@dataclass(frozen=True)
class Reliability:
    """A worker's chance of saying the true value, by Dawid and Skene's model."""

    worker: str
    ratings: int
    reliability: float


@dataclass(frozen=True)
class TrueValues:
    shares: tuple[TrueShares, ...]
    workers: tuple[Reliability, ...]
    steps: int
    is_converged: bool


@dataclass(frozen=True)
class Level:
    level: str
    ratings: int
    effect: Estimate


@dataclass(frozen=True)
class Dependence:
    """How ratings depend on one factor: it has either levels, or a `slope` for each `unit` of a number. The other one
    is undefined."""

    factor: str
    levels: tuple[Level, ...] | Undefined
    slope: Estimate | Undefined
    unit: str
    p_value: float | Undefined
    corrected_p_value: float | Undefined


@dataclass(frozen=True)
class WorkerEffect:
    """How much workers differ. `share` is their share of the scores' variance, given the dataset and generator."""

    deviation: Estimate | Undefined
    share: float | Undefined
    p_value: float | Undefined


@dataclass(frozen=True)
class LabelShare:
    label: str
    count: int
    share: float
    interval: Interval | Undefined


@dataclass(frozen=True)
class Labels:
    """`generator` is None for all of them together. Labels come by falling share; those that do not occur are left
    out."""

    generator: str | None
    value: str
    ratings: int
    labels: tuple[LabelShare, ...] | Undefined


@dataclass(frozen=True)
class GeneratorMeans:
    generator: str
    replies: int
    mean_score: float
    mean_metric: float


@dataclass(frozen=True)
class MetricCorrelation:
    metric: str
    replies: int
    pearson: Estimate | Undefined
    spearman: Estimate | Undefined
    generators: tuple[GeneratorMeans, ...]
    of_generators: Estimate | Undefined
