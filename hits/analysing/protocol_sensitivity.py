"""Compares studies that asked about the same dialogs and models in different ways: which tells models apart sooner?

In: for each study, how clearly it saw each pair of models, rankings that its ratings leave possible, and what it took
in ratings, minutes and money (`SeenBy`). Out: what each would need to tell each pair apart, the ratios between them,
and how far their rankings agree. Guaranteed: nothing is written; what can't be said is undefined, with the reason.
hits.stats.sensitivity has the formulas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalplatform.errors import EvalPlatformError
from hits.analysing.analysis import by_criterion
from hits.analysing.origin_words import Origin, describe_origin
from hits.analysing.pooling import origin_of_scope
from hits.analysing.stored_results import progress_to_show
from hits.analysing.study_analysis import frame_to_analyse, plan_of, scales_of
from hits.analysing.study_progress import describe_progress
from hits.designing import cost_of, size_of_batches
from hits.models import Scope
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.screening import kept_mask
from hits.stats import (
    ALPHA,
    Comparisons,
    Estimate,
    Needed,
    Signal,
    Undefined,
    code_ratings,
    compare_generators,
    draw_strengths,
    needed_size,
    rank_agreement,
    ratio_of_needs,
    signal_of,
)

Pair = tuple[str, str]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """What a study took: ratings of its main criterion, workers' minutes on its dialogs, and cents at the design's
    prices, at most."""

    ratings: int
    minutes: float
    cents: float
    currency: str


@dataclass(frozen=True)
class SeenBy:
    """What one study says. `signals` are by pair, in the order of the design; `draws` are rankings that it leaves
    possible, a column for each of `generators`."""

    study: str
    protocol: str
    outcome: str
    dialogs: int
    effort: Effort
    signals: Mapping[Pair, Signal | Undefined]
    strengths: Mapping[str, float]
    draws: Floats
    no_ranking: str = ""
    warnings: tuple[str, ...] = ()
    simulated: int = 0  # how many simulated studies this is the mean of; 0 for a real one


@dataclass(frozen=True)
class PairNeeds:
    """What two models need to be told apart, study by study; and, from the second study on, the ratio of the minutes
    and of the money to those of the first study."""

    pair: Pair
    sizes: tuple[Needed | Undefined, ...]
    minutes: tuple[Needed | Undefined, ...]
    money: tuple[Needed | Undefined, ...]


@dataclass(frozen=True)
class RankAgreement:
    first: str
    second: str
    tau: Estimate | Undefined


@dataclass(frozen=True)
class ProtocolComparison:
    studies: tuple[SeenBy, ...]
    pairs: tuple[PairNeeds, ...]
    rankings: tuple[RankAgreement, ...]
    alpha: float


def seen_by(scope: Scope) -> SeenBy:
    """Analyse the main criterion of one study, as far as the current screening keeps its work."""
    study, design = scope.study, scope.study.parsed_design
    main = protocol_of(design).criteria[0]
    frame = next((part for name, part in by_criterion(frame_to_analyse(scope), scales_of(study)) if name == main.name))
    kept = frame[kept_mask(frame)]
    if not len(kept):
        raise EvalPlatformError(f"{study} has no ratings on the {scope.marketplace} marketplace; run sync_hits first.")
    ratings = code_ratings(kept, main.measured).by_generators
    answers = kept.drop_duplicates(["submission", "position"])
    submissions = int(kept["submission"].nunique())
    table = compare_generators(ratings, plan=plan_of(study))[0]
    origin: Origin = origin_of_scope(scope)
    warnings = [describe_origin(origin), describe_progress(progress_to_show(scope)), *table.warnings]
    return seen_in(
        design,
        str(study),
        table,
        draw_strengths(ratings),
        int(ratings.dialog_count),
        Effort(len(ratings), float(answers["active_ms"].sum()) / 60_000, *_price(design, submissions)),
        tuple(filter(None, warnings)),
    )


def seen_in(
    design: StudyDesign,
    name: str,
    table: Comparisons,
    ranked: tuple[dict[str, float], Floats] | Undefined,
    dialogs: int,
    effort: Effort,
    warnings: tuple[str, ...] = (),
) -> SeenBy:
    strengths, draws = ({}, np.zeros((1, 0))) if isinstance(ranked, Undefined) else ranked
    return SeenBy(
        name,
        protocol_of(design).name,
        table.outcome,
        dialogs,
        effort,
        {(one.first, one.second): signal_of(one) for one in table.comparisons},
        strengths,
        draws,
        ranked.reason if isinstance(ranked, Undefined) else "",
        warnings,
    )


def _price(design: StudyDesign, assignments: int) -> tuple[float, str]:
    return price_of_assignment(design) * assignments, design.pay.currency


def price_of_assignment(design: StudyDesign) -> float:
    """Return what an assignment costs at most, in cents: reward, whole bonus, and the crowd's fees."""
    one_hit = size_of_batches(design, design.hits.dialogs_per_hit)
    return cost_of(design, one_hit).total_cents / one_hit.assignment_count


def compare_protocols(studies: Sequence[SeenBy]) -> ProtocolComparison:
    """Compare studies that have at least two models in common. The level of a test is divided by the number of pairs,
    and the same for all studies."""
    common = [pair for pair in studies[0].signals if all(_signal(one, pair) is not None for one in studies[1:])]
    if not common:
        names = ", ".join(one.study for one in studies)
        raise EvalPlatformError(f"{names} have no two models in common: nothing can be compared.")
    alpha = ALPHA / len(common)
    rankings = [_agree(first, second) for first, second in combinations(studies, 2)]
    return ProtocolComparison(
        tuple(studies), tuple(_needs(pair, studies, alpha) for pair in common), tuple(rankings), alpha
    )


def _signal(study: SeenBy, pair: Pair) -> Signal | Undefined | None:
    """Return how clearly a study sees a pair, whose models it may have in the other order; None if it has not both."""
    if pair in study.signals:
        return study.signals[pair]
    turned = study.signals.get((pair[1], pair[0]))
    return Signal(-turned.value, turned.error) if isinstance(turned, Signal) else turned


def _needs(pair: Pair, studies: Sequence[SeenBy], alpha: float) -> PairNeeds:
    signals = [_signal(one, pair) or Undefined("not compared") for one in studies]
    sizes = tuple(needed_size(one, alpha) if isinstance(one, Signal) else one for one in signals)
    first, others = studies[0].effort, list(zip(signals[1:], studies[1:], strict=True))
    ratios = [_ratio(signal, signals[0]) for signal, _ in others]
    efforts = [study.effort for _, study in others]
    minutes = [_times(*both, first) for both in zip(ratios, efforts, strict=True)]
    money = [_times_money(*both, first) for both in zip(ratios, efforts, strict=True)]
    return PairNeeds(pair, sizes, tuple(minutes), tuple(money))


def _ratio(signal: Signal | Undefined, of_first: Signal | Undefined) -> Needed | Undefined:
    if isinstance(signal, Undefined):
        return signal
    return of_first if isinstance(of_first, Undefined) else ratio_of_needs(signal, of_first)


def _times(ratio: Needed | Undefined, effort: Effort, first: Effort) -> Needed | Undefined:
    if isinstance(ratio, Undefined):
        return ratio
    if not effort.minutes or not first.minutes:
        return Undefined("no time was measured")
    return ratio.times(effort.minutes / first.minutes)


def _times_money(ratio: Needed | Undefined, effort: Effort, first: Effort) -> Needed | Undefined:
    if isinstance(ratio, Undefined):
        return ratio
    if effort.currency != first.currency:
        return Undefined("they pay in different currencies")
    if not effort.cents or not first.cents:
        return Undefined("nothing is paid")
    return ratio.times(effort.cents / first.cents)


def _agree(first: SeenBy, second: SeenBy) -> RankAgreement:
    if problem := first.no_ranking or second.no_ranking:
        return RankAgreement(first.study, second.study, Undefined(problem))
    names = [name for name in first.strengths if name in second.strengths]
    values, draws = zip(*(_columns(one, names) for one in (first, second)), strict=True)
    # Draws of two studies are paired by chance; as many of each are needed.
    count = min(map(len, draws))
    return RankAgreement(first.study, second.study, rank_agreement(*values, *(some[:count] for some in draws)))


def _columns(study: SeenBy, names: Sequence[str]) -> tuple[Floats, Floats]:
    columns = {name: index for index, name in enumerate(study.strengths)}
    return np.array([study.strengths[name] for name in names]), study.draws[:, [columns[name] for name in names]]
