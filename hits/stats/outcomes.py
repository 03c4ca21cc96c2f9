"""Defines what the statistics return, as plain numbers, names and reasons, and when two generators are different.

It stands apart from the code that computes it, because pages read results from JSON, and web processes have no pandas.
`dataset` is None if a finding is about all datasets together, and `generator` if it is about all generators.
"""

from dataclasses import dataclass
from typing import Literal

from hits.stats.estimates import ALPHA, Estimate, Interval, Undefined

NOT_COMPUTED = Undefined("it was not computed")


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
    mean_error: float | Undefined = NOT_COMPUTED  # the mean score's standard error
    win_rate: Estimate | Undefined = NOT_COMPUTED  # where replies were compared; ties count half
    # The mean score's error as papers print it, as if all ratings were independent: s / sqrt(n).
    published_error: float | Undefined = NOT_COMPUTED


@dataclass(frozen=True)
class PairTest:
    """The test that decides about a pair. `method` is PERMUTATION, TWO_WAY_T, or LARGER_OF_BOTH where workers are few.
    `is_floor` says that no draw was as extreme, so that the p-value is smaller than can be said: it is written with
    "<"."""

    method: str
    p_value: float
    corrected_p_value: float
    is_floor: bool = False

    @property
    def tells_apart(self) -> bool:
        return self.corrected_p_value <= ALPHA


PERMUTATION, TWO_WAY_T, LARGER_OF_BOTH = "permutation", "two-way t", "larger of permutation and two-way t"
Kind = Literal["paired", "unpaired", "not compared"]
Verdict = Literal["different", "not told apart", "not compared"]


@dataclass(frozen=True)
class PairSize:
    """What a comparison rests on: its dialogs and its workers, who count by what they did (hits.stats.too_few). Of two
    generators that are compared by different raters, these are the numbers of the one that has less. `side_by_side`
    counts the dialogs in which somebody rated both, `rated` those in which either was rated."""

    dialogs: int = 0
    effective_workers: float = 0.0
    side_by_side: int = 0
    rated: int = 0


@dataclass(frozen=True)
class Comparison:
    """Two generators: "paired" if they are compared within the same workers and dialogs, "unpaired" if by all ratings
    of each, which different raters gave (hits.stats.pair_sizes chooses), "not compared" if no test is possible; `test`
    then says why. All differences and the superiority are the first generator's over the second.

    `difference` is of the planned outcome, and it is what `test` is about; `best_difference` is of the share of the
    best value, `score_difference` of the mean score. Intervals are not corrected for the number of comparisons.
    `is_primary` says that the pair belongs to the planned family; all others are exploratory."""

    first: str
    second: str
    kind: Kind
    is_primary: bool
    answers: int  # how many answers rate both
    first_higher: int
    alike: int
    second_higher: int
    difference: Estimate | Undefined
    best_difference: Estimate | Undefined
    score_difference: Estimate | Undefined
    superiority: Estimate | Undefined
    test: PairTest | Undefined
    size: PairSize = PairSize()

    @property
    def verdict(self) -> Verdict:
        """What may be said of the pair. What could not be tested is never "not told apart"."""
        if isinstance(self.test, Undefined):
            return "not compared"
        return "different" if self.test.tells_apart else "not told apart"

    @property
    def is_different(self) -> bool:
        return self.verdict == "different"

    @property
    def better(self) -> str | None:
        """The generator that is rated higher, if the two are different."""
        if not self.is_different or isinstance(self.difference, Undefined):
            return None
        return self.first if self.difference.value > 0 else self.second


@dataclass(frozen=True)
class Lettered:
    generator: str
    mean_score: float | Undefined
    letters: str


@dataclass(frozen=True)
class Comparisons:
    """All pairs in a dataset. `letters` come best first; generators that share a letter can't be told apart. There are
    letters only where all pairs of rated generators were tested. `outcome` is what the differences are of,
    `effective_workers` how many equally busy workers the ratings are worth, and `warnings` are sentences about what
    these comparisons can't say. `most` is the largest difference of the outcome that there can be."""

    dataset: str | None
    comparisons: tuple[Comparison, ...]
    letters: tuple[Lettered, ...]
    outcome: str
    effective_workers: float
    warnings: tuple[str, ...]
    most: float = 1.0


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
    more. `majorities` counts the replies of which more than half of the ratings say the same."""

    dataset: str | None
    generator: str | None
    replies: int
    ratings: int
    alpha_nominal: Estimate | Undefined
    alpha_ordinal: Estimate | Undefined
    alpha_interval: Estimate | Undefined
    fleiss_kappa: Estimate | Undefined
    raw: Estimate | Undefined
    majorities: int | Undefined = NOT_COMPUTED


@dataclass(frozen=True)
class SelfAgreement:
    """How far workers agree with themselves. `pairs` counts answers that were asked for twice."""

    pairs: int
    workers: int
    alike: Estimate | Undefined
    kappa: Estimate | Undefined


@dataclass(frozen=True)
class TrueShares:
    """The shares of a generator's replies by their true value, in the order of the values, the best first."""

    dataset: str
    generator: str
    replies: int
    dawid_skene: tuple[float, ...]
    majority: tuple[float, ...]
    mean_score: float | Undefined


@dataclass(frozen=True)
class Reliability:
    """A worker's chance of saying the true value, by Dawid and Skene's model."""

    worker: str
    ratings: int
    reliability: float


@dataclass(frozen=True)
class TrueValues:
    """If `is_converged` is False, the shares might still change with more `steps`."""

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
    """How ratings depend on one factor. `levels` are the effects of its levels, if they are few, and `slope` is for
    each `unit` of a factor that has an order. The p-value is the slope's if there is one, otherwise that of all
    levels."""

    factor: str
    levels: tuple[Level, ...] | Undefined
    slope: Estimate | Undefined
    unit: str
    p_value: float | Undefined
    corrected_p_value: float | Undefined
    is_floor: bool = False  # no turn was as extreme, so that the p-value is smaller than can be said


@dataclass(frozen=True)
class WorkerEffect:
    """How much workers differ. `share` is their share of the scores' variance, given the dataset and generator.
    `is_floor` says that no turn was as extreme, so that the p-value is smaller than can be said."""

    deviation: Estimate | Undefined
    share: float | Undefined
    p_value: float | Undefined
    is_floor: bool = False


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


@dataclass(frozen=True)
class Slice:
    """A generator's ratings in one slice of the dialogs. `share` is that of the best value."""

    level: str
    generator: str
    ratings: int
    dialogs: int
    workers: int
    share: Estimate | Undefined
    mean_score: Estimate | Undefined


@dataclass(frozen=True)
class Slices:
    """All slices `by` one property of the dialogs: emotion, turns or dataset. `omitted` levels have fewer ratings than
    those that are shown."""

    by: str
    rows: tuple[Slice, ...]
    omitted: int = 0


@dataclass(frozen=True)
class LevelDifference:
    """How much higher a generator was rated at the `first` level than at the `second`, on the dialogs that were rated
    at both: the share of the best value, or the mean score of points. Its interval is not corrected."""

    generator: str
    first: str
    second: str
    dialogs: int
    difference: Estimate | Undefined
