"""Stored figures as the papers' tables 3 and 4: a row for each generator of a dataset, or each dataset of a generator.

Reads the database and nothing heavy: pages use it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from generation.metrics.naming import LABELS_TABLE, LIKELIHOOD_VERSION, REPLIES_TABLE, Figure
from generation.models import Dataset, Generator, GeneratorScore

MISSING = "–"
TITLES = (("Replies", REPLIES_TABLE), ("Predicted labels", LABELS_TABLE))


@dataclass(frozen=True)
class ScoreTable:
    """Cells are written already. A figure that no row has is no column."""

    title: str
    row_heading: str
    figures: list[Figure]
    rows: list[tuple[str, int, list[str]]]  # name, replies, cells
    notes: list[str]

    @property
    def labelled_rows(self) -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
        headings = [figure.heading for figure in self.figures]
        for name, replies, cells in self.rows:
            yield name, replies, list(zip(headings, cells, strict=True))


def tables_of_dataset(dataset: Dataset) -> list[ScoreTable]:
    scores = GeneratorScore.objects.filter(dataset=dataset).select_related("generator")
    return _tables("Model", ((one.generator.name, one) for one in _newest(scores)), is_one_dataset=True)


def tables_of_generator(generator: Generator) -> list[ScoreTable]:
    scores = GeneratorScore.objects.filter(generator=generator).select_related("dataset")
    return _tables("Dataset", ((one.dataset.name, one) for one in _newest(scores)), is_one_dataset=False)


def describe_table(table: ScoreTable) -> Iterator[str]:
    """In columns, for the terminal."""
    width = max(len(name) for name, _, _ in [(table.row_heading, 0, []), *table.rows]) + 2
    widths = [max(len(figure.heading), 7) + 2 for figure in table.figures]
    headings = "".join(f"{figure.heading:>{wide}}" for figure, wide in zip(table.figures, widths, strict=True))
    yield f"{table.row_heading:<{width}}{'replies':>9}{headings}"
    for name, replies, cells in table.rows:
        yield f"{name:<{width}}{replies:>9,}" + "".join(
            f"{cell:>{wide}}" for cell, wide in zip(cells, widths, strict=True)
        )
    yield from table.notes


def _newest(scores: QuerySet[GeneratorScore]) -> list[GeneratorScore]:
    """Of every figure the one that was computed last: the most replies, the newest version. Perplexities that were
    counted in another way are not shown: beside others they would mislead."""
    outdated = Q(metric__startswith="perplexity") & ~Q(version=LIKELIHOOD_VERSION)
    found = {(one.generator_id, one.dataset_id, one.metric): one for one in scores.exclude(outdated).order_by("pk")}
    return list(found.values())


def _tables(row_heading: str, named: Iterable[tuple[str, GeneratorScore]], is_one_dataset: bool) -> list[ScoreTable]:
    by_row: dict[str, dict[str, GeneratorScore]] = {}
    for name, score in named:
        by_row.setdefault(name, {})[score.metric] = score
    made = []
    for title, figures in TITLES:
        there = [figure for figure in figures if any(figure.name in scores for scores in by_row.values())]
        rows = {name: scores for name, scores in sorted(by_row.items()) if any(one.name in scores for one in there)}
        if there:
            notes = _notes(rows, is_one_dataset) if title == "Replies" else []
            made.append(ScoreTable(title, row_heading, there, [_row(*one, there) for one in rows.items()], notes))
    return made


def _row(name: str, scores: dict[str, GeneratorScore], figures: Sequence[Figure]) -> tuple[str, int, list[str]]:
    replies = max(score.candidate_count for score in scores.values())
    cells = [_written(scores[one.name].value, one) if one.name in scores else MISSING for one in figures]
    return name, replies, cells


def _written(value: float, figure: Figure) -> str:
    """Shares without the leading zero, as the paper has them."""
    text = f"{value:,{figure.style}}"
    return text.removeprefix("0") if text.startswith("0.") and "BLEU" not in figure.heading else text


def _notes(rows: dict[str, dict[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
    return [*_perplexity_notes(rows, is_one_dataset), *(_distinct_notes(rows) if is_one_dataset else [])]


def _perplexity_notes(rows: dict[str, dict[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
    """Dialogs that a model did not answer, or that have no gold, are not in its perplexity: often the hard ones."""
    counts = {name: scores["perplexity"].scored_count for name, scores in rows.items() if "perplexity" in scores}
    if not counts:
        return []
    if len(set(counts.values())) == 1:
        return [f"PPL is over {_dialogs(min(counts.values()))} that have a human reply and were answered."]
    each = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    note = f"PPL is over dialogs that have a human reply and were answered: {each}."
    return [f"{note} It can be compared only between models with equal counts." if is_one_dataset else note]


def _dialogs(count: int) -> str:
    return f"{count:,} dialog" if count == 1 else f"the {count:,} dialogs"


def _distinct_notes(rows: dict[str, dict[str, GeneratorScore]]) -> list[str]:
    """Distinct falls with every further reply: only equal counts compare."""
    counts = {scores["distinct_1"].candidate_count for scores in rows.values() if "distinct_1" in scores}
    if len(counts) < 2:
        return []
    return [
        f"The models have {min(counts):,} to {max(counts):,} replies: Distinct falls with their number, so that D1 and "
        "D2 can be compared only between models with equal counts."
    ]
