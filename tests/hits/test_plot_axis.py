"""The axis of the leaderboard's dot plots: its ticks are written as exactly as they stand."""

from dataclasses import replace

import pytest
from django.http import QueryDict

from hits.analysing import analyse, report_of
from hits.analysing.report import Cell, Kind
from hits.stats import Interval
from hits.views.leaderboard import leaderboard_of
from tests.hits.stats.small_frames import drawn_frame


@pytest.mark.parametrize(
    ("kind", "low", "high", "ticks"),
    [
        (Kind.SCORE, 2.26, 2.39, ["2.25", "2.30", "2.35", "2.40"]),
        (Kind.SCORE, 52, 108, ["40", "60", "80", "100", "120"]),
        (Kind.SHARE, 0.41, 0.79, ["40 %", "50 %", "60 %", "70 %", "80 %"]),
    ],
)
def test_ticks_are_written_with_the_decimals_of_their_step(
    kind: Kind, low: float, high: float, ticks: list[str]
) -> None:
    report = report_of(analyse(drawn_frame(seed=1, A=(0.5, 0.3, 0.2), B=(0.3, 0.3, 0.4))))
    [one] = report.criteria
    [table, *_] = one.leaderboards
    cell = Cell(kind, (low + high) / 2, Interval(low, high))
    rows = tuple(replace(row, cells=(cell, *row.cells[1:])) for row in table.rows)
    shown = replace(
        report, criteria=(replace(one, leaderboards=(replace(table, rows=rows),), answers=one.answers[:1]),)
    )

    board = leaderboard_of(shown, QueryDict())

    assert board is not None
    assert [text for _, text in board.ticks] == ticks
