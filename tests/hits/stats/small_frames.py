"""Ratings written by hand, and drawn from the crowd's model."""

import pandas as pd

from hits.stats.coded_ratings import CodedRatings, code_ratings
from hits.stats.power import Effects
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

SCORES = {"g": 3, "o": 2, "b": 1}
AREAS = {"g": "good", "o": "okay", "b": "bad"}
GENERATORS = ("A", "B", "C", "D")


def ratings_frame_of(dialogs: dict[int, dict[str, str]], dataset: str = "ED") -> pd.DataFrame:
    """{1: {"w1": "gob"}}: in dialog 1, worker w1 put A into good, B into okay, C into bad. "-" is no rating."""
    rows = [
        (worker, dialog, dataset, GENERATORS[place], AREAS[letter], SCORES[letter])
        for dialog, answers in dialogs.items()
        for worker, letters in answers.items()
        for place, letter in enumerate(letters)
        if letter != "-"
    ]
    frame = pd.DataFrame(rows, columns=["worker", "dialog", "dataset", "generator", "value", "score"])
    width = max(len(letters) for answers in dialogs.values() for letters in answers.values())
    frame["generator"] = pd.Categorical(frame["generator"], categories=GENERATORS[:width])
    frame["value"] = pd.Categorical(frame["value"], categories=list(AREAS.values()))
    return frame


def ratings_of(dialogs: dict[int, dict[str, str]]) -> CodedRatings:
    return code_ratings(ratings_frame_of(dialogs))


def drawn_frame(
    seed: int, dialogs: int = 120, workers: int = 24, effects: Effects | None = None, **shares: tuple[float, ...]
) -> pd.DataFrame:
    """One dataset, ED. `shares` of good, okay and bad by generator; two alike unless said otherwise."""
    generators = shares or {"A": (0.3, 0.3, 0.4), "B": (0.3, 0.3, 0.4)}
    truth = Truth(generators=generators, effects=effects or Effects())
    size = StudySize({"ED": dialogs}, list(generators), workers)
    return draw_frames(Drawing(size, truth), seed).ratings
