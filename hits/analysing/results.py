"""Everything that a study's ratings say, as plain numbers, names and intervals."""

from dataclasses import dataclass

from hits.stats.agreement import Agreement
from hits.stats.bradley_terry import Ranking
from hits.stats.comparing import Comparisons
from hits.stats.dependence import Dependence
from hits.stats.estimates import Undefined
from hits.stats.metrics import MetricCorrelation
from hits.stats.proportions import Row
from hits.stats.reply_labels import Labels
from hits.stats.true_values import TrueValues
from hits.stats.worker_effect import WorkerEffect


@dataclass(frozen=True)
class Size:
    """`ratings` of generators' replies, `human_ratings` of human ones."""

    ratings: int
    human_ratings: int
    answers: int
    dialogs: int
    workers: int


@dataclass(frozen=True)
class Variant:
    """The results with other rules of screening: all of them, none, all but one. `rules` are those that were
    applied."""

    name: str
    rules: tuple[str, ...]
    size: Size
    table: tuple[Row, ...]
    agreement: Agreement
    ranking: Ranking


@dataclass(frozen=True)
class Results:
    """`table` is the paper's table 5, by dataset and generator. Where a list goes over datasets, it begins with all of
    them together (dataset None) if there are several. `calibration` has the human replies and, for comparison, the
    generators in the same dialogs; it is empty where no human reply was rated. `labels` is the paper's figure 5."""

    size: Size
    datasets: tuple[str, ...]
    generators: tuple[str, ...]
    values: tuple[str, ...]  # the best first
    table: tuple[Row, ...]
    comparisons: tuple[Comparisons, ...]
    rankings: tuple[Ranking, ...]
    agreement: tuple[Agreement, ...]
    true_values: TrueValues | Undefined
    dependences: tuple[Dependence, ...]
    worker_effect: WorkerEffect
    labels: tuple[Labels, ...]
    metrics: tuple[MetricCorrelation, ...]
    calibration: tuple[Row, ...]
    variants: tuple[Variant, ...]
    seed: int
