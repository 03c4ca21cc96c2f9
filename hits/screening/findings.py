"""What a rule finds, and what the rules have in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

FEWEST_DIALOGS = 5  # below, nobody can be said to do something "in almost all dialogs"


@dataclass(frozen=True)
class Finding:
    """Facts that a rule found against a worker, or against one submission if it names one."""

    worker: str
    evidence: dict[str, Any]
    submission: int | None = None


def findings_of(facts: pd.DataFrame) -> list[Finding]:
    """A finding for each row of a table of evidence by worker, ordered by pseudonym, in types that JSON has."""
    return [Finding(str(worker), evidence) for worker, evidence in _rows(facts.sort_index())]


def _rows(facts: pd.DataFrame) -> Iterator[tuple[Any, dict[str, Any]]]:
    names = [str(name) for name in facts.columns]
    columns = [[plain(value) for value in facts[name]] for name in names]
    for worker, *values in zip(facts.index, *columns, strict=True):
        yield worker, dict(zip(names, values, strict=True))


def plain(value: Any) -> Any:
    """Rounded to four digits: evidence reads well, and is the same on every machine."""
    if hasattr(value, "item"):
        value = value.item()
    return float(f"{value:.4g}") if isinstance(value, float) else value


def counts_by_worker(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """How often each worker has each value."""
    return frame.groupby(["worker", column], observed=True).size().unstack(fill_value=0)
