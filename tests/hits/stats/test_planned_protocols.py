"""The planner for scales of many points and for comparisons, against simulated answers and the planner for areas."""

from dataclasses import replace

import numpy as np
import pytest

from hits.crowds import planned_crowd
from hits.designing import parse_design, plan_for_size, planned_setting, read_study_file
from hits.designing.sizing import cost_of, size_of_batches
from hits.protocols import protocol_of
from hits.protocols.criteria import usual_shares
from hits.stats import MEAN_SCORE, WIN_RATE, Effects, Setting, detectable_difference
from hits.stats.planned_study import components_of, difference_of, shift_of, unit_of
from hits.stats.simulated_studies import simulate_differences, simulate_scores
from tests.conftest import ROOT

EFFECTS = Effects(dialog=0.15, reply=0.2, worker=0.1, taste=0.1)
COMPARED = Setting(
    60, 3, proportions=(0.35, 0.3, 0.35), effects=EFFECTS, outcome=WIN_RATE, is_comparison=True, dialogs_per_hit=10
)
POINTS = Setting(
    60, 3, proportions=usual_shares(5), effects=EFFECTS, outcome=MEAN_SCORE, score_range=4, is_by_mean=True
)


@pytest.mark.parametrize("setting", [COMPARED, POINTS, Setting(60, 3)])
def test_a_shift_makes_the_difference_that_it_was_found_for(setting: Setting) -> None:
    for difference in (0.0, 0.05, 0.2):
        assert difference_of(setting, shift_of(setting, difference)) == pytest.approx(difference, abs=1e-9)


def test_what_two_comparisons_share_is_what_simulated_ones_share() -> None:
    many = Setting(
        40_000,
        raters=2,
        proportions=COMPARED.proportions,
        effects=EFFECTS,
        outcome=WIN_RATE,
        is_comparison=True,
        dialogs_per_hit=2,
        workers=40_000,
    )

    said = simulate_differences(many, seed=3).astype(float)  # rater, dialog; neighbours are of one HIT

    shares = [float((said == value).mean()) for value in (1, 0, -1)]
    assert shares == pytest.approx([0.35, 0.3, 0.35], abs=0.006)
    expected = components_of(many)
    by_hit = said.reshape(2, -1, 2)
    assert float(said.var()) == pytest.approx(expected.variance, abs=0.01)
    assert float((said[0] * said[1]).mean()) == pytest.approx(expected.same_dialog, abs=0.012)
    assert float((by_hit[..., 0] * by_hit[..., 1]).mean()) == pytest.approx(expected.same_worker, abs=0.012)
    assert components_of(many, shift_of(many, 0.2)).gain == pytest.approx(0.2)


def test_five_points_have_the_shares_and_the_mean_that_are_planned() -> None:
    many = Setting(
        40_000, 1, proportions=usual_shares(5), outcome=MEAN_SCORE, score_range=4, is_by_mean=True, workers=9_000
    )

    weaker, better = simulate_scores(many, difference=0.1)

    assert np.bincount(weaker.ravel())[::-1] / weaker.size == pytest.approx(usual_shares(5), abs=0.012)
    assert float((better - weaker).mean()) == pytest.approx(0.1 * 4, abs=0.03)
    assert unit_of(many) == 1.0
    assert components_of(many, shift_of(many, 0.1)).gain == pytest.approx(0.4, abs=1e-6)


def test_usual_shares_have_a_mean_of_three_fifths_and_a_slider_has_eleven_levels() -> None:
    for points in (3, 5, 7, 11):
        shares = usual_shares(points)
        mean = sum(share * (points - 1 - index) for index, share in enumerate(shares))
        assert sum(shares) == pytest.approx(1)
        assert mean / (points - 1) == pytest.approx(0.6, abs=0.02)
    assert len(usual_shares(101)) == 11


def test_more_dialogs_find_smaller_differences_in_every_way_of_asking() -> None:
    for setting in (COMPARED, POINTS):
        sized = [replace(setting, dialogs=size, workers=size, effects=Effects()) for size in (40, 160)]
        few, many = (detectable_difference(one, 0.8, 100) or 1.0 for one in sized)
        assert 0.4 < many / few < 0.65, "half of the difference takes four times the dialogs"


def test_where_dialogs_show_some_of_the_models_nothing_is_planned() -> None:
    protocol = protocol_of(parse_design(read_study_file(ROOT / "examples" / "demo_likert.toml")))

    assert protocol.planned_shares(protocol.criteria[0]) is None


@pytest.mark.parametrize("name", ["demo_pairs", "mime-ab", "empdg"])
def test_a_plan_costs_what_the_study_costs(name: str) -> None:
    design = parse_design(read_study_file(ROOT / "examples" / f"{name}.toml"))
    dialogs = sum(one.dialog_count for one in design.datasets)
    size = size_of_batches(design, dialogs)

    setting = planned_setting(design, dialogs)

    assert setting.dialogs == max(protocol_of(design).dialogs_of_a_pair(dialogs), 2)
    assert protocol_of(design).planned_shares(protocol_of(design).criteria[0]) == pytest.approx(setting.proportions)
    pay = (design.pay.reward_cents, design.pay.bonus_cents, planned_crowd(design).fees)
    plan = plan_for_size(setting, *pay, simulations=20)
    assert (plan.hits, plan.cost.total_cents) == (size.hit_count, cost_of(design, size).total_cents)
