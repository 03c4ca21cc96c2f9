"""Adds a study's progress and its confidence sequences to results, and takes out fixed-sample verdicts of interim ones.

In: `Results` with every test, the study's progress and its plan. Out: results whose primary pairs have a
`SequenceFinding`. Guaranteed: interim results hold no p-value, letter or fixed-sample interval of a difference or of a
strength, so that no page, table, figure or file can show one. The same holds for
studies that may stop by themselves, to the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hits.analysing.results import NOT_YET, CriterionResults, Results
from hits.analysing.study_progress import Progress
from hits.stats import (
    ALPHA,
    Comparison,
    Comparisons,
    Estimate,
    Interval,
    PairVotes,
    Plan,
    Ranking,
    SequenceFinding,
    Tally,
    Undefined,
    carry_on,
    sequence_finding,
    too_early,
)

FIELD_OF_OUTCOME = {"share of best": "best_difference", "mean score": "score_difference"}


WholePart = Mapping[str, tuple[Comparisons, ...]]  # by the criterion's name

NO_WHOLE_HIT = "no HIT has all its assignments yet"


def with_progress(
    results: Results, progress: Progress, plan: Plan, equal_within: float = 0.0, whole: WholePart | None = None
) -> Results:
    """`whole` has the comparisons in whole HITs, which sequences rest on; without it, they rest on all ratings."""
    found = [
        replace(
            one,
            sequences=sequences_of(one, plan, equal_within, None if whole is None else whole.get(one.criterion, ())),
        )
        for one in results.criteria
    ]
    if progress.looked:  # what the study's rule has found is about the main criterion
        found[0] = replace(found[0], sequences=carry_on(progress.looked, found[0].sequences))
    if not progress.has_verdicts:
        found = [_without_verdicts(one, has_all=progress.whole_until is None) for one in found]
    return replace(results, criteria=tuple(found), progress=progress)


def sequences_of(
    found: CriterionResults,
    plan: Plan,
    equal_within: float = 0.0,
    whole: tuple[Comparisons, ...] | None = None,
) -> tuple[SequenceFinding, ...]:
    """Return a finding for each primary pair. They share alpha equally. `whole` has what they rest on; without it,
    all comparisons. A pair that it lacks has no sequence yet."""
    tau2 = plan.tau2_of(found.criterion)
    if not tau2:
        return ()
    primary = _primary_pairs(found.comparisons)
    seen = primary if whole is None else _primary_pairs(whole)
    return tuple(_finding(key, seen.get(key), tau2, ALPHA / len(primary), equal_within) for key in primary)


PairKey = tuple[str | None, str, str]  # the dataset, None for all of them, and the two generators


def _primary_pairs(tables: Sequence[Comparisons]) -> dict[PairKey, tuple[Comparison, float]]:
    """Return the pairs, each with the largest difference that there can be."""
    return {
        (table.dataset, pair.first, pair.second): (pair, table.most)
        for table in tables
        for pair in table.comparisons
        if pair.is_primary
    }


def _finding(
    key: PairKey, seen: tuple[Comparison, float] | None, tau2: float, alpha: float, equal_within: float
) -> SequenceFinding:
    dataset, *names = key
    if seen is None:
        return sequence_finding((names[0], names[1]), Undefined(NO_WHOLE_HIT), tau2, alpha, dataset=dataset)
    pair, most = seen
    return sequence_finding(
        (names[0], names[1]),
        pair.difference,
        tau2,
        alpha,
        dataset=dataset,
        equal_within=equal_within,
        problem=too_early(pair.size.dialogs, pair.size.effective_workers),
        dialogs=pair.size.dialogs,
        most=most,
    )


# --- What interim results do not say ---------------------------------------------------------------------------------


def _without_verdicts(found: CriterionResults, has_all: bool) -> CriterionResults:
    """`has_all` says that sequences rest on the same ratings as the estimates, so that they are intervals of these."""
    nothing = Undefined(NOT_YET)
    sequences = found.sequences if has_all else ()
    return replace(
        found,
        comparisons=tuple(_without_tests(table, sequences) for table in found.comparisons),
        dependences=tuple(
            replace(one, p_value=nothing, corrected_p_value=nothing, is_floor=False) for one in found.dependences
        ),
        worker_effect=replace(found.worker_effect, p_value=nothing, is_floor=False),
        offering_differences=tuple(
            one
            if isinstance(one.difference, Undefined)
            else replace(one, difference=replace(one.difference, interval=nothing))
            for one in found.offering_differences
        ),
        rankings=tuple(_without_intervals(one) for one in found.rankings),
        votes=tuple(_without_sign_test(one) for one in found.votes),
        variants=tuple(
            replace(
                one,
                ranking=_without_intervals(one.ranking),
                comparisons=tuple(_without_tests(table, ()) for table in one.comparisons),
            )
            for one in found.variants
        ),
    )


def _without_sign_test(one: PairVotes) -> PairVotes:
    nothing = Undefined(NOT_YET)

    def hidden(tally: Tally) -> Tally:
        return replace(tally, net=replace(tally.net, interval=nothing), net_error=nothing)

    verdicts = one.verdicts if isinstance(one.verdicts, Undefined) else hidden(one.verdicts)
    return replace(one, votes=hidden(one.votes), verdicts=verdicts, sign_p=nothing)


def _without_intervals(ranking: Ranking) -> Ranking:
    """Keep the order. Of two models, a strength is half their difference, so that its interval would be a verdict."""
    if isinstance(ranking.ranked, Undefined):
        return ranking
    nothing = Undefined(NOT_YET)
    ranked = tuple(replace(one, strength=replace(one.strength, interval=nothing)) for one in ranking.ranked)
    return replace(ranking, ranked=ranked)


def _without_tests(table: Comparisons, sequences: Sequence[SequenceFinding]) -> Comparisons:
    intervals = {(one.first, one.second): _interval(one) for one in sequences if one.dataset == table.dataset}
    pairs = tuple(_without_test(pair, table.outcome, intervals) for pair in table.comparisons)
    letters = tuple(replace(one, letters="") for one in table.letters)
    # Warnings are about tests. What a sequence lacks, it says itself.
    return replace(table, comparisons=pairs, letters=letters, warnings=())


def _interval(finding: SequenceFinding) -> Interval | Undefined:
    if isinstance(finding.low, Undefined):
        return finding.low
    return finding.high if isinstance(finding.high, Undefined) else Interval(finding.low, finding.high)


def _without_test(pair: Comparison, outcome: str, intervals: dict[tuple[str, str], Interval | Undefined]) -> Comparison:
    """Keep what was estimated. Only the planned outcome has an interval, which is the confidence sequence."""
    nothing = Undefined(NOT_YET)
    sequence = intervals.get((pair.first, pair.second), nothing)

    def shown(estimate: Estimate | Undefined, interval: Interval | Undefined) -> Estimate | Undefined:
        return estimate if isinstance(estimate, Undefined) else Estimate(estimate.value, interval)

    of_outcome = FIELD_OF_OUTCOME.get(outcome)
    return replace(
        pair,
        difference=shown(pair.difference, sequence),
        best_difference=shown(pair.best_difference, sequence if of_outcome == "best_difference" else nothing),
        score_difference=shown(pair.score_difference, sequence if of_outcome == "score_difference" else nothing),
        superiority=shown(pair.superiority, nothing),
        test=pair.test if isinstance(pair.test, Undefined) else nothing,
    )
