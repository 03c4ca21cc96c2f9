"""Computes a confidence sequence for a difference: an interval that is valid at every look, however often one looks.

It is Robbins' normal mixture in information time (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021,
"Time-uniform, nonparametric, nonasymptotic confidence sequences"; Waudby-Smith et al. 2024). At a look, theta is the
difference, V its two-way variance with df degrees of freedom (hits.stats.clusters), and

    V'     = V (t_df,.975 / 1.96)^2
    half^2 = V' (1 + V'/tau2) (2 ln(1/alpha) + ln(1 + tau2/V'))
    e      = (1 + tau2/V')^-1/2 exp(theta^2 tau2 / (2 V' (V' + tau2)))        p = min(1, 1 / largest e so far)

tau2 is 8.212 times the variance that was planned for the end, which makes the interval narrowest there. It is fixed
when the study is frozen: chosen after a look, the guarantee would be lost. K pairs share alpha: each gets alpha / K.
Below 20 dialogs or 10 effective workers, V is too rough, and there is no sequence yet. The 95 % interval of a
comparison is theta +- t_df,.975 sqrt(V), so that its half, divided by 1.96, is the square root of V'.

>>> round(half_width(.01, .25), 5), round(e_value(.35, .01, .25), 2)
(0.31015, 70.84)
"""

import math
from dataclasses import dataclass

from hits.stats.estimates import ALPHA, EVERYTHING_POSSIBLE, NORMAL_QUANTILE, Estimate, Undefined
from hits.stats.too_few import FEW_WORKERS

TAU_FACTOR = 8.212  # the mixture variance, as a multiple of the variance that is planned for the end
FEWEST_DIALOGS = 20
LARGEST_LOG_E = 690.0  # beyond it, e is no longer a float

DIFFERENT, EQUAL, UNDECIDED = "different", "equal", ""


@dataclass(frozen=True)
class SequenceFinding:
    """What may be said about a primary pair at a look. `estimate` is the first generator's outcome minus the second's;
    `low` and `high` are its confidence sequence, undefined while there is too little data or where they would hold
    every possible difference. `decided` is "different" if
    0 lies outside, "equal" if all of it lies within the planned margin, and else empty. Both, and the p-value, are of
    this look alone, unless hits.stats.stopping_rule.carry_on has joined them with those of earlier looks. `tau2` is the
    mixture variance that was used, so that a reader can compute everything again."""

    dataset: str | None
    first: str
    second: str
    estimate: float | Undefined
    low: float | Undefined
    high: float | Undefined
    e_value: float | Undefined
    p_value: float | Undefined
    decided: str = UNDECIDED
    tau2: float = 0.0
    dialogs: int = 0  # that it rests on
    alpha: float = ALPHA  # the pair's own share of the error level

    @property
    def better(self) -> str | None:
        """The generator that has won, if the two are different."""
        if self.decided != DIFFERENT or isinstance(self.estimate, Undefined):
            return None
        return self.first if self.estimate > 0 else self.second


def half_width(variance: float, tau2: float, alpha: float = ALPHA) -> float:
    """Return half the width of the sequence's interval, from V'."""
    logarithms = 2 * math.log(1 / alpha) + math.log1p(tau2 / variance)
    return math.sqrt(variance * (1 + variance / tau2) * logarithms)


def e_value(difference: float, variance: float, tau2: float) -> float:
    """Return the evidence against no difference: it is at most 1 on average where there is none. From V'."""
    exponent = difference**2 * tau2 / (2 * variance * (variance + tau2)) - math.log1p(tau2 / variance) / 2
    return math.exp(min(exponent, LARGEST_LOG_E))


def p_value_of(largest_e: float) -> float:
    return min(1.0, 1 / largest_e)


def too_early(dialogs: int, effective_workers: float) -> str:
    """Return why there is no sequence yet; "" if there is one."""
    if dialogs < FEWEST_DIALOGS:
        return f"it takes {FEWEST_DIALOGS} dialogs, and there are {dialogs}"
    if effective_workers < FEW_WORKERS:
        return f"it takes the work of {FEW_WORKERS} equally busy workers, and there is that of {effective_workers:.1f}"
    return ""


def sequence_finding(
    pair: tuple[str, str],
    difference: Estimate | Undefined,
    tau2: float,
    alpha: float = ALPHA,
    *,
    dataset: str | None = None,
    equal_within: float = 0.0,
    largest_e: float = 0.0,
    problem: str = "",
    dialogs: int = 0,
    most: float = math.inf,
) -> SequenceFinding:
    """Return what a look says about a pair. `difference` has the usual 95 % interval, and `alpha` is the pair's own
    share. `largest_e` is the largest e-value of earlier looks; `problem` says why it is too early. `most` is the
    largest difference that there can be: the sequence is cut off there, and undefined if it would hold all of them."""
    if isinstance(difference, Undefined):
        nothing = Undefined(difference.reason)
        return SequenceFinding(dataset, *pair, *(nothing,) * 5, tau2=tau2, dialogs=dialogs, alpha=alpha)
    if isinstance(difference.interval, Undefined):
        problem = problem or difference.interval.reason
    if problem or isinstance(difference.interval, Undefined):
        nothing = Undefined(problem)
        return SequenceFinding(
            dataset, *pair, difference.value, *(nothing,) * 4, tau2=tau2, dialogs=dialogs, alpha=alpha
        )
    theta = difference.value
    # Cut off at what is possible, an interval has its half on the other side.
    usual = max(difference.interval.high - theta, theta - difference.interval.low)
    variance = (usual / NORMAL_QUANTILE) ** 2
    half, evidence = half_width(variance, tau2, alpha), e_value(theta, variance, tau2)
    low, high = theta - half, theta + half
    decided = UNDECIDED
    if low > 0 or high < 0:
        decided = DIFFERENT
    elif equal_within and -equal_within <= low and high <= equal_within:
        decided = EQUAL
    p_value = p_value_of(max(evidence, largest_e))
    ends: tuple[float | Undefined, float | Undefined] = (max(-most, low), min(most, high))
    if low <= -most and high >= most:
        ends = (Undefined(EVERYTHING_POSSIBLE),) * 2
    return SequenceFinding(dataset, *pair, theta, *ends, evidence, p_value, decided, tau2, dialogs, alpha)
