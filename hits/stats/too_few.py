"""Says when there are too few raters or dialogs for a finding, and what that means. Needs no numpy: forms ask it too.

Workers count by what they did: the effective number of workers is

    1 / sum of the squared shares of the ratings

which is the number of workers where all did the same, and less where a few did most (Kish 1965; Simpson's index). Below
ten of them, the permutation test finds too much where workers have tastes of their own for one of the models: .075
with five workers and .161 with three, where .05 is meant. With n dialogs it can't give a p-value below 2 / 2^n.

Three workers with 8, 1 and 1 ratings count as 1 / (.64 + .01 + .01) = 1.5.
"""

from collections.abc import Iterable

from hits.stats.estimates import ALPHA

FEW_WORKERS = 10  # effective ones; with fewer, the two-way t test has a say
ONLY_THESE_RATERS = 3  # with so few, nothing can be said about other raters


def effective_number(counts: Iterable[float]) -> float:
    """Return how many equal clusters the uneven ones are worth; 0 for none.

    >>> effective_number([5, 5, 5]), round(effective_number([8, 1, 1]), 2)
    (3.0, 1.52)
    """
    some = [float(count) for count in counts]
    squares = sum(count * count for count in some)
    return sum(some) ** 2 / squares if squares else 0.0


def smallest_p_value(dialogs: int, family: int = 1) -> float:
    """Return the smallest p-value that the permutation test can give, if this many tests are corrected together.

    >>> smallest_p_value(5), smallest_p_value(8, family=6)
    (0.0625, 0.046875)
    """
    return min(1.0, family * 2.0 ** (1 - dialogs))


def no_finding_is_possible(dialogs: int, family: int = 1) -> bool:
    return smallest_p_value(dialogs, family) > ALPHA


def few_workers_warning(effective: float, is_paired: bool = True) -> str:
    """Return what to say about so few raters; nothing if there are enough. `is_paired` says that the permutation test
    was made.

    >>> few_workers_warning(12.0)
    ''
    """
    meaning = few_workers_meaning(effective, is_paired)
    if not meaning:
        return ""
    return f"The ratings are worth those of {effective:.1f} workers who rate equally much{meaning}"


def few_workers_meaning(effective: float, is_paired: bool = True) -> str:
    """Return the rest of that sentence: what follows from so few raters."""
    if effective >= FEW_WORKERS:
        return ""
    if effective < ONLY_THESE_RATERS + 0.5:
        return ": the findings are about these raters, and do not generalise to others."
    if not is_paired:
        return f", which is few: below {FEW_WORKERS}, intervals and tests are rough."
    return f". Below {FEW_WORKERS}, the larger p-value of the permutation test and of the two-way t test decides."


def few_dialogs_warning(dialogs: int, family: int, or_fewer: bool = False) -> str:
    """Return what to say about so few dialogs; nothing if there are enough. `or_fewer` says that it is about several
    pairs, some of which have still fewer."""
    if not no_finding_is_possible(dialogs, family):
        return ""
    among = f" among {family} comparisons" if family > 1 else ""
    least = f"the smallest p-value that the test can give{among} is {smallest_p_value(dialogs, family):.3g}"
    return f"No difference can be found with {dialogs} dialogs{' or fewer' if or_fewer else ''}: {least}."
