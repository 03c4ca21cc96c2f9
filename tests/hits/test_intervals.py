import pytest
from scipy.stats import binomtest

from hits.stats import wilson_interval


@pytest.mark.parametrize(
    ("won", "count", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_has_the_published_values(won: int, count: int, low: float, high: float) -> None:
    assert wilson_interval(won / count, count) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("count", [1, 2, 7, 40, 1000])
def test_wilsons_interval_is_scipys(count: int) -> None:
    for won in {0, 1, count // 3, count // 2, count - 1, count}:
        known = binomtest(won, count).proportion_ci(method="wilson")

        assert wilson_interval(won / count, count) == pytest.approx((known.low, known.high), abs=1e-12)
