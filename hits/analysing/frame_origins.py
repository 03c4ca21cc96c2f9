"""Counts where the ratings of a frame came from: people or not, and which offering.

In: a ratings frame, of one offering or of several put together, or a bundle's. Out: the origins, and what each offering
brought. Guaranteed: a frame that does not say where its work came from was made elsewhere, and has neither.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from hits.analysing.origin_words import Origin
from hits.analysing.results import OfferingPart
from hits.screening import kept_mask


def origin_in(frame: pd.DataFrame) -> Origin:
    """Count where the frame's submissions came from. A frame without the column was made elsewhere."""
    if "origin" not in frame:
        return Origin()
    column = frame["origin"].astype("category")
    names, codes = list(column.cat.categories), column.cat.codes.to_numpy(np.int64)
    # As one number: of a submission with two origins, as a forged file may have, both count.
    submissions = frame["submission" if "submission" in frame else "assignment"]  # a bundle calls them assignments
    first = ~pd.Series(submissions.to_numpy() * (len(names) + 1) + codes).duplicated().to_numpy()
    counts = np.bincount(codes[first & (codes >= 0)], minlength=len(names))
    return Origin(**{str(name): int(count) for name, count in zip(names, counts, strict=True)})


def offerings_in(frame: pd.DataFrame) -> Iterator[OfferingPart]:
    """Count what each offering brought, and what screening keeps of it."""
    if "offering" not in frame:
        return
    is_kept = kept_mask(frame)
    numbers = "submission" if "submission" in frame else "assignment"
    frame = frame[[name for name in (numbers, "worker", "dialog", "generator", "offering", "origin") if name in frame]]
    for code, name in enumerate(frame["offering"].cat.categories):
        is_here = (frame["offering"].cat.codes == code).to_numpy()
        part, kept = frame[is_here], frame[is_here & is_kept]
        of_models = kept[kept["generator"].notna()]
        yield OfferingPart(
            str(name),
            origin_in(part),
            assignments=int(part[numbers].nunique()),
            kept_assignments=int(kept[numbers].nunique()),
            workers=int(kept["worker"].nunique()),
            dialogs=int(kept["dialog"].nunique()),
            ratings=len(of_models),
        )
