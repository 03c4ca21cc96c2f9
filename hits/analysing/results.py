"""Defines the results: everything that a study's ratings say, as plain numbers, names and intervals."""

import math
from dataclasses import dataclass, field, replace

from hits.analysing.origin_words import Origin
from hits.analysing.study_progress import Progress
from hits.stats import (
    Agreement,
    Comparisons,
    CriteriaCorrelation,
    Dependence,
    Labels,
    LevelDifference,
    MetricCorrelation,
    PairVotes,
    Ranking,
    SelfAgreement,
    SequenceFinding,
    ShareRow,
    Slices,
    TrueValues,
    Undefined,
    WorkerEffect,
)

MOST_DIALOGS = 100_000  # that a page calls within reach
BEYOND_REACH = f"it would take more than {MOST_DIALOGS:,} dialogs"
NOT_YET = "the study is not complete, or its confidence sequences decide"
ALL_RULES_ONLY = "it is computed under all screening rules only"


@dataclass(frozen=True)
class Size:
    """How much the results rest on. `ratings` are those of generators' replies, `human_ratings` those of human ones."""

    ratings: int
    human_ratings: int
    answers: int
    dialogs: int
    workers: int


@dataclass(frozen=True)
class Variant:
    """The results under other screening rules: all of them, none, or all but one. `rules` are those that apply. Each
    variant has shares, comparisons, a ranking and an agreement of its own."""

    name: str
    rules: tuple[str, ...]
    size: Size
    table: tuple[ShareRow, ...]
    agreement: Agreement
    ranking: Ranking
    comparisons: tuple[Comparisons, ...]
    planned_table: tuple[ShareRow, ...] = ()  # as in CriterionResults


@dataclass(frozen=True)
class Separation:
    """What it would take to tell two generators apart that can't be told apart yet: about how many dialogs in all, by
    the planner, if `better` really is better by the `difference` of the outcome that was seen. `cost_cents` is what the
    dialogs beyond the present ones (`dialogs_now`) cost at most. It is undefined, with the reason, where the planner
    can't say."""

    dataset: str | None
    better: str
    other: str
    difference: float
    dialogs_now: int
    dialogs: int | Undefined
    cost_cents: int | Undefined
    currency: str = ""


@dataclass(frozen=True)
class CriterionResults:
    """What the ratings say about one criterion. `table` is the paper's table 5, by dataset and generator. A list that
    goes over datasets begins with all of them together (dataset None) if there are several. `calibration` has the human
    replies and, beside them, the generators in the same dialogs; it is empty if no human reply was rated. `labels` is
    the paper's figure 5. `is_comparison` says that workers compared two replies: then wins, ties and losses are
    counted, and whatever needs a score is undefined or left out."""

    criterion: str
    is_comparison: bool
    size: Size
    datasets: tuple[str, ...]
    generators: tuple[str, ...]
    values: tuple[str, ...]  # the best first
    table: tuple[ShareRow, ...]
    comparisons: tuple[Comparisons, ...]
    rankings: tuple[Ranking, ...]
    agreement: tuple[Agreement, ...]
    true_values: TrueValues | Undefined
    dependences: tuple[Dependence, ...]
    worker_effect: WorkerEffect
    labels: tuple[Labels, ...]
    metrics: tuple[MetricCorrelation, ...]
    calibration: tuple[ShareRow, ...]
    variants: tuple[Variant, ...]
    sequences: tuple[SequenceFinding, ...] = ()  # one for each primary pair
    slices: tuple[Slices, ...] = ()  # by emotion, number of turns and dataset
    separations: tuple[Separation, ...] = ()  # of the hardest and the easiest primary pair that is not told apart
    label: str = ""  # the criterion's name as people read it; empty if `criterion` says it all
    is_by_mean: bool = False  # the values are points with equal distances: tables show means first
    is_nominal: bool = False  # the values are labels without an order: nothing is better than anything
    # Where more was rated than planned, tests and rankings are about the planned dialogs alone: these are their table,
    # and how many dialogs are left out of it.
    planned_table: tuple[ShareRow, ...] = ()
    further_dialogs: int = 0
    # Where several offerings are put together: each model in each of them, and how they differ. None of it is planned.
    by_offering: tuple[Slices, ...] = ()
    offering_differences: tuple[LevelDifference, ...] = ()
    votes: tuple[PairVotes, ...] = ()  # where replies were compared: wins, losses and ties of each pair
    halo: tuple[CriteriaCorrelation, ...] = ()  # how ratings go together with those on each other criterion
    self_agreement: SelfAgreement | None = None  # where dialogs came twice
    is_variant: bool = False  # other screening rules than the current ones: there are no confidence sequences

    @property
    def tested_table(self) -> tuple[ShareRow, ...]:
        """The shares of what was tested, which is the table unless more was rated than planned."""
        return self.planned_table or self.table

    @property
    def title(self) -> str:
        return self.label or self.criterion

    @property
    def are_raters_known(self) -> bool:
        """False where raters are not identified (hits.elsewhere.unidentified): then nobody counts them."""
        return self.size.workers > 0

    def leading(self, dataset: str | None) -> set[str]:
        """Return the generator that is best by the planned outcome, and those that can't be told apart from it. It is
        empty where not all pairs were compared."""
        letters = self.letters(dataset)
        best = next(iter(letters.values()), "")
        return {name for name, some in letters.items() if set(some) & set(best)}

    def letters(self, dataset: str | None) -> dict[str, str]:
        """Return the letters of each generator; those that share a letter can't be told apart."""
        tables = [table for table in self.comparisons if table.dataset == dataset]
        return {one.generator: one.letters for table in tables for one in table.letters}

    def under(self, variant: Variant) -> "CriterionResults":
        """Return the results under other rules. What variants do not have is left out: numbers that were computed under
        other rules must not stand beside these."""
        nothing = Undefined(ALL_RULES_ONLY)
        return replace(
            self,
            size=variant.size,
            table=variant.table,
            planned_table=variant.planned_table,
            comparisons=variant.comparisons,
            rankings=(variant.ranking,),
            agreement=(variant.agreement,),
            true_values=nothing,
            dependences=(),
            worker_effect=WorkerEffect(nothing, nothing, nothing),
            labels=(),
            metrics=(),
            calibration=(),
            sequences=(),
            slices=(),
            separations=(),
            by_offering=(),
            offering_differences=(),
            votes=(),
            halo=(),
            self_agreement=None,
            is_variant=True,
        )


@dataclass(frozen=True)
class OfferingPart:
    """What one offering brought to a result of several: all its assignments that have ratings, by origin, and what
    screening keeps of them. `ratings` are those of models' replies, on all criteria."""

    offering: str  # the name of its marketplace
    origin: Origin
    assignments: int
    kept_assignments: int
    workers: int
    dialogs: int
    ratings: int


@dataclass(frozen=True)
class Results:
    """The results of each criterion that workers were asked about, in the study's order. `offerings` is empty unless
    several are put together."""

    criteria: tuple[CriterionResults, ...]
    seed: int
    origin: Origin = field(default_factory=Origin)
    progress: Progress = field(default_factory=Progress)
    offerings: tuple[OfferingPart, ...] = ()

    @property
    def main(self) -> CriterionResults:
        """The criterion that the study names first, which a summary quotes."""
        return self.criteria[0]

    def under(self, variant_name: str) -> "Results":
        """Return the results as they would be under other screening rules, which are the same for all criteria."""
        variants = [next(one for one in part.variants if one.name == variant_name) for part in self.criteria]
        pairs = zip(self.criteria, variants, strict=True)
        return replace(self, criteria=tuple(part.under(variant) for part, variant in pairs))


def rounded(number: int) -> int:
    """Keep two digits, rounding up: the rest would pretend to be known.

    >>> rounded(2960), rounded(19300), rounded(87)
    (3000, 20000, 87)
    """
    unit = int(10 ** max(0, len(str(number)) - 2))
    return math.ceil(number / unit) * unit
