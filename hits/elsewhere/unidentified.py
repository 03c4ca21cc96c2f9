"""Leaves out of results what can't be known where raters are not identified."""

from dataclasses import replace

from hits.analysing import Results
from hits.stats import Undefined, WorkerEffect

UNIDENTIFIED = (
    "Raters are not identified: intervals and tests respect only that ratings of one item belong together. If few "
    "people rated much, the intervals are too narrow and the p-values too small."
)
REASON = "the raters are not identified"


def without_raters(results: Results) -> Results:
    """Return the results without what needs to know who rated. Each rating was counted as a rater's of its own, so that
    variances are those of dialogs."""
    nothing = Undefined(REASON)
    criteria = tuple(
        replace(
            one,
            size=replace(one.size, workers=0),
            table=tuple(replace(row, workers=0) for row in one.table),
            comparisons=tuple(
                replace(table, effective_workers=0.0, warnings=(UNIDENTIFIED, *table.warnings))
                for table in one.comparisons
            ),
            true_values=nothing,
            worker_effect=WorkerEffect(nothing, nothing, nothing),
        )
        for one in results.criteria
    )
    return replace(results, criteria=criteria)
