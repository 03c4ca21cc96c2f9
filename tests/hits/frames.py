"""Small frames made by hand: what workers said, letter by letter."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from hits.collecting import CONTROL_COUNTS
from hits.frames import Frames, build_ratings, build_submissions

AREAS = {"g": "good", "o": "okay", "b": "bad"}
CHECKPOINTS = 3


@dataclass
class Work:
    """A submission. `dialogs` has a word for each dialog: "gob" puts its cards into good, okay and bad.

    The letters are in the cards' own order; `turned` says by how many places each dialog's cards were turned on the
    page. Everybody who works on the same HIT sees the same cards.
    """

    worker: str
    dialogs: Sequence[str]
    hit: int = 0
    turned: Sequence[int] = ()
    seconds: Sequence[float] = ()  # by dialog; a minute and a half each unless said otherwise
    hidden_seconds: Sequence[float] = ()
    work_seconds: float = 0  # their sum unless said otherwise
    points: int = CHECKPOINTS
    first_points: int = CHECKPOINTS
    attempts: int = CHECKPOINTS
    passed_checks: int = CHECKPOINTS
    moved_checks: int = 0
    attention: tuple[int, int] = (0, 0)  # checks, and how many of them were obeyed
    twice: tuple[int, int] = (0, 0)  # answers that were asked for twice, and how many were the same
    merged: Sequence[int] = field(default_factory=list)  # cards that stand for two models


def frames_of(*works: Work) -> Frames:
    ratings = [row for number, work in enumerate(works, start=1) for row in _rating_rows(number, work)]
    submissions = [_submission_row(number, work) for number, work in enumerate(works, start=1)]
    workers = sorted({work.worker for work in works})
    return Frames(
        build_ratings(_columns(ratings, workers), list(AREAS.values())),
        build_submissions(_columns(submissions, workers)),
    )


def _columns(rows: list[dict[str, Any]], workers: list[str]) -> dict[str, Any]:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return columns | {"worker": pd.Categorical(columns["worker"], categories=workers)}


def _rating_rows(number: int, work: Work) -> list[dict[str, Any]]:
    return [
        {
            "submission": number,
            "worker": work.worker,
            "hit": work.hit,
            "dialog": 100 * work.hit + position,
            "position": position,
            "card": card,
            "place": (card + (work.turned[position] if work.turned else 0)) % len(letters),
            "is_first_of_card": model == 0,
            "value": list(AREAS).index(letter),
            "active_ms": int(1000 * _seconds(work)[position]),
            "hidden_ms": int(1000 * work.hidden_seconds[position]) if work.hidden_seconds else 0,
        }
        for position, letters in enumerate(work.dialogs)
        for card, letter in enumerate(letters)
        for model in range(2 if card in work.merged else 1)
    ]


def _submission_row(number: int, work: Work) -> dict[str, Any]:
    return {
        "submission": number,
        "worker": work.worker,
        "hit": work.hit,
        "dialogs": len(work.dialogs),
        "active_seconds": float(sum(_seconds(work))),
        "work_seconds": float(work.work_seconds or sum(_seconds(work))),
        "checkpoints": CHECKPOINTS,
        "points": work.points,
        "first_points": work.first_points,
        "attempts": work.attempts,
        "passed_checks": work.passed_checks,
        "moved_checks": work.moved_checks,
        **dict(zip(CONTROL_COUNTS, (*work.attention, *work.twice), strict=True)),
    }


def _seconds(work: Work) -> Sequence[float]:
    return work.seconds or [90.0] * len(work.dialogs)
