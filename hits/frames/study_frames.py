"""Both frames of a study's work."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from hits.frames.ratings_frame import ratings_from
from hits.frames.study_tables import StudyTables
from hits.frames.submissions_frame import submissions_from
from hits.models import Offering


@dataclass(frozen=True)
class Frames:
    """Both frames of the same work. `cards` has one row of the ratings for each card, `answers` one for each dialog."""

    ratings: pd.DataFrame
    submissions: pd.DataFrame

    @cached_property
    def cards(self) -> pd.DataFrame:
        return self.ratings[self.ratings["is_first_of_card"]]

    @cached_property
    def answers(self) -> pd.DataFrame:
        return self.ratings[~self.ratings.duplicated(["submission", "item"])]


def study_frames(offering: Offering) -> Frames:
    """Both, for little more than the price of one."""
    tables = StudyTables(offering)
    return Frames(ratings_from(tables), submissions_from(tables))
