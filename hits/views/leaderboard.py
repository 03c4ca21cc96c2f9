"""Shows the leaderboard: the chosen criterion and dataset, each row with its interval as a dot plot, and as CSV."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse, QueryDict

from evalplatform.spreadsheet_cells import cell_of
from hits.analysing import Answer, Cell, CriterionReport, DialogFilter, Kind, Report, Row, Table, describe_progress
from hits.stats import Interval
from hits.views.result_sections import written_cell

MOST_TICKS = 5
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 25.0)
COLUMNS = ("rank", "model", "outcome", "value", "low", "high", "letters", "ratings", "dialogs", "workers")


@dataclass(frozen=True)
class Choice:
    """One link of a switch: the value of its parameter, None for what is shown without it."""

    title: str
    value: str | None
    is_shown: bool


@dataclass(frozen=True)
class Dot:
    """Where a row's dot and its line stand, as percentages of the plot's width."""

    at: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class BoardRow:
    """A row of the leaderboard. `href` is where its model leads to, if there is such a page."""

    rank: str
    name: str
    is_human: bool
    letters: str
    outcome: str
    dot: Dot | None
    ratings: str
    href: str = ""


@dataclass(frozen=True)
class Board:
    """The leaderboard as the template shows it. `ceiling` is where the human reply stands on the plot."""

    criterion: CriterionReport
    answer: Answer
    preface: str
    table: Table
    outcome: str
    rows: Sequence[BoardRow]
    ticks: Sequence[tuple[str, str]]  # place and text
    ceiling: str
    has_letters: bool
    counts_more_human: bool  # the human reply's n is more than the ratings of human replies that all rules keep
    order_of: str  # the table whose order all others have
    is_in_other_order: bool  # the ranks of this one do not rise from row to row
    datasets: Sequence[Choice]
    criteria: Sequence[Choice]


def leaderboard_of(report: Report, query: QueryDict, dialogs: str = "") -> Board | None:
    """Return the board that the address asks for; what it does not know is ignored. None if nothing was compared.
    `dialogs` is the beginning of the address that lists a model's dialogs; "" if there is none."""
    criterion = next((one for one in report.criteria if one.criterion == query.get("criterion")), report.criteria[0])
    pairs = [
        (table, answer)
        for table, answer in zip(criterion.leaderboards, criterion.answers, strict=True)
        if _has_numbers(table) or len(criterion.leaderboards) == 1
    ]
    if not pairs:
        return None
    first = pairs[0][0]
    table, answer = next((pair for pair in pairs if pair[0].dataset == query.get("dataset", "")), pairs[0])
    # Where all datasets together mean nothing, say why before a dataset's own answer.
    is_pooled_in_vain = first.dataset is not None and len(pairs) < len(criterion.leaderboards)
    axis, step = _axis(table)
    human = [row for row in table.rows if row.head.is_human and not row.cells[0].undefined]
    return Board(
        criterion=criterion,
        answer=answer,
        preface=criterion.answers[0].sentences[0] if is_pooled_in_vain else "",
        table=table,
        outcome=table.columns[0].title,
        rows=[_board_row(row, axis, _dialogs_of(row, table, criterion, dialogs)) for row in table.rows],
        ticks=[(_place(tick, axis), _tick_text(tick, step, table)) for tick in _ticks(axis, step)],
        ceiling=_place(human[0].cells[0].number, axis) if human else "",
        has_letters=any(row.head.letters for row in table.rows),
        counts_more_human=any(
            row.head.is_human and row.cells[1].number != criterion.size.human_ratings
            for row in criterion.leaderboards[0].rows
        ),
        order_of=first.title,
        is_in_other_order=_ranks(table) != sorted(_ranks(table)),
        datasets=[Choice(one.title, None if one is first else one.dataset, one is table) for one, _ in pairs],
        criteria=[
            Choice(one.title.capitalize(), None if one is report.criteria[0] else one.criterion, one is criterion)
            for one in report.criteria
        ],
    )


def _has_numbers(table: Table) -> bool:
    return any(not row.cells[0].undefined for row in table.rows if not row.head.is_human)


def _ranks(table: Table) -> list[int]:
    return [row.head.rank for row in table.rows if row.head.rank is not None]


def _dialogs_of(row: Row, table: Table, criterion: CriterionReport, dialogs: str) -> str:
    """Return the address of the dialogs behind a row. The human reply is counted under other rules than the list."""
    if not dialogs or row.head.is_human:
        return ""
    chosen = DialogFilter(criterion.criterion, row.head.names[0], dataset=table.dataset or "")
    return f"{dialogs}{chosen.as_query()}"


def _board_row(row: Row, axis: tuple[float, float], href: str) -> BoardRow:
    outcome, ratings, *_ = row.cells
    dot = None
    if not outcome.undefined:
        dot = Dot(_place(outcome.number, axis))
        if isinstance(outcome.interval, Interval):
            dot = Dot(dot.at, _place(outcome.interval.low, axis), _place(outcome.interval.high, axis))
    return BoardRow(
        rank=str(row.head.rank or ""),
        name=row.head.names[0],
        is_human=row.head.is_human,
        letters=row.head.letters,
        outcome=written_cell(outcome),
        dot=dot,
        ratings=f"{ratings.number:,}",
        href=href,
    )


# --- The axis of the dot plots ---------------------------------------------------------------------------------------


def _axis(table: Table) -> tuple[tuple[float, float], float]:
    """Return round ends that hold every dot and interval, so that small differences can still be seen, and the step
    from tick to tick."""
    ends: list[float] = []
    for row in table.rows:
        cell = row.cells[0]
        if not cell.undefined:
            ends.append(cell.number)
        if isinstance(cell.interval, Interval):
            ends += [cell.interval.low, cell.interval.high]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    step = _step(low, high)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (low, high if high > low else low + step), step


def _step(low: float, high: float) -> float:
    return next(
        (step for step in STEPS if (high - low) / step <= MOST_TICKS - 1), 10 ** math.floor(math.log10(high - low))
    )


def _ticks(axis: tuple[float, float], step: float) -> list[float]:
    low, high = axis
    return [low + step * index for index in range(round((high - low) / step) + 1)]


def _tick_text(tick: float, step: float, table: Table) -> str:
    """Write a tick with as many decimals as its step has: 2.25 is not 2.2, and 100 is not 1e+02."""
    cells = [row.cells[0] for row in table.rows]
    is_share = bool(cells) and cells[0].kind is Kind.SHARE
    factor = 100 if is_share else 1
    decimals = next(decimals for decimals in range(9) if abs(round(factor * step, decimals) - factor * step) < 1e-9)
    return f"{factor * tick:.{decimals}f}{' %' if is_share else ''}"


def _place(value: float, axis: tuple[float, float]) -> str:
    low, high = axis
    # Some room at both ends, so that a dot at the end is whole.
    return f"{3 + 94 * (value - low) / (high - low):.2f}%"


# --- The same as a file ----------------------------------------------------------------------------------------------


def leaderboard_file(board: Board, report: Report, name: str) -> HttpResponse:
    response = HttpResponse(leaderboard_csv(board, report), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}-leaderboard.csv"'
    return response


def leaderboard_csv(board: Board, report: Report) -> str:
    """Write the table as CSV. Every row says what a reader has to know of it: its dataset and criterion, and whether
    it is simulated, interim or of several offerings."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([*COLUMNS, "dataset", "criterion", "note"])
    together = f"Offerings put together, which is exploratory: {report.together}." if report.together else ""
    note = " ".join(filter(None, [report.origin.warning, describe_progress(report.progress), together]))
    for row in board.table.rows:
        outcome, *sizes = row.cells
        writer.writerow(
            [
                row.head.rank or "",
                cell_of(row.head.names[0]),
                cell_of(board.outcome),
                *_numbers(outcome),
                row.head.letters,
                *(one.number for one in sizes),
                cell_of(board.table.title),
                cell_of(board.criterion.criterion),
                cell_of(" ".join(filter(None, [note, f"undefined: {outcome.undefined}" if outcome.undefined else ""]))),
            ]
        )
    return buffer.getvalue()


def _numbers(cell: Cell) -> list[str]:
    if cell.undefined:
        return ["", "", ""]
    ends = [cell.interval.low, cell.interval.high] if isinstance(cell.interval, Interval) else []
    return [f"{number:.6g}" for number in (cell.number, *ends)] + [""] * (2 - len(ends))
