import pytest

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
