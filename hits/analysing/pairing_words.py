"""Says what comparisons rest on where that is a part of the ratings only: planned dialogs, or dialogs side by side."""

from collections.abc import Iterator, Sequence

from evalplatform.wording import count_of
from hits.analysing.results import CriterionResults
from hits.stats import Comparison

MOST_PAIRS_NAMED = 4


def describe_planned_part(found: CriterionResults) -> str:
    """Say that more was rated than planned; "" if not."""
    if not found.further_dialogs:
        return ""
    tested = count_of(found.size.dialogs - found.further_dialogs, "planned dialog")
    further = count_of(found.further_dialogs, "further dialog counts", "further dialogs count")
    return (
        f"Tests, letters and the ranking are about the {tested}, the first ones in the frozen order. {further} in the "
        "other tables only."
    )


def describe_pairing(pairs: Sequence[Comparison]) -> Iterator[str]:
    """Yield a sentence for each such pair, or one for many."""
    few = [one for one in pairs if one.kind == "unpaired" and one.size.side_by_side]
    yield from _each_or_all(
        few,
        "rated side by side too rarely to be compared there",
        "so all their ratings are compared, which different people gave",
    )
    part = [one for one in pairs if one.kind == "paired" and 2 * one.size.side_by_side < one.size.rated]
    yield from _each_or_all(
        part,
        "rated side by side in a part of their dialogs",
        "and only that part is compared: what was rated elsewhere has no say in it",
    )


def _each_or_all(pairs: Sequence[Comparison], were: str, therefore: str) -> Iterator[str]:
    if len(pairs) > MOST_PAIRS_NAMED:
        yield f"{len(pairs)} pairs were {were}, {therefore}."
        return
    for one in pairs:
        in_all = f"({one.size.side_by_side:,} of {count_of(one.size.rated, 'dialog')})"
        yield f"{one.first} and {one.second} were {were} {in_all}, {therefore}."
