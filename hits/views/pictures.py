"""Draws the monitor's picture of submissions per hour: coordinates for an SVG, and the same in words."""

from dataclasses import dataclass
from datetime import datetime

from evalplatform.wording import count_of
from hits.monitoring import HOUR, Pace

BAR_WIDTH, HEIGHT = 10, 100
FEWEST_BARS = 12


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Picture:
    """Bars without words, so that the picture may be stretched; the words stand around it."""

    width: int
    height: int
    bars: list[Bar]
    starts_at: datetime
    pace: Pace
    caption: str


def pace_picture(pace: Pace) -> Picture:
    most = pace.busiest.count or 1
    # Show at least half a day, with the first hours at its right end: else a single bar would fill the picture.
    empty = max(0, FEWEST_BARS - len(pace.bins))
    bars = []
    for number, one in enumerate(pace.bins, start=empty):
        height = round(HEIGHT * one.count / most, 2)
        label = f"{one.starts_at:%d %b %H:%M}: {one.count / pace.hours_per_bin:.3g} per hour"
        bars.append(Bar(number * BAR_WIDTH + 1, round(HEIGHT - height, 2), BAR_WIDTH - 2, height, label))
    starts_at = pace.bins[0].starts_at - empty * pace.hours_per_bin * HOUR
    return Picture(BAR_WIDTH * (empty + len(bars)), HEIGHT, bars, starts_at, pace, _in_words(pace))


def _in_words(pace: Pace) -> str:
    first, last = f"{pace.bins[0].starts_at:%d %b %Y %H:%M}", f"{pace.ends_at:%d %b %Y %H:%M}"
    busiest = f"{pace.busiest.starts_at:%d %b %H:%M}"
    bars = "one hour" if pace.hours_per_bin == 1 else f"{pace.hours_per_bin} hours"
    return (
        f"{count_of(pace.total, 'submission')} from {first} to {last} UTC, {pace.mean_per_hour:.3g} an hour on average "
        f"and at most {pace.most_per_hour:.3g} an hour, from {busiest} on. A bar is {bars}."
    )
