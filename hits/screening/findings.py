"""Tables of evidence -> findings, and what else the rules have in common.

Rule files are read by web processes, too, because a study's design names rules. So pandas is imported by the functions
that need it, and a rule that makes its table with `evidence_table` needs not import it at all.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hits.models.screening_rule import Finding

if TYPE_CHECKING:
    import pandas as pd

FEWEST_DIALOGS = 5  # below, nobody can be said to do something "in almost all dialogs"
ROUNDING = 1e-9  # a share that is computed may be this far below the one that it equals


def evidence_table(**columns: Any) -> "pd.DataFrame":
    """A row for each worker, a column for each fact. What is given are series by worker."""
    import pandas as pd

    return pd.DataFrame(columns)


def is_at_least(values: Any, least: Any) -> Any:
    """For series and arrays."""
    return values >= least - ROUNDING


def findings_of(facts: "pd.DataFrame") -> list[Finding]:
    """A finding for each row of a table of evidence by worker, ordered by pseudonym, in types that JSON has."""
    return [Finding(str(worker), evidence) for worker, evidence in _rows(facts.sort_index())]


def _rows(facts: "pd.DataFrame") -> Iterator[tuple[Any, dict[str, Any]]]:
    names = [str(name) for name in facts.columns]
    columns = [[plain(value) for value in facts[name]] for name in names]
    for worker, *values in zip(facts.index, *columns, strict=True):
        yield worker, dict(zip(names, values, strict=True))


def plain(value: Any) -> Any:
    """Rounded to four digits: evidence reads well, and is the same on every machine."""
    if hasattr(value, "item"):
        value = value.item()
    return float(f"{value:.4g}") if isinstance(value, float) else value


def counts_by_worker(frame: "pd.DataFrame", column: str) -> "pd.DataFrame":
    """How often each worker has each value."""
    return frame.groupby(["worker", column], observed=True).size().unstack(fill_value=0)
