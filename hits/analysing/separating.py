"""Says what it would take to tell apart what can't be told apart yet: in dialogs and in money.

In: results with their verdicts, and what further dialogs of this study cost. Out: the same results with `Separation`s
for the primary pairs that matter most. Guaranteed: it computes from the shares that were seen and from the plan of the
frozen design, always the same; what the planner can't simulate or can't reach is undefined, with the reason.

Where a fixed-sample test decides, the planner says it. Where confidence sequences decide (until a study is complete,
and in one that may stop by itself), the sequence says it: it is computed for more dialogs, with the variance that was
seen, which shrinks as dialogs and their raters are added:

    the least n with    |difference| >= half(V' now / n, tau2, alpha) + 0.84 sqrt(V' now / n)

so that it is decided with a chance of 80 %. A pair without a sequence yet has no number either.

Both assume that the difference that was seen is the true one. Where a pair is not told apart, the true one may well
be smaller, so these numbers are a rough guide, and pages say "about".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hits.analysing.results import BEYOND_REACH, MOST_DIALOGS, CriterionResults, Results, Separation, rounded
from hits.stats import (
    ALPHA,
    Comparison,
    Comparisons,
    Plan,
    SequenceFinding,
    Setting,
    Undefined,
    approximate_dialogs_needed,
    half_width,
)

SMALLEST_SHARE = 0.005  # the planner needs some of each value
NO_DIFFERENCE = "no difference is seen"
IN_ORDER = "the planner does not cover answers that put replies in order"
NORMAL_80 = 0.8416  # quantile: the sequence decides with a chance of 80 %
HALVINGS = 60
NO_PLAN = Plan()


@dataclass(frozen=True)
class Pricing:
    """How a study asks for more: what follows from its frozen design. `hit_cents` is what a set of dialogs costs at
    most, with all its raters, bonuses and fees. `pair_share` is the share of the study's dialogs that show a given pair
    of models, each in one of its `showings`; `score_ranges` are the distances between the ends of the criteria's
    scales."""

    raters: int
    generators: int
    dialogs_per_hit: int
    most_hits: int
    family: int
    hit_cents: int
    currency: str
    is_by_sequence: bool = False
    pair_share: float = 1.0
    showings: int = 1
    score_ranges: Mapping[str, float] = field(default_factory=dict)
    puts_in_order: bool = False


def with_separations(results: Results, pricing: Pricing | None, plan: Plan = NO_PLAN) -> Results:
    """Add the separations. Without a pricing, as for ratings that were made elsewhere, there are none; nor for several
    offerings together, since a study grows in one of them."""
    if pricing is None or results.offerings:
        return results
    made = [
        replace(one, separations=tuple(_separations(one, results, pricing, plan.tau2_of(one.criterion))))
        for one in results.criteria
    ]
    return replace(results, criteria=tuple(made))


def _separations(found: CriterionResults, results: Results, pricing: Pricing, tau2: float) -> list[Separation]:
    made = []
    for table in found.comparisons:
        sequences = {} if results.progress.has_verdicts else _open_sequences(table, found)
        pairs = [
            pair
            for pair in table.comparisons
            if pair.is_primary
            and not isinstance(pair.difference, Undefined)
            and (pair.verdict == "not told apart" if results.progress.has_verdicts else _key(pair) in sequences)
        ]
        for pair in _hardest_and_easiest(pairs, table):
            made.append(_separate(pair, table, found, pricing, sequences.get(_key(pair)), tau2))
    return made


def _open_sequences(table: Comparisons, found: CriterionResults) -> dict[frozenset[str], SequenceFinding]:
    """Return the confidence sequences that there are and that have not decided."""
    return {
        _key(one): one
        for one in found.sequences
        if one.dataset == table.dataset and not one.decided and not isinstance(one.low, Undefined)
    }


def _key(pair: Comparison | SequenceFinding) -> frozenset[str]:
    return frozenset((pair.first, pair.second))


def _hardest_and_easiest(pairs: Sequence[Comparison], table: Comparisons) -> list[Comparison]:
    """Choose the pairs with the smallest and the largest difference, among those of the leading model if there are
    any: a reader asks about the leader first, and each pair takes a quarter of a second."""
    leader = table.letters[0].generator if table.letters else ""
    of_leader = [pair for pair in pairs if leader in (pair.first, pair.second)]
    by_size = sorted(of_leader or pairs, key=_size)
    return by_size if len(by_size) < 2 else [by_size[0], by_size[-1]]


def _size(pair: Comparison) -> float:
    return 0.0 if isinstance(pair.difference, Undefined) else abs(pair.difference.value)


def _separate(
    pair: Comparison,
    table: Comparisons,
    found: CriterionResults,
    pricing: Pricing,
    sequence: SequenceFinding | None,
    tau2: float,
) -> Separation:
    first_leads = not isinstance(pair.difference, Undefined) and pair.difference.value >= 0
    better, other = (pair.first, pair.second) if first_leads else (pair.second, pair.first)
    rows = [row for row in found.tested_table if row.dataset == table.dataset]
    now = max((row.dialogs for row in rows if row.generator in (better, other)), default=0)
    if sequence is not None:  # it rests on whole HITs, which may be fewer
        now = sequence.dialogs or now
    if found.is_comparison:
        now = round((sequence.dialogs if sequence is not None else pair.size.dialogs) / pricing.pair_share)
    if sequence is None:
        dialogs = _dialogs_needed(pair, other, table, found, pricing)
    else:
        dialogs = dialogs_until_decided(sequence, now, tau2, ALPHA / len(found.sequences))
    cost: int | Undefined = Undefined("the number of dialogs is not known")
    if not isinstance(dialogs, Undefined):
        cost = math.ceil(max(0, dialogs - now) * pricing.showings / pricing.dialogs_per_hit) * pricing.hit_cents
    return Separation(table.dataset, better, other, _size(pair), now, dialogs, cost, pricing.currency)


def dialogs_until_decided(sequence: SequenceFinding, now: int, tau2: float, alpha: float) -> int | Undefined:
    """Return how many dialogs it takes in all until the sequence excludes 0, with a chance of 80 %."""
    if isinstance(sequence.estimate, Undefined) or not sequence.estimate:
        return Undefined(NO_DIFFERENCE)
    if isinstance(sequence.low, Undefined) or isinstance(sequence.high, Undefined):
        return sequence.low if isinstance(sequence.low, Undefined) else Undefined(NO_DIFFERENCE)
    difference = abs(sequence.estimate)
    # Cut off at what is possible, a sequence has its half on the other side.
    half = max(sequence.high - sequence.estimate, sequence.estimate - sequence.low)

    def variance_where(is_small_enough: Callable[[float], bool]) -> float:
        low, high = -40.0, 10.0  # logarithms of variances
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if is_small_enough(math.exp(middle)) else (low, middle)
        return math.exp(low)

    seen = variance_where(lambda variance: half_width(variance, tau2, alpha) <= half)
    wanted = variance_where(
        lambda variance: half_width(variance, tau2, alpha) + NORMAL_80 * math.sqrt(variance) <= difference
    )
    dialogs = math.ceil(now * seen / wanted)
    return Undefined(BEYOND_REACH) if dialogs > MOST_DIALOGS else rounded(dialogs)


def _dialogs_needed(
    pair: Comparison, weaker: str, table: Comparisons, found: CriterionResults, pricing: Pricing
) -> int | Undefined:
    if not _size(pair):
        return Undefined(NO_DIFFERENCE)
    if pricing.puts_in_order:  # one reply loses what another gains, and the planner draws each by itself
        return Undefined(IN_ORDER)
    shares = _tied_shares(pair) if found.is_comparison else _shares_of(weaker, table, found)
    if isinstance(shares, Undefined):
        return shares
    setting = Setting(
        dialogs=2,
        raters=pricing.raters,
        generators=max(2, pricing.generators),
        proportions=shares,
        dialogs_per_hit=pricing.dialogs_per_hit,
        most_hits=pricing.most_hits,
        family=pricing.family,
        outcome=table.outcome,
        score_range=pricing.score_ranges.get(found.criterion, len(shares) - 1),
        is_by_sequence=pricing.is_by_sequence,
        is_comparison=found.is_comparison,
        line_ups=pricing.showings / pricing.pair_share,
    )
    dialogs = approximate_dialogs_needed(setting, _size(pair), most=MOST_DIALOGS)
    if dialogs is None or dialogs / pricing.pair_share > MOST_DIALOGS:
        return Undefined(BEYOND_REACH)
    return rounded(round(dialogs / pricing.pair_share))


def _shares_of(weaker: str, table: Comparisons, found: CriterionResults) -> tuple[float, ...] | Undefined:
    """Return the shares of all values that the weaker model had, as the planner needs them."""
    rows = [row for row in found.tested_table if (row.dataset, row.generator) == (table.dataset, weaker)]
    shares = rows[0].shares if rows else ()
    if isinstance(shares, Undefined) or not shares:
        return Undefined("there are no shares to plan with")
    return _raised([one.share for one in shares])


def _tied_shares(pair: Comparison) -> tuple[float, ...]:
    """Return the shares of wins, ties and losses of two equals who tie as often as this pair."""
    ties = pair.alike / pair.answers
    return _raised([(1 - ties) / 2, ties, (1 - ties) / 2] if ties else [0.5, 0.5])


def _raised(shares: Sequence[float]) -> tuple[float, ...]:
    raised = [max(share, SMALLEST_SHARE) for share in shares]
    return tuple(share / sum(raised) for share in raised)
