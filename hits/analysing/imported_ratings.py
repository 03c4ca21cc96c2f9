"""Reads ratings that were made elsewhere from a CSV file, and refuses lines that can't be used.

In: a file with a header and the columns item, worker, generator, value, and dataset if there are several. Out: a frame
for `analyse`, and the lines that could not be used. Guaranteed: a bad line is reported with its number and the reason,
and never stops the rest.

A value is a number, the higher the better, or a word of a scale that is named best first. An item is what was replied
to: the same for all generators, so that they can be compared within it.
"""

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalplatform.errors import EvalPlatformError
from hits.protocols import usual_protocol
from hits.stats import score_of

NEEDED = ("item", "worker", "generator", "value")
DATASET = "dataset"
DEFAULT_SCALE = usual_protocol().scale.values
MOST_VALUES = 20
MOST_PROBLEMS_TOLD = 10


@dataclass(frozen=True)
class LineProblem:
    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True)
class ImportedRatings:
    frame: pd.DataFrame
    problems: tuple[LineProblem, ...]


@dataclass(frozen=True)
class _Line:
    number: int
    dataset: str
    item: str
    worker: str
    generator: str
    value: str


def import_ratings(path: Path, words: Sequence[str] = DEFAULT_SCALE) -> ImportedRatings:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return read_ratings(file, path.name, words)
    except OSError as error:
        raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise EvalPlatformError(f"{path.name} is not UTF-8 text; save it as UTF-8 and try again.") from error


def read_ratings(rows: Iterable[str], name: str, words: Sequence[str] = DEFAULT_SCALE) -> ImportedRatings:
    """Read ratings line by line. `words` names the values of the scale, best first, unless they are numbers."""
    reader = csv.DictReader(rows)
    header = [(column or "").strip().lower() for column in reader.fieldnames or []]
    if missing := [column for column in NEEDED if column not in header]:
        raise EvalPlatformError(
            f"{name} has no column {' and no column '.join(missing)}; its first line must name the columns "
            f"{', '.join(NEEDED)}, and may name {DATASET}."
        )
    reader.fieldnames = header
    problems: list[LineProblem] = []
    lines: list[_Line] = []
    seen: dict[tuple[str, ...], int] = {}
    for row in reader:
        line = _parse_line(row, reader.line_num, problems)
        if line is None:
            continue
        key = (line.dataset, line.item, line.worker, line.generator)
        if (first := seen.setdefault(key, line.number)) != line.number:
            told = f"{line.worker} rated {line.generator} on {line.item} in line {first} already"
            problems.append(LineProblem(line.number, told))
        else:
            lines.append(line)
    scale = _find_scale([line.value for line in lines], words)
    for line in lines:
        if line.value.lower() not in scale:
            told = f"{line.value!r} is neither a number nor one of {', '.join(words)}"
            problems.append(LineProblem(line.number, told))
    lines = [line for line in lines if line.value.lower() in scale]
    if not lines:
        raise EvalPlatformError(f"{name} has no rating that can be used.\n" + describe_problems(problems))
    return ImportedRatings(_make_frame(lines, scale), tuple(sorted(problems, key=lambda one: one.line)))


def describe_problems(problems: Sequence[LineProblem]) -> str:
    told = [f"  {problem}" for problem in problems[:MOST_PROBLEMS_TOLD]]
    rest = len(problems) - len(told)
    return "\n".join([*told, *([f"  ... and {rest:,} more"] if rest else [])])


def _parse_line(row: dict[str, str], number: int, problems: list[LineProblem]) -> _Line | None:
    cells = {column: (row.get(column) or "").strip() for column in (*NEEDED, DATASET)}
    if empty := [column for column in NEEDED if not cells[column]]:
        problems.append(LineProblem(number, f"has no {' and no '.join(empty)}"))
        return None
    return _Line(number, cells[DATASET], cells["item"], cells["worker"], cells["generator"], cells["value"])


def _find_scale(values: Sequence[str], words: Sequence[str]) -> dict[str, float]:
    """Return the score of each value as it is written: numbers if most lines have a number, otherwise words."""
    numbers = {value: number for value in set(values) if (number := _parse_number(value)) is not None}
    if 2 * sum(value in numbers for value in values) > len(values):
        if (count := len(set(numbers.values()))) > MOST_VALUES:
            raise EvalPlatformError(
                f"The ratings have {count:,} different values; a scale has {MOST_VALUES} at most. Round them first."
            )
        return {value.lower(): number for value, number in numbers.items()}
    return {word.strip().lower(): float(score_of(place, len(words))) for place, word in enumerate(words)}


def _parse_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _make_frame(lines: Sequence[_Line], scale: dict[str, float]) -> pd.DataFrame:
    scores = np.array([scale[line.value.lower()] for line in lines])
    names = {score: f"{score:g}" if _parse_number(value) is not None else value for value, score in scale.items()}
    ordered = sorted(names, reverse=True)
    dialogs = pd.factorize(pd.Series([f"{line.dataset}\0{line.item}" for line in lines]))[0]
    return pd.DataFrame(
        {
            "worker": _category([line.worker for line in lines]),
            "dialog": dialogs,
            "dataset": _category([line.dataset or "all" for line in lines]),
            "external_id": [line.item for line in lines],
            "generator": _category([line.generator for line in lines]),
            "value": pd.Categorical([names[score] for score in scores], categories=[names[score] for score in ordered]),
            "score": scores,
        }
    )


def _category(names: list[str]) -> Any:
    return pd.Categorical(names, categories=list(dict.fromkeys(names)))
