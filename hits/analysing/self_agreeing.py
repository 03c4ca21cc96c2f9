"""Adds to results how far workers agree with themselves, from what they said twice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from hits.access import pseudonym
from hits.analysing.results import Results
from hits.frames import NameWorker, named_by_crowd, said_twice_frame
from hits.models import Offering
from hits.screening import kept_mask, mark_exclusions, pooled_submissions_by_rule
from hits.stats import CriterionScale, self_agreement


def twice_in(offerings: Sequence[Offering], name_worker: NameWorker | None = None) -> pd.DataFrame:
    """Return what was said twice in these offerings of one study, marked by what screening excludes. Workers of several
    offerings are named by their crowd as well, as everywhere."""
    parts = []
    for one in offerings:
        name = name_worker or partial(pseudonym, one.study)
        part = said_twice_frame(one, named_by_crowd(one, name) if len(offerings) > 1 else name)
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    mark_exclusions(frame, pooled_submissions_by_rule(offerings))
    return frame


def with_self_agreement(results: Results, twice: pd.DataFrame, scales: Mapping[str, CriterionScale]) -> Results:
    """Return the results with each criterion's self-agreement, of the work that counts. `twice` is the frame of
    hits.frames, with a column for each screening rule. Where nothing came twice, the results stay as they are."""
    if twice.empty:
        return results
    kept = twice[kept_mask(twice)]
    kept = kept.assign(dialog=kept["dataset"].str.cat(kept["external_id"], sep="\x1f"))
    return replace(
        results,
        criteria=tuple(
            replace(one, self_agreement=self_agreement(kept[kept["criterion"] == one.criterion], scales[one.criterion]))
            for one in results.criteria
        ),
    )
