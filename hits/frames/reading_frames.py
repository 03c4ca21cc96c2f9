"""Reads both frames of a study, and picks single cards, answers and criteria from them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from hits.frames.rating_rows import ratings_from
from hits.frames.study_tables import StudyTables
from hits.frames.submissions_frame import submissions_from
from hits.models import Offering

PREFERRED = ("the first place", "both alike", "another place")


@dataclass(frozen=True)
class Frames:
    """Both frames of the same work. `cards` has one row of the ratings for each card, `answers` one for each dialog
    that a worker answered."""

    ratings: pd.DataFrame
    submissions: pd.DataFrame

    @cached_property
    def by_criterion(self) -> list["Frames"]:
        """The same work split into one pair of frames for each criterion."""
        criterion = self.ratings["criterion"]
        names = [name for name in criterion.cat.categories if (criterion == name).any()]
        if len(names) <= 1:
            return [self]
        return [Frames(self.ratings[criterion == name], self.submissions) for name in names]

    @cached_property
    def cards(self) -> pd.DataFrame:
        return self.ratings[self.ratings["is_first_of_card"]]

    @cached_property
    def cards_by_place(self) -> pd.DataFrame:
        """The cards. In a comparison, `value` says which place on the page was preferred, whatever stood there."""
        is_compared = self.cards["opponent"].notna()
        if not is_compared.any():
            return self.cards
        cards = self.cards[is_compared]
        gain = np.sign(cards["score"].to_numpy()) * np.where(cards["place"] == 0, 1, -1)
        return cards.assign(value=pd.Categorical.from_codes(1 - gain, categories=pd.Index(PREFERRED)))

    @cached_property
    def answers(self) -> pd.DataFrame:
        return self.ratings[~self.ratings.duplicated(["submission", "item"])]


def study_frames(offering: Offering) -> Frames:
    """Read both frames, which takes little longer than reading one."""
    tables = StudyTables(offering)
    return Frames(ratings_from(tables), submissions_from(tables))
