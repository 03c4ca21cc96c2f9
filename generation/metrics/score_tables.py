"""Make tables of stored scores, as the papers' tables 3 and 4, for pages and commands.

A table has a row for each generator of a dataset, or for each dataset of a generator. This file reads the database and
imports nothing heavy, because pages use it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from generation.metrics.all_metrics import METRICS
from generation.metrics.metric import TABLES, Column
from generation.models import Dataset, Generator, GeneratorScore

MISSING = "–"


@dataclass(frozen=True)
class ScoreTable:
    """A table whose cells are text. A column without any value is left out."""

    title: str
    row_heading: str
    columns: list[Column]
    rows: list[tuple[str, int, list[str]]]  # name, replies, cells
    notes: list[str]

    @property
    def labelled_rows(self) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
        headings = [column.heading for column in self.columns]
        for name, replies, cells in self.rows:
            yield name, replies, list(zip(headings, cells, strict=True))


def tables_of_dataset(dataset: Dataset) -> list[ScoreTable]:
    scores = GeneratorScore.objects.filter(dataset=dataset).select_related("generator")
    return _make_tables("Model", ((one.generator.name, one) for one in newest_scores(scores)), is_one_dataset=True)


def tables_of_generator(generator: Generator) -> list[ScoreTable]:
    scores = GeneratorScore.objects.filter(generator=generator).select_related("dataset")
    return _make_tables("Dataset", ((one.dataset.name, one) for one in newest_scores(scores)), is_one_dataset=False)


def describe_table(table: ScoreTable) -> Iterator[str]:
    """Yield the lines of the table, for the terminal."""
    width = max(len(name) for name, _, _ in [(table.row_heading, 0, []), *table.rows]) + 2
    widths = [max(len(column.heading), 7) + 2 for column in table.columns]
    headings = "".join(f"{column.heading:>{wide}}" for column, wide in zip(table.columns, widths, strict=True))
    yield f"{table.row_heading:<{width}}{'replies':>9}{headings}"
    for name, replies, cells in table.rows:
        yield f"{name:<{width}}{replies:>9,}" + "".join(
            f"{cell:>{wide}}" for cell, wide in zip(cells, widths, strict=True)
        )
    yield from table.notes


def newest_scores(scores: QuerySet[GeneratorScore]) -> list[GeneratorScore]:
    """Return for every column the value that was computed last: that of the most replies and the newest version."""
    outdated = Q(pk=None)
    for metric in METRICS:
        if metric.hides_other_versions:
            outdated |= Q(metric__in=[column.name for column in metric.columns]) & ~Q(version=metric.version())
    found = {(one.generator_id, one.dataset_id, one.metric): one for one in scores.exclude(outdated).order_by("pk")}
    return list(found.values())


def _make_tables(
    row_heading: str, named: Iterable[tuple[str, GeneratorScore]], is_one_dataset: bool
) -> list[ScoreTable]:
    by_row: dict[str, dict[str, GeneratorScore]] = {}
    for name, score in named:
        by_row.setdefault(name, {})[score.metric] = score
    made = []
    for title in TABLES:
        metrics = [metric for metric in METRICS if metric.table == title]
        columns = [column for metric in metrics for column in metric.columns]
        there = [column for column in columns if any(column.name in scores for scores in by_row.values())]
        rows = {name: scores for name, scores in sorted(by_row.items()) if any(one.name in scores for one in there)}
        if there:
            notes = [note for metric in metrics for note in metric.notes(rows, is_one_dataset)]
            made.append(ScoreTable(title, row_heading, there, [_make_row(*one, there) for one in rows.items()], notes))
    return made


def _make_row(name: str, scores: dict[str, GeneratorScore], columns: Sequence[Column]) -> tuple[str, int, list[str]]:
    replies = max(score.candidate_count for score in scores.values())
    cells = [_format_value(scores[one.name].value, one) if one.name in scores else MISSING for one in columns]
    return name, replies, cells


def _format_value(value: float, column: Column) -> str:
    text = f"{value:,{column.style}}"
    return text.removeprefix("0") if text.startswith("0.") and not column.has_leading_zero else text
