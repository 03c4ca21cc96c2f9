"""Writes what it would take to tell models apart that can't be told apart yet, in dialogs and money, and what that
assumes."""

from collections.abc import Iterable

from evalplatform.wording import count_of
from hits.analysing.results import BEYOND_REACH, CriterionResults, Separation, rounded
from hits.analysing.study_progress import Progress
from hits.models.money import SIGNS
from hits.stats import FEW_WORKERS, Comparisons, Undefined


def what_it_takes(table: Comparisons, found: CriterionResults) -> Iterable[str]:
    """Say what would tell the pair with the largest difference apart, and the pair with the smallest."""
    some = [one for one in found.separations if one.dataset == table.dataset]
    if not some:
        return
    hardest, easiest = some[0], some[-1]
    pair = f"{easiest.other} from {easiest.better}"
    if isinstance(easiest.dialogs, Undefined):
        if easiest.dialogs.reason == BEYOND_REACH:
            yield f"To tell {pair} is beyond reach: {BEYOND_REACH}."
        else:
            yield f"What it would take to tell {pair} can't be computed: {easiest.dialogs.reason}."
        return
    closest = "" if hardest is easiest else _closest(hardest)
    if easiest.dialogs <= easiest.dialogs_now:
        yield (
            f"About {count_of(easiest.dialogs, 'dialog')} should have told {pair} if they differed as much as is seen: "
            f"they may differ less.{f' To tell{closest}.' if closest else ''}"
        )
        return
    effort = f"To tell {pair} takes about {count_of(easiest.dialogs, 'dialog')} in all{_more(easiest)}"
    yield f"{effort}{f', and{closest}' if closest else ''}, if they differ as much as is seen."


def assumptions(table: Comparisons, found: CriterionResults, progress: Progress) -> Iterable[str]:
    """Say what the numbers of dialogs and money rest on, if there are any."""
    some = [one for one in found.separations if one.dataset == table.dataset and not isinstance(one.dialogs, Undefined)]
    if some:
        raters = "as the planner expects" if progress.has_verdicts else "as those so far"
        yield (
            "The dialogs that it takes are for a chance of 80 %, by further workers as careful, and of as different "
            f"tastes, {raters}; the cost is at the design's price of a HIT."
        )
        if progress.has_verdicts and table.effective_workers < FEW_WORKERS:
            yield (
                f"The numbers of dialogs are too low if as few workers go on, since below {FEW_WORKERS} equally busy "
                "ones the t test decides, too: with seven, it takes about twice as many. Here the work is worth that "
                f"of {table.effective_workers:.1f}."
            )
    if not progress.is_complete and any(map(_more, some)):
        yield (
            f"What is missing is counted from the {count_of(some[-1].dialogs_now, 'dialog')} of whole HITs: dialogs of "
            "HITs that are published but not whole are still in it, though they may be paid for already."
        )


def _closest(one: Separation) -> str:
    pair = f" {one.other} from {one.better}, the closest,"
    if isinstance(one.dialogs, Undefined):
        beyond = one.dialogs.reason.removeprefix("it would take ")
        return f"{pair} {beyond if one.dialogs.reason == BEYOND_REACH else f'is not computed ({beyond})'}"
    return f"{pair} about {one.dialogs:,}{_more(one)}"


def _more(one: Separation) -> str:
    if isinstance(one.dialogs, Undefined) or isinstance(one.cost_cents, Undefined) or one.dialogs <= one.dialogs_now:
        return ""
    more, cost = rounded(one.dialogs - one.dialogs_now), _about(one.cost_cents, one.currency)
    return f" (about {cost} more)" if more >= one.dialogs else f" ({more:,} more, about {cost})"


def _about(cents: int, currency: str) -> str:
    """Write an amount as it is said aloud: two digits, and no cents beyond ten.

    >>> _about(123456, "USD"), _about(2543, "USD"), _about(480, "USD")
    ('$1,200', '$25', '$4.80')
    """
    if cents < 10_00:
        return f"{SIGNS[currency]}{cents / 100:,.2f}"
    amount = round(cents / 100)
    unit = 10 ** max(0, len(str(amount)) - 2)
    return f"{SIGNS[currency]}{round(amount / unit) * unit:,}"
