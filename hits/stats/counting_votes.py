"""Counts wins, losses and ties of each pair of generators, as papers print A/B tests: by votes and by verdicts.

An item is a dialog with two replies. Its verdict is what more than half of its votes say; where no answer has more than
half, such as one vote for each, there is none, and the item is counted as split. A design may ask for a fourth vote
instead: two of the first three votes decide, and where all three differ, the fourth does. Fourth votes count nowhere
else, since only items that were hard to decide have one. Of N verdicts, W wins and L losses,

    net = (W - L) / N        SE^2 = ((W + L) / N - net^2) / (N - 1)        interval net +- 1.96 SE

since verdicts are of different dialogs; shares have Wilson's intervals, and the exact sign test is on W + L. Votes of
one worker and of one dialog belong together, so votes in {1, 0, -1} have the two-way variance (hits.stats.clusters).
Verdicts amplify: votes of .4, .3, .3 become verdicts further apart, so the two are never mixed.

51 wins, 30 losses and 47 ties: net .1641, SE .0691, [.0287, .2994]; p .02565; points .5820; wins [.3178, .4850].
"""

import math
from collections.abc import Iterator

import numpy as np
import scipy.special

from hits.stats.clusters import NOTHING_VARIES, Clusters, interval_of, spread_of
from hits.stats.coded_ratings import CodedRatings, Codes, Floats, Mask
from hits.stats.estimates import NORMAL_QUANTILE, Estimate, Interval, Undefined
from hits.stats.intervals import wilson_interval
from hits.stats.share_intervals import share_interval
from hits.stats.vote_counts import PairVotes, Tally, VerdictRule

NO_VERDICT = "no item has a vote of more than half of its raters"
NO_MAJORITY = "no item has the same vote from two of its first three raters, or a fourth vote"
VOTES_ALONE = "by its design, this study counts votes and has no verdicts"
ONE_ITEM = "there is one item only"


def count_votes(
    ratings: CodedRatings, rule: VerdictRule = "majority", fourth: CodedRatings | None = None
) -> list[PairVotes]:
    """Return a line for each pair of generators, in all datasets together if there are several, then in each. Ratings
    of single replies have none.

    `fourth` are the fourth votes, with the same codes as `ratings`, which do not contain them.
    """
    if ratings.opponent is None:
        return []
    rows = ratings.by_generators
    later = (fourth or ratings.of(np.zeros(len(ratings), bool))).by_generators
    found = list(_pairs_of(rows, later, rule, None)) if len(rows.datasets) > 1 else []
    for code, name in enumerate(rows.datasets):
        found += _pairs_of(rows.in_dataset(code), later.in_dataset(code), rule, name)
    return found


def tally_verdicts(wins: int, losses: int, ties: int) -> Tally:
    """Tally items that are independent of each other; there must be at least one.

    >>> found = tally_verdicts(51, 30, 47)
    >>> round(found.net.value, 4), round(found.net_error, 4), round(found.points, 4)
    (0.1641, 0.0691, 0.582)
    """
    count = wins + losses + ties
    net = (wins - losses) / count
    error = math.sqrt(max(0.0, ((wins + losses) / count - net**2) / (count - 1))) if count > 1 else 0.0
    problem = Undefined(ONE_ITEM if count == 1 else NOTHING_VARIES)
    half = NORMAL_QUANTILE * error
    return Tally(
        wins,
        losses,
        ties,
        *_by_wilson(wins, losses, ties),
        net=Estimate(net, Interval(max(-1.0, net - half), min(1.0, net + half)) if error else problem),
        net_error=error or problem,
        points=(wins + ties / 2) / count,
    )


def _by_wilson(wins: int, losses: int, ties: int) -> tuple[Estimate, Estimate, Estimate]:
    count = wins + losses + ties

    def share(number: int) -> Estimate:
        return Estimate(number / count, Interval(*wilson_interval(number / count, count)))

    return share(wins), share(losses), share(ties)


def sign_test(wins: int, losses: int) -> float | Undefined:
    """Return the exact two-sided p-value that wins and losses are equally likely; ties say nothing.

    >>> round(sign_test(51, 30), 5), sign_test(3, 3)
    (0.02565, 1.0)
    """
    if not wins + losses:
        return Undefined("there are ties only")
    return min(1.0, 2 * float(scipy.special.bdtr(min(wins, losses), wins + losses, 0.5)))


def _pairs_of(rows: CodedRatings, fourth: CodedRatings, rule: VerdictRule, dataset: str | None) -> Iterator[PairVotes]:
    if rows.opponent is None:
        return
    count = len(rows.generators)
    pair = rows.generator.astype(np.int64) * count + rows.opponent
    for code in np.unique(pair):
        first, second = divmod(int(code), count)
        yield _pair_of(rows.of(pair == code), fourth, rule, dataset, rows.generators[first], rows.generators[second])


def _pair_of(
    rows: CodedRatings, fourth: CodedRatings, rule: VerdictRule, dataset: str | None, first: str, second: str
) -> PairVotes:
    sign = np.sign(rows.score)
    replies, items = np.unique(rows.reply, return_inverse=True)
    by_answer = _count_answers(items, sign, len(replies))
    votes = by_answer.sum(axis=0)
    differing = np.zeros(len(replies), bool)
    if rule == "all votes":
        decided, nothing = np.zeros(by_answer.shape, bool), VOTES_ALONE
    elif rule == "majority":
        decided, nothing = by_answer > votes / 2, NO_VERDICT
    else:
        decided, differing = decide_by_four(items, sign, *_votes_on(replies, fourth), len(replies))
        nothing = NO_MAJORITY
    wins, losses, ties = (int(one) for one in decided.sum(axis=1))
    has_verdict = wins + losses + ties > 0
    return PairVotes(
        dataset,
        first,
        second,
        votes=_tally_votes(rows, sign),
        verdicts=tally_verdicts(wins, losses, ties) if has_verdict else Undefined(nothing),
        split=0 if rule == "all votes" else len(votes) - wins - losses - ties,
        unanimous=int((by_answer.max(axis=0) == votes).sum()),
        sign_p=sign_test(wins, losses) if has_verdict else Undefined(nothing),
        differing=int(differing.sum()),
        rule=rule,
    )


def decide_by_four(items: Codes, sign: Floats, later: Codes, later_sign: Floats, count: int) -> tuple[Mask, Mask]:
    """Return which of win, loss and tie each item's verdict is, and which items' first three votes all differ.

    `items` has the item of each vote, in the order in which they came in; `later` are fourth votes that were asked for.
    An item with more than three votes without being asked for one (late work, several offerings) has its fourth.

    >>> votes = np.array([1.0, -1.0, 0.0, 1.0, -1.0, 1.0])
    >>> decided, differing = decide_by_four(np.array([0, 0, 0, 1, 1, 1]), votes, np.array([0]), np.array([0.0]), 2)
    >>> decided.T.astype(int).tolist(), differing.tolist()
    ([[0, 0, 1], [1, 0, 0]], [True, False])
    """
    items, sign = np.concatenate([items, later]), np.concatenate([sign, later_sign])
    order = np.argsort(items, kind="stable")
    items, sign = items[order], sign[order]
    rank = np.arange(len(items)) - np.searchsorted(items, items)
    first_three = _count_answers(items[rank < 3], sign[rank < 3], count)
    is_fourth = rank == 3
    fourth = _count_answers(items[is_fourth], sign[is_fourth], count) > 0
    differing = (first_three == 1).all(axis=0)
    decided: Mask = (first_three >= 2) | (fourth & differing)
    return decided, differing


def _count_answers(items: Codes, sign: Floats, count: int) -> Floats:
    """Count each item's wins, losses and ties."""
    return np.array([np.bincount(items, weights=sign == answer, minlength=count) for answer in (1, -1, 0)])


def _votes_on(replies: Codes, fourth: CodedRatings) -> tuple[Codes, Floats]:
    """Return the item of each fourth vote, as its place in `replies`, and what it says."""
    is_here = np.isin(fourth.reply, replies)
    return np.searchsorted(replies, fourth.reply[is_here]), np.sign(fourth.score[is_here])


def _tally_votes(rows: CodedRatings, sign: Floats) -> Tally:
    count, clusters = len(rows), Clusters.of_ratings(rows)
    said = [(sign == answer).astype(np.float64) for answer in (1, -1, 0)]
    shares = [float(one.mean()) for one in said]
    net = float(sign.mean())
    columns = [*(one - share for one, share in zip(said, shares, strict=True)), sign - net]
    spread = spread_of(np.stack(columns, axis=1) / count, clusters)
    fewest = min(rows.dialog_count, rows.worker_count)
    wins, losses, ties = (int(one.sum()) for one in said)
    variance = 0.0 if spread.problem else float(spread.variance[3])

    def share(index: int) -> Estimate:
        return Estimate(shares[index], share_interval(shares[index], spread, index, fewest))

    return Tally(
        wins,
        losses,
        ties,
        share(0),
        share(1),
        share(2),
        net=Estimate(net, interval_of(net, spread, 3, -1.0, 1.0)),
        net_error=math.sqrt(variance) if variance > 0 else Undefined(spread.problem or NOTHING_VARIES),
        points=(wins + ties / 2) / count,
    )
