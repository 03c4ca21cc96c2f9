import numpy as np
import pytest
from scipy.stats import PermutationMethod, wilcoxon

from hits.stats.signed_rank import signed_rank_p_value


def test_all_signs_of_three_differences() -> None:
    assert signed_rank_p_value(np.array([1.0, 2.0, 3.0])) == 0.25
    assert signed_rank_p_value(np.array([1.0, -2.0, 3.0])) == 0.75  # ranks 1 + 3 of 6, and whatever is further away


@pytest.mark.parametrize("differences", [[0.5, 0.5, -0.25, 1, 2], [0, 0, 1, 1, 1, -1], [0.25, -0.5, 0, 0.5, 1, 1]])
def test_ties_and_zeros_as_scipy_has_them(differences: list[float]) -> None:
    of_scipy = wilcoxon(differences, zero_method="pratt", method=PermutationMethod(n_resamples=10_000)).pvalue

    assert signed_rank_p_value(np.array(differences)) == pytest.approx(of_scipy)


def test_many_differences_by_scipy() -> None:
    differences = np.arange(-5.0, 15.0)

    assert signed_rank_p_value(differences) == wilcoxon(differences, zero_method="pratt").pvalue
