"""A permutation test of paired differences, when one dialog is rated by several workers and a worker rates many
dialogs.

What can be exchanged: if two generators are equally good, nothing tells their replies to a dialog apart, so the two
names may be swapped in any dialog, for all its workers at once. That turns the sign of all differences of the dialog
together. Single differences can't be turned: the workers of a dialog saw the same two replies, of which one may well
be the better one. Nor need a worker's differences be turned together: a strict worker is strict with both replies.

The statistic is the sum of differences divided by its two-way cluster-robust deviation (hits.stats.clusters),
recomputed for every turn:

    T = sum_d s_d S_d / sqrt(V_dialogs + max(0, V_workers(s) - V_answers))        s_d = +1 or -1, S_d the dialog's sum

The test is exact where names can be swapped; since T is studentised it stays right in large studies also where workers
have tastes of their own for one of the generators (Chung and Romano 2013, "Exact and asymptotically robust permutation
tests"). p = (1 + draws at least as extreme) / (1 + draws), so that it is never 0 (Phipson and Smyth 2010).

Ten dialogs, one worker each, all differences 1: only the turns that leave all signs alike are as extreme, 2 of 1,024.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from hits.stats.coded_ratings import Codes

Floats = npt.NDArray[np.float64]

# As many draws as cost this many multiplications, within these, and enough for a family: the smallest p-value that can
# come out, times the number of tests, must be small.
MULTIPLICATIONS = 50_000_000
FEWEST_DRAWS, MOST_DRAWS, DRAWS_PER_TEST = 999, 9_999, 50
CELLS_AT_ONCE = 8_000_000
SLACK = 1e-5  # of single precision: what should be equal counts as extreme


@dataclass(frozen=True)
class Differences:
    """One for each answer."""

    dialog: Codes
    worker: Codes
    difference: Floats


def sign_flip_p_values(pairs: Sequence[Differences], family: int = 1, seed: int = 1) -> list[float]:
    """Two-sided, of several pairs of generators, by the same draws. `family`: how many tests are corrected together."""
    if not pairs:
        return []
    prepared = [_Prepared.of(pair) for pair in pairs]
    most = max(one.by_worker.nnz for one in prepared)
    fewest = max(FEWEST_DRAWS, DRAWS_PER_TEST * family - 1)
    draws = max(fewest, min(MULTIPLICATIONS // max(most, 1), MOST_DRAWS))
    dialogs = max(one.dialogs for one in prepared)
    rng = np.random.Generator(np.random.SFC64(seed))
    at_once = max(1, min(draws, CELLS_AT_ONCE // max(dialogs, 1)))
    extreme = np.zeros(len(pairs), np.int64)
    for start in range(0, draws, at_once):
        signs = _signs(rng, (dialogs, min(at_once, draws - start)))
        extreme += [one.count_extreme(signs) for one in prepared]
    return [float((1 + count) / (1 + draws)) for count in extreme]


def _signs(rng: np.random.Generator, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """+1 or -1: a random first bit before those of 1.0, which takes half the time of any arithmetic."""
    bits = rng.integers(0, 2**32, shape, dtype=np.uint32)
    bits &= np.uint32(0x80000000)
    bits |= np.uint32(0x3F800000)
    return bits.view(np.float32)


@dataclass(frozen=True)
class _Prepared:
    by_worker: csr_array  # worker x dialog
    sums: npt.NDArray[np.float32]  # by dialog
    of_dialogs: float
    of_answers: float
    dialogs: int

    @staticmethod
    def of(pair: Differences) -> "_Prepared":
        """Without answers that see no difference: they add nothing to any sum. Dialogs keep their codes, so that all
        pairs are turned by the same signs."""
        some = pair.difference != 0
        difference = pair.difference[some].astype(np.float32)
        worker = pd.factorize(pair.worker[some])[0]
        dialogs = int(pair.dialog.max(initial=-1)) + 1
        shape = (int(worker.max(initial=-1)) + 1, dialogs)
        sums = np.bincount(pair.dialog[some], weights=difference, minlength=dialogs)
        return _Prepared(
            csr_array((difference, (worker, pair.dialog[some])), shape=shape),
            sums.astype(np.float32),
            float(sums @ sums),
            float(difference @ difference),
            dialogs,
        )

    def count_extreme(self, signs: npt.NDArray[np.float32]) -> int:
        if self.of_dialogs == 0:
            return signs.shape[1]
        found = self._statistics(np.ones((self.dialogs, 1), np.float32))[0]
        drawn = self._statistics(signs[: self.dialogs])
        return int((np.abs(drawn) >= abs(found) * (1 - SLACK)).sum())

    def _statistics(self, signs: npt.NDArray[np.float32]) -> Floats:
        by_worker = self.by_worker @ signs
        of_workers = np.einsum("wb,wb->b", by_worker, by_worker).astype(np.float64)
        total = (self.sums @ signs).astype(np.float64)
        variance = self.of_dialogs + np.maximum(of_workers - self.of_answers, 0)
        return np.asarray(total / np.sqrt(variance))


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number: the i-th smallest of m times m - i + 1, none below a smaller one's (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = highest
    return corrected
