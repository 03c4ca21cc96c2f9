"""What two answers share, as the planner computes it: against the bivariate normal, against draws, against studies."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from hits.stats import Effects, Setting, approximate_dialogs_needed, dialogs_needed
from hits.stats.planned_study import PLANNED_EFFECTS, components_of, outcome_difference
from hits.stats.planned_tests import OUTCOMES
from hits.stats.simulated_studies import shifts_of, simulate_scores

RARELY_GOOD = Setting(dialogs=2, raters=4, generators=4, proportions=(0.0842, 0.2, 0.7158))


def test_shares_of_the_best_value_are_those_of_the_bivariate_normal() -> None:
    [shift] = shifts_of(RARELY_GOOD, [0.0842])
    effects, cuts = PLANNED_EFFECTS, (norm.ppf(1 - 0.0842), norm.ppf(1 - 0.0842) - shift)

    def covariance(both: float, each: float) -> float:
        """That of two differences which share this much of their latents."""
        same, other = both + each, both
        found: float = sum(
            sign * (_both_above(one, another, share) - norm.sf(one) * norm.sf(another))
            for sign, one, another, share in (
                (1, cuts[0], cuts[0], same),
                (1, cuts[1], cuts[1], same),
                (-2, cuts[0], cuts[1], other),
            )
        )
        return found

    found = components_of(RARELY_GOOD, shift)

    assert found.gain == pytest.approx(0.0842, abs=1e-12)
    assert found.same_dialog == pytest.approx(covariance(effects.dialog, effects.reply), abs=1e-8)
    assert found.same_worker == pytest.approx(covariance(effects.worker, effects.taste), abs=1e-8)
    assert round(found.same_worker, 5) == 0.00597, "200,000 draws gave .00678"


def _both_above(one: float, other: float, correlation: float) -> float:
    return float(multivariate_normal.cdf([-one, -other], cov=[[1, correlation], [correlation, 1]]))


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("effects", [Effects(), PLANNED_EFFECTS, Effects(0.3, 0.3, 0.2, 0.1)])
def test_many_simulated_answers_share_as_much(outcome: str, effects: Effects) -> None:
    """Each worker does one HIT of two dialogs, and each dialog has two workers."""
    count = 200_000
    setting = Setting(count, raters=2, dialogs_per_hit=2, workers=count, effects=effects, outcome=outcome)
    [shift] = shifts_of(setting, [0.1])
    weaker, better = simulate_scores(setting, 0.1)
    gains = outcome_difference(setting, better, weaker).astype(float)

    known = components_of(setting, shift)

    error = known.variance / (count / 2) ** 0.5
    assert gains.mean() == pytest.approx(known.gain, abs=4 * (known.variance / count) ** 0.5)
    assert gains.var() == pytest.approx(known.variance, abs=4 * error)
    assert np.cov(*gains)[0, 1] == pytest.approx(known.same_dialog, abs=4 * error)
    assert np.cov(gains[:, 0::2].ravel(), gains[:, 1::2].ravel())[0, 1] == pytest.approx(
        known.same_worker, abs=4 * error
    )


@pytest.mark.parametrize(
    ("setting", "difference"),
    [(RARELY_GOOD, 0.0842), (Setting(dialogs=2, raters=3), 0.1), (Setting(2, raters=4), 0.15)],
)
def test_about_how_many_dialogs_it_takes_is_what_simulated_studies_take(setting: Setting, difference: float) -> None:
    simulated = dialogs_needed(setting, difference, simulations=800)

    assert simulated is not None
    assert approximate_dialogs_needed(setting, difference) == pytest.approx(simulated, rel=0.15)
