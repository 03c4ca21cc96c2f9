"""Makes Wilcoxon's signed-rank test of paired differences, exactly if there are few of them.

Zeros are ranked and then left out (Pratt 1959, Remarks on zeros and ties in the Wilcoxon signed rank procedures, JASA
54). With up to 13 differences, we go through all signs that they could have had; scipy does the same one by one, in
seconds rather than a millisecond. With more, we use scipy's normal approximation (exact up to 50 without ties).

>>> signed_rank_p_value(np.array([1.0, 2.0, 3.0]))  # of 8 equally likely signs, 2 are as extreme
0.25
"""

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, wilcoxon

MOST_GONE_THROUGH = 13
SLACK = 1e-9  # ranks are multiples of one half, so anything closer is equal


def signed_rank_p_value(differences: npt.NDArray[np.float64]) -> float:
    """Return the two-sided p-value. At least one difference must not be zero."""
    if len(differences) > MOST_GONE_THROUGH:
        return float(wilcoxon(differences, zero_method="pratt").pvalue)
    ranks = rankdata(np.abs(differences))[differences != 0]
    signs = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    from_middle = np.abs(signs @ ranks - ranks.sum() / 2)
    found = abs(ranks[differences[differences != 0] > 0].sum() - ranks.sum() / 2)
    return float((from_middle >= found - SLACK).mean())
