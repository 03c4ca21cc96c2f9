"""Ratings written by hand, and drawn from the crowd's model."""

import pandas as pd

from hits.frames import build_ratings, categories_from_codes
from hits.stats import CodedRatings, Effects, code_ratings
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth

GENERATORS = ("A", "B", "C", "D")


def ratings_frame_of(dialogs: dict[int, dict[str, str]], dataset: str = "ED") -> pd.DataFrame:
    """{1: {"w1": "gob"}}: in dialog 1, worker w1 put A into good, B into okay, C into bad. "-" is no rating."""
    rows = [
        (worker, dialog, card, "gob".index(letter))
        for dialog, answers in dialogs.items()
        for worker, letters in answers.items()
        for card, letter in enumerate(letters)
        if letter != "-"
    ]
    workers, numbers, cards, values = (list(column) for column in zip(*rows, strict=True))
    width = max(len(letters) for answers in dialogs.values() for letters in answers.values())
    said = {"worker": workers, "dialog": numbers, "card": cards, "value": values, "dataset": dataset}
    frame = build_ratings({"submission": 0, "generator": categories_from_codes(cards, GENERATORS[:width]), **said})
    return frame[["worker", "dialog", "dataset", "generator", "value", "score"]]


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


def rated_frame(*ratings: tuple[str, str, str, str]) -> pd.DataFrame:
    """A frame of a few ratings: dialog, worker, generator, value."""
    dialog, worker, generator, value = zip(*ratings, strict=True)
    scores = {"good": 3.0, "okay": 2.0, "bad": 1.0}
    return pd.DataFrame(
        {
            "worker": worker,
            "dialog": pd.factorize(pd.Series(dialog))[0],
            "dataset": "all",
            "generator": pd.Categorical(generator),
            "value": pd.Categorical(value, categories=list(scores)),
            "score": [scores[one] for one in value],
        }
    )
