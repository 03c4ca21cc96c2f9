"""Tests paired differences by permutation over dialogs, and corrects p-values for their number (Holm).

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
MULTIPLICATIONS = 25_000_000
FEWEST_DRAWS, MOST_DRAWS, DRAWS_PER_TEST = 999, 4_999, 50
CELLS_AT_ONCE = 8_000_000
SLACK = 1e-5  # allows for rounding in single precision: a draw that should be equal counts as extreme


@dataclass(frozen=True)
class Differences:
    """A difference for each answer. Each dialog belongs to one part, for example a dataset."""

    dialog: Codes
    worker: Codes
    part: Codes
    difference: Floats


@dataclass(frozen=True)
class SignFlips:
    """P-values by pair of generators (rows), for each part by itself and then for all parts together (columns). `floor`
    is the smallest that these draws can give."""

    p_values: Floats
    floor: float


def sign_flip_test(pairs: Sequence[Differences], part_count: int = 1, family: int = 1, seed: int = 1) -> SignFlips:
    """Test several pairs of generators, two-sided and all by the same draws. `family` says how many tests are corrected
    together at most."""
    extreme = np.zeros((len(pairs), part_count + 1))
    if not pairs:
        return SignFlips(extreme, 0.0)
    prepared = [_Prepared.of(pair, part_count) for pair in pairs]
    most = max(one.by_worker.nnz for one in prepared)
    fewest = max(FEWEST_DRAWS, DRAWS_PER_TEST * family - 1)
    draws = max(fewest, min(MULTIPLICATIONS // max(most, 1), MOST_DRAWS))
    dialogs = max(one.dialogs for one in prepared)
    rng = np.random.Generator(np.random.SFC64(seed))
    at_once = max(1, min(draws, CELLS_AT_ONCE // max(dialogs, 1)))
    for start in range(0, draws, at_once):
        signs = _signs(rng, (dialogs, min(at_once, draws - start)))
        extreme += [one.count_extreme(signs) for one in prepared]
    return SignFlips(np.asarray((1 + extreme) / (1 + draws)), 1 / (1 + draws))


def _signs(rng: np.random.Generator, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Draw +1 or -1, by putting a random sign bit before the bits of 1.0: twice as fast as any arithmetic."""
    bits = rng.integers(0, 2**32, shape, dtype=np.uint32)
    bits &= np.uint32(0x80000000)
    bits |= np.uint32(0x3F800000)
    return bits.view(np.float32)


@dataclass(frozen=True)
class _Prepared:
    """Sums of squares have a number for each part, and then that of all: dialogs and answers are in one part each."""

    by_worker: csr_array  # (part, worker) x dialog
    by_part: csr_array  # part x dialog
    of_dialogs: Floats
    of_answers: Floats
    parts: int
    dialogs: int

    @staticmethod
    def of(pair: Differences, parts: int) -> "_Prepared":
        """Prepare a pair, without answers that see no difference, since those add nothing to any sum. Dialogs keep
        their codes, so that the same signs turn all pairs."""
        some = pair.difference != 0
        difference, dialog, part = pair.difference[some].astype(np.float32), pair.dialog[some], pair.part[some]
        worker, workers = pd.factorize(pair.worker[some])
        dialogs = int(pair.dialog.max(initial=-1)) + 1
        by_part = csr_array((difference, (part, dialog)), shape=(parts, dialogs))
        by_part.sum_duplicates()
        indexes = part.astype(np.int64) * len(workers) + worker
        squares = np.array([float(row @ row) for row in np.split(by_part.data, by_part.indptr[1:-1])])
        of_answers = np.bincount(part, weights=difference**2, minlength=parts)
        return _Prepared(
            csr_array((difference, (indexes, dialog)), shape=(parts * len(workers), dialogs)),
            by_part,
            np.append(squares, squares.sum()),
            np.append(of_answers, of_answers.sum()),
            parts,
            dialogs,
        )

    def count_extreme(self, signs: npt.NDArray[np.float32]) -> Floats:
        """Count the draws that are at least as extreme, by part and for all parts together."""
        found = np.abs(self._statistics(np.ones((self.dialogs, 1), np.float32)))
        drawn = np.abs(self._statistics(signs[: self.dialogs]))
        return np.asarray((drawn >= found * (1 - SLACK)).sum(axis=1), np.float64)

    def _statistics(self, signs: npt.NDArray[np.float32]) -> Floats:
        by_worker = (self.by_worker @ signs).reshape(self.parts, -1, signs.shape[1])
        of_workers = _with_sum(np.einsum("pwb,pwb->pb", by_worker, by_worker), _squares(by_worker.sum(axis=0)))
        totals = self.by_part @ signs
        totals = _with_sum(totals, totals.sum(axis=0))
        variance = self.of_dialogs[:, None] + np.maximum(of_workers - self.of_answers[:, None], 0)
        return np.divide(totals, np.sqrt(variance), out=np.zeros_like(totals), where=variance > 0)


def _squares(sums: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(np.einsum("wb,wb->b", sums, sums))


def _with_sum(parts: npt.NDArray[np.float32], together: npt.NDArray[np.float32]) -> Floats:
    return np.vstack([parts, together[None]]).astype(np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number: the i-th smallest of m times m - i + 1, in rising order (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = highest
    return corrected
