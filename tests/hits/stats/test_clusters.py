"""How sure statistics are: by hand, and against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from hits.stats.clusters import Clusters, spread_of, spread_of_shares
from hits.stats.metrics_and_ratings import WEIGHTS
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


def test_bootstrap_weights_have_mean_and_variance_one() -> None:
    assert (len(WEIGHTS), WEIGHTS.mean(), WEIGHTS.var()) == (256, 1, 1)
