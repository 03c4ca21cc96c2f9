"""Compare two training runs at their common steps (compare_training), and find the step that became the checkpoint."""

from dataclasses import dataclass

from generation.errors import TrainingRefused
from generation.training.history import MACRO, Entry


@dataclass(frozen=True)
class Row:
    step: int
    epoch: float
    first: Entry
    second: Entry


@dataclass(frozen=True)
class Comparison:
    rows: list[Row]

    @property
    def second_is_lower(self) -> int:
        """Return at how many of the common steps the second run has the lower macro perplexity."""
        return sum(row.second[MACRO] < row.first[MACRO] for row in self.rows)


def compare_runs(first: list[Entry], second: list[Entry]) -> Comparison:
    others = {entry["step"]: entry for entry in second}
    common = [entry for entry in first if entry["step"] in others]
    rows = [Row(entry["step"], entry["epoch"], entry, others[entry["step"]]) for entry in common]
    if not rows:
        raise TrainingRefused("The two runs were never validated at the same step, so they can't be compared.")
    return Comparison(rows)


def best_of(history: list[Entry]) -> Entry:
    """Return the entry whose network became the checkpoint: the last one that was better than all before."""
    return [entry for entry in history if entry["is_best"]][-1]
