"""Puts the ratings of several offerings into one frame, with a column that says which offering each row is of.

The columns are those of rating_rows.py and this one:

    offering          category  the offering's marketplace, in the given order

Guaranteed: a worker of two crowds is two workers, since nobody can know whether one id on two crowds is one person. On
one crowd, the same id is the same worker in all its environments.
"""

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from hits.access import pseudonym
from hits.frames.arrays import category
from hits.frames.rating_rows import ratings_from
from hits.frames.study_tables import NameWorker, StudyTables
from hits.models import Offering


def pooled_ratings_frame(offerings: Sequence[Offering], columns: Collection[str] | None = None) -> pd.DataFrame:
    """Read the ratings of all these offerings of one study, one offering after the other."""
    named = [(one, named_by_crowd(one, partial(pseudonym, one.study))) for one in offerings]
    parts = [ratings_from(StudyTables(one, name_worker), columns) for one, name_worker in named]
    workers = union_categoricals([part["worker"] for part in parts], sort_categories=True)
    frame = pd.concat([part.drop(columns="worker") for part in parts], ignore_index=True)
    frame["worker"] = workers
    codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    frame["offering"] = category(codes, [one.marketplace for one in offerings])
    return frame


def named_by_crowd(offering: Offering, name_worker: NameWorker) -> NameWorker:
    """Name workers by their crowd as well: W-1234ABCD on Prolific is `W-1234ABCD.prolific`."""
    return lambda worker_id: f"{name_worker(worker_id)}.{offering.crowd}"
