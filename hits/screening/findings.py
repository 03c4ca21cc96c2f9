"""Holds what all rules share: what a finding names, what "at least" means, the fewest dialogs, and rounded evidence.

Web processes import the rules' files too, because a study's design names rules. So the functions that need pandas
import it themselves, and a rule that makes its table with `evidence_table` need not import it at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hits.models.screening_rule import Finding

if TYPE_CHECKING:
    import pandas as pd

FEWEST_DIALOGS = 5  # with fewer, nobody can be said to do something "in almost all dialogs"
UNJUDGED = f" (workers with fewer than {FEWEST_DIALOGS} dialogs were not judged)"  # said by rules that count dialogs
ROUNDING = 1e-9  # a computed share may be this far below the one that it equals


def evidence_table(**columns: Any) -> "pd.DataFrame":
    """Make a table with a row for each worker and a column for each fact. Each column is a series by worker."""
    import pandas as pd

    return pd.DataFrame(columns)


def is_at_least(values: Any, least: Any) -> Any:
    """Compare series or arrays, and forgive rounding errors."""
    return values >= least - ROUNDING


def findings_of(facts: "pd.DataFrame") -> list[Finding]:
    """Make a finding of each row of evidence, ordered by the worker's pseudonym, with values that JSON can hold."""
    return [Finding(str(worker), evidence) for worker, evidence in _rows(facts.sort_index())]


def submissions_named(
    findings: Iterable[tuple[str, int | None]], submissions_of: Mapping[str, Sequence[int]]
) -> Iterator[int]:
    """Yield the submissions that findings (or exclusions) name: a single one, or all of a worker if it names none."""
    for worker, submission in findings:
        yield from submissions_of.get(worker, ()) if submission is None else [submission]


def _rows(facts: "pd.DataFrame") -> Iterator[tuple[Any, dict[str, Any]]]:
    names = [str(name) for name in facts.columns]
    columns = [[plain(value) for value in facts[name]] for name in names]
    for worker, *values in zip(facts.index, *columns, strict=True):
        yield worker, dict(zip(names, values, strict=True))


def plain(value: Any) -> Any:
    """Round a value to four digits, so that evidence reads well and is the same on every machine."""
    if hasattr(value, "item"):
        value = value.item()
    return float(f"{value:.4g}") if isinstance(value, float) else value


def counts_by_worker(frame: "pd.DataFrame", column: str) -> "pd.DataFrame":
    """Count how often each worker has each value."""
    return frame.groupby(["worker", column], observed=True).size().unstack(fill_value=0)
