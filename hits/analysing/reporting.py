"""Makes a report from results: decides which sections it has, and in which order.

In: `Results`, and the name of a screening variant if the results under other rules are wanted. Out: a `Report` with the
sections of each criterion, in the order in which a page shows them. Guaranteed: every number of a section stands in one
of its tables; this file computes nothing that the results do not say.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

from hits.analysing.report import CriterionReport, Report, Section
from hits.analysing.report_answer_sentence import answers
from hits.analysing.report_answers import agreement, calibration, comparisons, ranking, shares
from hits.analysing.report_circumstances import dependences, labels, metrics, true_values, variants
from hits.analysing.report_halo import halo
from hits.analysing.report_interim import interim_comparisons
from hits.analysing.report_leaderboard import leaderboards
from hits.analysing.report_offerings import as_exploratory, describe_pool, offerings
from hits.analysing.report_order import in_one_order
from hits.analysing.report_self_agreement import self_agreement
from hits.analysing.report_slices import slices
from hits.analysing.report_votes import votes
from hits.analysing.results import CriterionResults, Results

Make = Callable[[CriterionResults], Section]
PLAIN_NAME = r"[A-Za-z0-9][A-Za-z0-9_]*"  # in a file's name, a LaTeX label and a page's address

EVERYTHING: tuple[Make, ...] = (
    *(shares, comparisons, ranking, agreement),
    *(calibration, dependences, true_values, labels, metrics, slices, variants),
)
OF_A_VARIANT: tuple[Make, ...] = (shares, comparisons, ranking, agreement)


def report_of(results: Results, variant_name: str = "") -> Report:
    """Make the report of the results, or of one screening variant, which has shares, comparisons, ranking and
    agreement only."""
    if variant_name:
        under = in_one_order(results.under(variant_name))
        return Report(
            tuple(_report_criterion(one, under, OF_A_VARIANT) for one in under.criteria),
            results.origin,
            results.progress,
            describe_pool(results),
        )
    results = in_one_order(results)
    return Report(
        tuple(_report_criterion(one, results, EVERYTHING) for one in results.criteria),
        results.origin,
        results.progress,
        describe_pool(results),
    )


def _prefix(criterion: str, every: Sequence[str]) -> str:
    """Return what the names of a criterion's files, labels and anchors begin with; nothing if there is one criterion.
    Another tool may call its criteria anything, also "../x": then they have numbers.

    >>> _prefix("wit", ["care", "wit"]), _prefix("../x", ["care", "../x"]), _prefix("../x", ["../x"])
    ('wit-', 'criterion-2-', '')
    """
    if len(every) < 2:
        return ""
    are_plain = all(re.fullmatch(PLAIN_NAME, one) for one in every)
    return f"{criterion}-" if are_plain else f"criterion-{every.index(criterion) + 1}-"


def _report_criterion(one: CriterionResults, results: Results, wanted: tuple[Make, ...]) -> CriterionReport:
    if not results.progress.has_verdicts:
        interim = partial(interim_comparisons, progress=results.progress)
        wanted = tuple(interim if make is comparisons else make for make in wanted)
    prefix = _prefix(one.criterion, [other.criterion for other in results.criteria])
    found = answers(one, results.progress, len(results.criteria) > 1)
    if results.offerings:
        found = tuple(as_exploratory(answer, results) for answer in found)
        if not one.is_variant:
            wanted = (*wanted[:1], partial(offerings, results=results), *wanted[1:])
    if one.votes:
        wanted = (*wanted, votes)
    if one.self_agreement is not None:
        wanted = (*wanted, self_agreement)
    if one.halo:
        wanted = (*wanted, partial(halo, titles={other.criterion: other.title for other in results.criteria}))
    sections = tuple(make(one) for make in wanted)
    return CriterionReport(
        one.criterion,
        prefix,
        one.size,
        sections,
        one.title,
        one.is_by_mean,
        found,
        leaderboards(one),
        one.is_comparison,
    )
