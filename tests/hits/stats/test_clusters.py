"""How sure statistics are: by hand, and against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from hits.stats.clusters import Clusters, interval_of, spread_of, spread_of_shares, t_p_value
from hits.stats.estimates import Interval
from tests.hits.stats.small_frames import drawn_frame


def test_the_variance_of_a_mean_of_equal_clusters_is_that_of_their_means() -> None:
    dialog, worker = np.repeat(np.arange(6), 4), np.arange(24)
    effects = np.array([1.0, 2.0, 4.0, 4.0, 5.0, 8.0])
    y = effects[dialog]

    spread = spread_of((y - y.mean()) / len(y), Clusters.of(dialog, worker))

    # Every worker gave one rating, so their term is that of answers but for 24 / 23.
    assert spread.variance[0] == pytest.approx(effects.var(ddof=1) / 6 + y.var() / 24 / 23)
    assert spread.freedom[0] == pytest.approx(5, abs=0.15)


def test_the_unbiasing_makes_the_variance_right_for_uneven_clusters() -> None:
    rng = np.random.default_rng(1)
    worker = np.repeat(np.arange(5), [40, 20, 20, 10, 10])
    dialog = rng.permutation(np.arange(100) % 50)
    shares = np.bincount(worker) / 100
    found = []
    for _ in range(2000):
        y = rng.normal(size=5)[worker]
        found.append(spread_of((y - y.mean()) / 100, Clusters.of(dialog, worker)).variance[0])

    assert np.mean(found) == pytest.approx((shares**2).sum(), rel=0.06)


def test_the_terms_are_those_of_statsmodels_two_way_clusters() -> None:
    frame = drawn_frame(seed=3)
    y = frame["score"].to_numpy(float)
    dialog, worker = frame["dialog"].to_numpy(), frame["worker"].cat.codes.to_numpy().astype(int)
    groups = np.column_stack([dialog, worker])
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})

    clusters = Clusters.of(dialog, worker)
    influences = (y - y.mean()) / len(y)
    sums = [np.bincount(codes, weights=influences) for codes in (clusters.dialog, clusters.worker, clusters.answer)]
    plain = sum(sign * float(one @ one) for sign, one in zip((1, 1, -1), sums, strict=True))

    assert plain == pytest.approx(float(fit.cov_params()[0, 0]))
    # Ours differs by what makes it unbiased: little, with two dozen workers.
    assert spread_of(influences, clusters).variance[0] == pytest.approx(plain, rel=0.2)


def test_shares_have_the_spread_of_their_influences() -> None:
    frame = drawn_frame(seed=4)
    clusters = Clusters.of(frame["dialog"].to_numpy(), frame["worker"].cat.codes.to_numpy().astype(int))
    value = frame["value"].cat.codes.to_numpy().astype(int)
    one_hot = np.eye(3)[value]

    slow = spread_of((one_hot - one_hot.mean(axis=0)) / len(value), clusters)
    fast = spread_of_shares(value, 3, clusters)

    assert fast.variance == pytest.approx(slow.variance)
    assert fast.freedom == pytest.approx(slow.freedom)


def test_one_worker_alone_has_no_interval() -> None:
    spread = spread_of(np.array([0.1, -0.1]), Clusters.of(np.array([0, 1]), np.array([0, 0])))

    assert spread.problem == "all ratings are of one worker"


def test_the_two_way_error_of_a_small_mean_is_the_known_answer() -> None:
    """d1: w1 4, w2 5; d2: w1 3, w2 4: mean 4, published error .4082, two-way .6124 with 1.125 degrees of freedom."""
    y = np.array([4.0, 5.0, 3.0, 4.0])

    spread = spread_of((y - y.mean()) / 4, Clusters.of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])))

    assert (y.mean(), y.std(ddof=1) / 2) == pytest.approx((4, 0.4082), abs=5e-5)
    assert spread.variance[0] ** 0.5 == pytest.approx(0.6124, abs=5e-5)
    assert spread.freedom[0] == pytest.approx(1.125)


def crossed(workers: int, dialogs: int) -> Clusters:
    return Clusters.of(np.tile(np.arange(dialogs), workers), np.repeat(np.arange(workers), dialogs))


def test_with_few_workers_each_part_of_the_variance_has_the_quantile_of_its_own_degrees_of_freedom() -> None:
    """Banerjee's interval, from sums that are made here by themselves."""
    clusters, rng = crossed(3, 50), np.random.default_rng(4)
    y = rng.normal(size=3)[clusters.worker] * 0.3 + rng.normal(size=50)[clusters.dialog] + rng.normal(size=150)
    rest = (y - y.mean()).reshape(3, 50)
    of_workers, of_dialogs = (float((rest.sum(axis=axis) ** 2).sum()) / 150**2 for axis in (1, 0))
    of_workers, of_dialogs = of_workers * 3 / 2, of_dialogs * 50 / 49
    variance = of_workers + of_dialogs - float((rest**2).sum()) / 150**2
    of_few, of_many = stats.t.ppf(0.975, 2), stats.t.ppf(0.975, 49)

    spread = spread_of((y - y.mean()) / 150, clusters)
    interval = interval_of(0.0, spread)

    assert isinstance(interval, Interval)
    assert interval.high == pytest.approx((of_few**2 * of_workers + of_many**2 * (variance - of_workers)) ** 0.5)
    assert interval.high > stats.t.ppf(0.975, spread.freedom[0]) * variance**0.5
    assert t_p_value(interval.high, spread) == pytest.approx(0.05)


def test_with_ten_workers_satterthwaites_degrees_of_freedom_are_enough() -> None:
    clusters, rng = crossed(10, 50), np.random.default_rng(5)
    y = rng.normal(size=10)[clusters.worker] + rng.normal(size=500)

    spread = spread_of((y - y.mean()) / 500, clusters)

    assert spread.quantile(0) == pytest.approx(stats.t.ppf(0.975, spread.freedom[0]))
    assert t_p_value(0.7, spread) == pytest.approx(2 * stats.t.sf(0.7 / spread.variance[0] ** 0.5, spread.freedom[0]))


@pytest.mark.parametrize("taste", [0.1, 0.3, 1.0])
def test_three_raters_of_everything_have_intervals_that_hold_the_truth(taste: float) -> None:
    """Satterthwaite's degrees of freedom alone hold it in .93 here."""
    clusters, rng = crossed(3, 60), np.random.default_rng(6)
    held = []
    for _ in range(1500):
        y = taste * rng.normal(size=3)[clusters.worker] + rng.normal(size=60)[clusters.dialog] + rng.normal(size=180)
        interval = interval_of(float(y.mean()), spread_of((y - y.mean()) / 180, clusters))
        held.append(isinstance(interval, Interval) and interval.low <= 0 <= interval.high)

    assert np.mean(held) > 0.945
