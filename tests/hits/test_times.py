"""What a browser told of its times, and how much of it our clock and the marketplace's allow."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.collecting import bounded_times, span_seconds

BEGIN = datetime(2026, 11, 16, 8, tzinfo=UTC)

Row = tuple[int, int, int, int]  # which assignment, saved after so many ms, active, hidden


def bounded(rows: list[Row], span_ms: float = np.inf) -> list[tuple[int, int]]:
    group, saved, active, hidden = (np.array(column) for column in zip(*rows, strict=True))
    times = bounded_times(group, saved.astype(float), np.full(len(rows), span_ms), active, hidden)
    return [(int(one), int(other)) for one, other in zip(*times, strict=True)]


def test_what_the_clock_allows_stays_as_it_was_told() -> None:
    told = [(0, 61_000, 50_000, 10_000), (0, 125_000, 60_000, 0), (1, 20_000, 20_000, 0)]

    assert bounded(told) == [(50_000, 10_000), (60_000, 0), (20_000, 0)]


def test_450_seconds_in_each_of_ten_dialogs_within_40_milliseconds_are_4_milliseconds_each() -> None:
    assert bounded([(0, 40, 450_000, 0)] * 10) == [(4, 0)] * 10


def test_450_seconds_in_each_of_ten_dialogs_within_500_seconds_are_50_seconds_each() -> None:
    assert bounded([(0, 500_000, 450_000, 0)] * 10) == [(50_000, 0)] * 10


def test_the_marketplaces_clock_bounds_what_ours_would_allow() -> None:
    assert bounded([(0, 500_000, 50_000, 50_000)] * 5, span_ms=250_000) == [(25_000, 25_000)] * 5


def test_time_that_passes_later_is_not_given_to_dialogs_that_were_saved_before() -> None:
    """Half of the dialogs at once with a lie, then waiting, then the others honestly."""
    early, late = [(0, 1_000, 45_000, 0)] * 5, [(0, 1_000 + 20_000 * (n + 1), 20_000, 0) for n in range(5)]

    times = [active for active, _ in bounded([*early, *late])]

    assert times[:5] == [200] * 5
    assert sum(times) <= 101_000


def test_a_dialog_that_was_looked_at_again_at_the_end_keeps_its_time() -> None:
    rows = [(0, 300_000, 100_000, 0), (0, 150_000, 50_000, 0), (0, 250_000, 100_000, 0)]

    assert [active for active, _ in bounded(rows)] == [100_000, 50_000, 100_000]


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**9), st.integers(0, 10**9)),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(0, 10**6))
def test_at_no_moment_do_saved_dialogs_have_more_time_than_the_clocks(rows: list[Row], span_ms: int) -> None:
    times = bounded(rows, span_ms)

    for group, saved_ms, *_ in rows:
        until = [sum(time) for time, row in zip(times, rows, strict=True) if row[0] == group and row[1] <= saved_ms]
        assert sum(until) <= min(saved_ms, span_ms) + len(until)  # rounding
    for (active, hidden), (_, _, told_active, told_hidden) in zip(times, rows, strict=True):
        assert 0 <= active <= told_active
        assert 0 <= hidden <= told_hidden


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"), [(60, 90, 60), (90, 60, 60), (None, 60, 60), (60, None, 60), (-5, 60, 0)]
)
def test_the_clock_that_allows_less_decides(ours: int | None, theirs: int | None, expected: float) -> None:
    def after(seconds: int | None) -> datetime | None:
        return None if seconds is None else BEGIN + timedelta(seconds=seconds)

    assert span_seconds(BEGIN, after(ours), BEGIN, after(theirs)) == expected
