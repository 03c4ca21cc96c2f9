"""A study's own results."""

import pandas as pd

from hits.analysing.analysis import EXCLUDED_BY, analyse
from hits.analysing.automatic import add_metrics, metrics_of
from hits.analysing.results import Results
from hits.frames.ratings_frame import reply_labels
from hits.models import Study
from hits.screening.keeping import named_frame


def analyse_study(study: Study, environment: str) -> Results:
    """By the current screening; without one, everything is kept."""
    return analyse(study_frame(study, environment))


def study_frame(study: Study, environment: str) -> pd.DataFrame:
    """With all that an analysis can use: which rules leave a rating out, what the reply was predicted to be, and what
    automatic metrics say of it."""
    frame = named_frame(study, environment, EXCLUDED_BY)
    frame["label"] = reply_labels(study, frame["candidate"].to_numpy())
    add_metrics(frame, metrics_of(study))
    return frame
