"""Makes tables of comparisons: corrects p-values by family, gives letters, and warns where little can be said.

In: the comparisons of each scope (all datasets together, or one). Out: a `Comparisons` for each. Guaranteed: the
primary family and the exploratory one are corrected by themselves (Holm); a warning that is not about all pairs names
those that it is about; models have letters only where all pairs of them were tested.

Three pairs, one of them rated side by side in 5 dialogs only: "A and B: No difference can be found with 5 dialogs".
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hits.stats.coded_ratings import NOT_FOR_COMPARISONS, CodedRatings
from hits.stats.estimates import Undefined
from hits.stats.letters import letter_display
from hits.stats.outcomes import Comparison, Comparisons, Lettered, PairTest
from hits.stats.planned_tests import MEAN_SCORE, SHARE_OF_BEST, WIN_RATE
from hits.stats.sign_flips import holm
from hits.stats.too_few import (
    effective_number,
    few_dialogs_warning,
    few_workers_meaning,
    few_workers_warning,
    no_finding_is_possible,
)

NO_RATING = "there is no rating"
MOST_PAIRS_NAMED = 4


def corrected(tables: Sequence[Sequence[Comparison]]) -> list[list[Comparison]]:
    """Correct the p-values of the primary family and of the exploratory one."""
    found = [list(pairs) for pairs in tables]
    for family in (True, False):
        tests = {
            (table, index): one.test
            for table, pairs in enumerate(found)
            for index, one in enumerate(pairs)
            if one.is_primary is family and isinstance(one.test, PairTest)
        }
        p_values = holm([test.p_value for test in tests.values()])
        for ((table, index), test), p_value in zip(tests.items(), p_values, strict=True):
            found[table][index] = replace(found[table][index], test=replace(test, corrected_p_value=p_value))
    return found


def family_sizes(tables: Sequence[Sequence[Comparison]]) -> dict[bool, int]:
    """Count the tests of the primary family (True) and of the exploratory one (False)."""
    tested = [one.is_primary for pairs in tables for one in pairs if isinstance(one.test, PairTest)]
    return {True: sum(tested), False: len(tested) - sum(tested)}


def comparisons_table(
    name: str | None, ratings: CodedRatings, pairs: Sequence[Comparison], outcome: str, families: dict[bool, int]
) -> Comparisons:
    rows = ratings.by_generators.from_both_sides
    effective = effective_number(np.bincount(rows.worker)) if len(rows) else 0.0
    tested = [one for one in pairs if isinstance(one.test, PairTest)]
    warnings = (*_warn_of_few_workers(tested), *_warn_of_few_dialogs(tested, families))
    letters = _letters(rows, pairs, outcome, is_pooled=name is None)
    low, high = ratings.score_ends
    most = high - low if outcome == MEAN_SCORE and ratings.opponent is None else 1.0
    return Comparisons(name, tuple(pairs), letters, outcome, effective, warnings, most)


# --- Warnings --------------------------------------------------------------------------------------------------------


def _warn_of_few_workers(tested: Sequence[Comparison]) -> list[str]:
    """Warn of pairs whose raters are few, once for all pairs of which the same is to be said."""
    by_meaning: dict[str, list[Comparison]] = {}
    for one in tested:
        if meaning := few_workers_meaning(one.size.effective_workers, one.kind == "paired"):
            by_meaning.setdefault(meaning, []).append(one)

    def tell(pairs: Sequence[Comparison]) -> str:
        fewest = min(one.size.effective_workers for one in pairs)
        return few_workers_warning(fewest, pairs[0].kind == "paired")

    return [_about(pairs, tested, tell) for pairs in by_meaning.values()]


def _warn_of_few_dialogs(tested: Sequence[Comparison], families: dict[bool, int]) -> list[str]:
    """Warn of pairs whose dialogs are too few for any finding, once for each family."""
    found = []
    for is_primary, family in families.items():
        hopeless = [
            one
            for one in tested
            if one.is_primary is is_primary
            and one.kind == "paired"
            and no_finding_is_possible(one.size.dialogs, family)
        ]

        def tell(pairs: Sequence[Comparison], family: int = family) -> str:
            dialogs = [one.size.dialogs for one in pairs]
            return few_dialogs_warning(max(dialogs), family, or_fewer=min(dialogs) < max(dialogs))

        if hopeless:
            found.append(_about(hopeless, tested, tell))
    return found


def _about(some: Sequence[Comparison], every: Sequence[Comparison], tell: Callable[[Sequence[Comparison]], str]) -> str:
    """Name the pairs that a warning is about, unless it is about all."""
    if len(some) == len(every):
        return tell(some)
    names = [f"{one.first} and {one.second}" for one in some[:MOST_PAIRS_NAMED]]
    more = len(some) - len(names)
    return f"{', '.join([*names, *([f'{more} more pairs'] if more else [])])}: {tell(some)}"


# --- Letters ---------------------------------------------------------------------------------------------------------


def _letters(rows: CodedRatings, pairs: Sequence[Comparison], outcome: str, is_pooled: bool) -> tuple[Lettered, ...]:
    """Return the models with their letters, the best first. Of all datasets together, only models that were rated in
    each of them can be put in order; the others follow."""
    outcomes, scores = _means(rows, outcome), _means(rows, MEAN_SCORE)
    problems = dict(zip(rows.generators, rows.pooling_problems, strict=True)) if is_pooled else {}
    order = sorted(outcomes, key=lambda name: (bool(problems.get(name)), -outcomes[name]))
    ordered = [name for name in order if not problems.get(name)]
    between = [one for one in pairs if one.first in ordered and one.second in ordered]
    letters = dict.fromkeys(order, "")
    if between and all(one.verdict != "not compared" for one in between):  # one model alone has no letter
        letters |= letter_display(ordered, {(one.first, one.second) for one in between if one.is_different})

    def score_of(name: str) -> float | Undefined:
        if problem := problems.get(name):
            return Undefined(problem)
        # The mean of comparisons orders the models, but it is no score: it depends on which opponents each one met.
        return scores[name] if rows.opponent is None else Undefined(NOT_FOR_COMPARISONS)

    rated = [Lettered(name, score_of(name), letters[name]) for name in order]
    unrated = [Lettered(name, Undefined(NO_RATING), "") for name in rows.generators if name not in outcomes]
    return (*rated, *unrated)


def _means(rows: CodedRatings, outcome: str) -> dict[str, float]:
    """Return the mean outcome of each generator that was rated. Win rates come from scores, whose sign says who won."""
    amounts = rows.score
    if outcome == SHARE_OF_BEST:
        amounts = (rows.value == 0).astype(np.float64)
    elif outcome == WIN_RATE and rows.opponent is not None:
        amounts = np.sign(rows.score)
    counts = np.bincount(rows.generator, minlength=len(rows.generators))
    sums = np.bincount(rows.generator, weights=amounts, minlength=len(rows.generators))
    return {
        name: float(total / count) for name, total, count in zip(rows.generators, sums, counts, strict=True) if count
    }
