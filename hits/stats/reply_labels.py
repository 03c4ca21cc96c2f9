"""Computes the paper's figure 5: which emotions and intents were predicted for replies rated good, okay and bad.

    share = ratings of this value whose reply has this label / ratings of this value whose reply has a label

"For responses ... that are rated as good, we gathered the predicted emotions/intents and calculated a probability
distribution over the 41 categories" (Xie and Pu 2021, section 5.4.2). A reply that was rated good twice counts twice.
Intervals are those of hits.stats.share_intervals.

Three ratings of good, two of them of replies labelled questioning: the share of questioning among good is 2/3.
"""

import numpy as np

from hits.stats.clusters import Clusters, spread_of_shares
from hits.stats.coded_ratings import CodedRatings, Codes
from hits.stats.estimates import Undefined
from hits.stats.outcomes import Labels, LabelShare
from hits.stats.share_intervals import share_interval

NO_LABEL = -1


def label_distributions(ratings: CodedRatings, label: Codes, names: tuple[str, ...]) -> list[Labels]:
    """Return the labels' shares for each value. `label` has a code for each rating, NO_LABEL if the reply has none."""
    has_label = (ratings.generator >= 0) & (label != NO_LABEL)
    rows, label = ratings.of(has_label), label[has_label]
    found = []
    for generator in (None, *range(len(ratings.generators))):
        for value, word in enumerate(ratings.values):
            here = rows.value == value
            here &= True if generator is None else rows.generator == generator
            name = None if generator is None else ratings.generators[generator]
            found.append(Labels(name, word, int(here.sum()), _shares(rows.of(here), label[here], names)))
    return found


def _shares(rows: CodedRatings, label: Codes, names: tuple[str, ...]) -> tuple[LabelShare, ...] | Undefined:
    if not len(rows):
        return Undefined("no rated reply has a predicted emotion or intent")
    counts = np.bincount(label, minlength=len(names))
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    spread = spread_of_shares(label, len(names), Clusters.of_ratings(rows))
    shares = counts / len(label)
    fewest = min(rows.dialog_count, rows.worker_count)
    return tuple(
        LabelShare(
            names[code],
            int(counts[code]),
            float(shares[code]),
            share_interval(float(shares[code]), spread, code, fewest),
        )
        for code in order
    )
