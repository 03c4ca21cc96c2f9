"""Estimates true values by Dawid and Skene: each reply has one true value, and each worker a table of errors.

    P(true value of u is k | ratings) ~ p_k prod_i e[w_i, k, v_i]        e[w, k, v] = P(worker w says v | true value k)

(Dawid and Skene 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm"). EM starts from
the shares of each reply's ratings. Where people disagree it takes hundreds of steps, so that after every two of them
the errors are extrapolated (squared extrapolation, scheme S3 of Varadhan and Roland 2008), which is kept only where the
likelihood does not fall; the maximum is the same. It ends when the mean log-likelihood of a rating grows by less than
`TOLERANCE` in a step. A worker's reliability is the chance that they say the true value: sum_k p_k e[w, k, k].

A worker with few ratings would get a table of zeros and ones. So each begins with a small prior: 2 ratings of each true
value that were right, and 1 for each wrong value. The likelihood contains it.

Three workers always say the same of twelve replies, four of each of three values: every reply's posterior is nearly 1
for what they say, and each worker is reliable with .745, about (4 + 2) / (4 + 4).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from hits.stats.coded_ratings import Codes

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-6
MOST_STEPS = 200
RIGHT, WRONG = 2.0, 1.0  # the prior ratings of each worker and true value
TINY = 1e-10  # in place of probabilities of 0


@dataclass(frozen=True)
class TrueValues:
    posterior: Floats  # reply x value
    prior: Floats  # by value
    errors: Floats  # worker x true value x said value
    steps: int
    is_converged: bool

    @property
    def reliability(self) -> Floats:
        """The reliability of each worker."""
        return np.asarray(np.einsum("k,wkk->w", self.prior, self.errors))


def dawid_skene(
    reply: Codes,
    worker: Codes,
    value: Codes,
    value_count: int,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    is_extrapolating: bool = True,
    has_prior: bool = True,
) -> TrueValues:
    """Fit the model; without the prior, it is that of 1979. Replies and workers are numbered from 0 without gaps."""
    steps = _Steps(reply, worker, value, value_count, has_prior)
    here = steps.first()
    is_converged = False
    while steps.count < most_steps and not is_converged:
        one = steps.step(here)
        is_converged = one.likelihood - here.likelihood < tolerance
        two = one if is_converged or not is_extrapolating else steps.step(one)
        here = two if two is one else _better(steps, here, one, two)
    errors = here.table.reshape(value_count, -1, value_count).transpose(1, 0, 2)
    return TrueValues(here.posterior.T, here.prior, errors, steps.count, bool(is_converged))


@dataclass(frozen=True)
class _State:
    """`prior` and `table` as the M-step finds them from `posterior`; the likelihood is of those it was made with."""

    posterior: Floats  # value x reply: a loop over few values is fast, one over many replies is not
    likelihood: float
    prior: Floats
    table: Floats  # true value x (worker, said value)


class _Steps:
    def __init__(self, reply: Codes, worker: Codes, value: Codes, value_count: int, has_prior: bool) -> None:
        self.replies, self.workers, self.values = int(reply.max()) + 1, int(worker.max()) + 1, value_count
        self.ratings = len(reply)
        shape = (self.replies, self.workers * value_count)
        # Whole numbers of four bytes, where they are enough: scipy keeps them, and there are two tables of all ratings.
        small: type[np.signedinteger[Any]] = np.int32 if shape[1] < 2**31 else np.int64
        column: Codes = worker.astype(small) * value_count
        np.add(column, value, out=column)
        said = csr_array((np.ones(len(reply)), (reply, column)), shape=shape)
        del column
        self._said, self._by_column = said, said.T.tocsr()
        counts = np.bincount(value.astype(np.int64) * self.replies + reply, minlength=self.replies * value_count)
        self._shares = counts.reshape(value_count, -1) / np.bincount(reply, minlength=self.replies)
        prior = np.full((value_count, 1, value_count), WRONG * has_prior)
        prior[range(value_count), 0, range(value_count)] = RIGHT * has_prior
        self._prior = prior  # true value x any worker x said value
        self.count = 0

    def first(self) -> _State:
        return _State(self._shares, -np.inf, *self._maximise(self._shares))

    def step(self, state: _State) -> _State:
        self.count += 1
        logs, prior = np.log(state.table), np.log(np.maximum(state.prior, TINY))
        weights = np.array([self._said @ logs[value] + prior[value] for value in range(self.values)])
        top = weights.max(axis=0)
        weights -= top
        np.exp(weights, out=weights)
        sums = weights.sum(axis=0)
        weights /= sums
        of_prior = float((logs.reshape(self.values, -1, self.values) * self._prior).sum())
        likelihood = (float(np.log(sums).sum() + top.sum()) + of_prior) / self.ratings
        return _State(weights, likelihood, *self._maximise(weights))

    def _maximise(self, posterior: Floats) -> tuple[Floats, Floats]:
        counts = np.array([self._by_column @ one for one in posterior])
        said = counts.reshape(self.values, self.workers, self.values) + self._prior
        return posterior.mean(axis=1), self.normalised(said)

    def normalised(self, counts: Floats) -> Floats:
        counts = np.maximum(counts, TINY).reshape(self.values, self.workers, self.values)
        return np.asarray((counts / counts.sum(axis=2, keepdims=True)).reshape(self.values, -1))


def _better(steps: _Steps, here: _State, one: _State, two: _State) -> _State:
    """Extrapolate from the last two steps; return that state if it is better, otherwise the second step."""
    first, second = one.table - here.table, two.table - one.table
    bend = float(np.linalg.norm(second - first))
    length = float(np.linalg.norm(first)) / bend if bend > 0 else 1.0
    if length <= 1:
        return two
    table = steps.normalised(here.table + 2 * length * first + length**2 * (second - first))
    prior = here.prior + 2 * length * (one.prior - here.prior)
    prior = np.maximum(prior + length**2 * (two.prior - 2 * one.prior + here.prior), TINY)
    beyond = steps.step(_State(two.posterior, two.likelihood, prior / prior.sum(), table))
    return beyond if beyond.likelihood >= two.likelihood else two
