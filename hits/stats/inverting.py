"""Inverts symmetric matrices that leave one direction open: effects and strengths are known only by differences.

numpy counts an eigenvalue as zero below 1e-15 of the largest one. Rounding alone can be above that: on one processor
and not on another, the open direction was then divided by noise, and effects were wrong in the third digit.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

AS_GOOD_AS_ZERO = 1e-10  # of the largest eigenvalue. Sums of counts have rounding errors of about 1e-14.


def pseudo_inverse(symmetric: Floats) -> Floats:
    """Return Moore and Penrose's inverse; eigenvalues that differ from zero by rounding only count as zero.

    >>> pseudo_inverse(np.array([[1.0, -1.0], [-1.0, 1.0 + 1e-13]])).round(6).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    return np.asarray(np.linalg.pinv(symmetric, rcond=AS_GOOD_AS_ZERO, hermitian=True))
