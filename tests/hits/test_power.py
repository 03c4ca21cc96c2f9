"""What a study can detect: against the t test's own formula, and against itself asked the other way round."""

from dataclasses import replace
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import nct, norm, t, ttest_1samp

from hits.crowds import CROWDS
from hits.designing import plan_for_difference, plan_for_size
from hits.designing.power_planning import FEWEST_SIMULATIONS_FOR_A_SIZE
from hits.stats import Effects, Setting, detectable_difference, dialogs_needed, power_curve, simulate_stopping
from hits.stats.power import Power
from hits.stats.sequence import TAU_FACTOR, half_width
from hits.stats.simulated_studies import simulate_scores

NO_EFFECTS = Effects(dialog=0, reply=0, worker=0)
FEES = CROWDS["mturk"].fees
PAPER = Setting(dialogs=6000, raters=4, generators=4)


def power_of(setting: Setting, difference: float, simulations: int = 400, seed: int = 1) -> Power:
    return power_curve(setting, [difference], simulations, seed)[0]


@pytest.mark.parametrize("generators", [2, 3])
@pytest.mark.parametrize("effects", [NO_EFFECTS, Effects(), Effects(dialog=0.1, reply=0.1, worker=0.6)])
def test_without_a_difference_the_test_errs_as_often_as_alpha_allows(effects: Effects, generators: int) -> None:
    setting = Setting(dialogs=100, raters=3, generators=generators, effects=effects)

    power = power_of(setting, 0, simulations=4000)

    # Four standard errors of a share in 4,000 simulations.
    alpha = 0.05 if generators == 2 else 0.05 / 3
    assert power.power == pytest.approx(alpha, abs=4 * (alpha * (1 - alpha) / 4000) ** 0.5)


@pytest.mark.parametrize("effects", [NO_EFFECTS, Effects(), Effects(dialog=0.3, reply=0.3, worker=0.3)])
def test_the_proportions_of_simulated_ratings_are_those_asked_for_whatever_the_effects(effects: Effects) -> None:
    setting = Setting(dialogs=100_000, raters=4, proportions=(0.5, 0.3, 0.2), effects=effects)

    weaker, better = simulate_scores(setting, difference=0.1)

    shift = norm.ppf(0.6) - norm.ppf(0.5)
    better_bad = norm.cdf(norm.ppf(0.2) - shift)
    assert _shares(weaker) == pytest.approx([0.2, 0.3, 0.5], abs=0.01)
    assert _shares(better) == pytest.approx([better_bad, 0.4 - better_bad, 0.6], abs=0.01)


def test_each_effect_is_shared_by_the_ratings_that_it_should_tie_together() -> None:
    def correlations(effects: Effects) -> list[float]:
        setting = Setting(40_000, raters=2, proportions=(0.4, 0.2, 0.4), effects=effects, workers=8_000)
        scores = simulate_scores(setting, 0)  # generator, rater, dialog
        pairs = {
            "same reply": (scores[0, 0], scores[0, 1]),
            "same dialog": (scores[0, 0], scores[1, 1]),
            "same worker": (scores[0, 0, 0::10], scores[0, 0, 9::10]),
            "next worker": (scores[0, 0, 9:-1:10], scores[0, 0, 10::10]),
        }
        return [float(np.corrcoef(*pair)[0, 1]) for pair in pairs.values()]

    dialog = correlations(Effects(dialog=0.5, reply=0, worker=0))
    reply = correlations(Effects(dialog=0, reply=0.5, worker=0))
    worker = correlations(Effects(dialog=0, reply=0, worker=0.5))

    tied = pytest.approx(0.42, abs=0.06)  # the latents' 0.5, less what cutting takes
    loose = pytest.approx(0, abs=0.06)
    assert dialog == [tied, tied, loose, loose]
    assert reply == [tied, loose, loose, loose]
    assert worker == [loose, loose, tied, loose]


@pytest.mark.parametrize("dialogs", [25, 100, 400])
@pytest.mark.parametrize("difference", [0.05, 0.1, 0.2])
def test_with_one_rater_and_no_effects_power_is_that_of_the_t_test(dialogs: int, difference: float) -> None:
    setting = Setting(
        dialogs,
        raters=1,
        effects=NO_EFFECTS,
        proportions=(0.3, 0.3, 0.4),
        dialogs_per_hit=1,
        workers=dialogs,
        outcome="mean score",
    )

    power = power_of(setting, difference, simulations=4000)

    assert power.power == pytest.approx(_t_test_power(dialogs, difference), abs=0.03)


def test_with_effects_and_several_raters_power_is_the_share_of_studies_that_scipys_t_test_finds() -> None:
    effects = Effects(dialog=0.2, reply=0.2, worker=0.3)
    setting = Setting(dialogs=65, raters=3, generators=3, effects=effects, outcome="mean score")

    power = power_of(setting, 0.15, simulations=4000)

    def is_found(seed: int) -> bool:
        weaker, better = simulate_scores(setting, 0.15, seed)
        return bool(ttest_1samp((better - weaker).mean(axis=0), 0).pvalue < 0.05 / 3)

    # Four standard errors of a share in 1,000 studies.
    assert power.power == pytest.approx(np.mean([is_found(seed) for seed in range(1000)]), abs=0.06)


def test_power_grows_with_the_difference_the_dialogs_and_the_raters() -> None:
    setting = Setting(dialogs=100, raters=2)

    by_difference = [power.power for power in power_curve(setting, [0.02, 0.05, 0.1, 0.15])]
    by_dialogs = [power_of(Setting(dialogs, raters=2), 0.08).power for dialogs in (50, 100, 200, 400)]
    by_raters = [power_of(Setting(100, raters), 0.08).power for raters in (1, 2, 4, 8)]

    for powers in (by_difference, by_dialogs, by_raters):
        assert all(less < more for less, more in pairwise(powers))


def test_more_raters_help_less_where_replies_differ_more() -> None:
    few, many = Setting(dialogs=100, raters=2), Setting(dialogs=100, raters=8)

    def gain(effects: Effects) -> float:
        alone, together = (
            power_of(Setting(setting.dialogs, setting.raters, effects=effects), 0.08) for setting in (few, many)
        )
        return together.power - alone.power

    assert gain(Effects(reply=0.05)) > gain(Effects(reply=0.6)) + 0.1


def test_more_taste_needs_more_workers_and_more_dialogs_by_the_same_ones_hardly_help() -> None:
    def power(dialogs: int, workers: int, taste: float) -> float:
        return power_of(Setting(dialogs, 4, effects=Effects(taste=taste), workers=workers), 0.08).power

    assert power(300, 20, 0.0) > power(300, 20, 0.05) + 0.2 > power(300, 20, 0.2) + 0.3
    assert power(600, 20, 0.2) - power(300, 20, 0.2) < 0.1 < power(300, 80, 0.2) - power(300, 20, 0.2)


def test_below_ten_workers_the_t_test_has_to_find_the_difference_too() -> None:
    few, many = (power_of(Setting(200, 4, workers=workers), 0.15).power for workers in (9, 10))

    assert few < many - 0.05


def test_more_generators_mean_more_pairs_and_less_power_for_each() -> None:
    two, four = (Setting(dialogs=100, raters=4, generators=generators) for generators in (2, 4))

    powers = [power_of(setting, 0.1).power for setting in (two, four)]

    assert (two.pairs, four.pairs) == (1, 6)
    assert powers[0] > powers[1]


@pytest.mark.parametrize("setting", [Setting(95, 3), Setting(400, 4, generators=4), Setting(30, 2, dialogs_per_hit=7)])
def test_the_detectable_difference_is_the_smallest_that_has_the_power(setting: Setting) -> None:
    difference = detectable_difference(setting, power=0.8)

    assert difference is not None
    assert power_of(setting, difference).power >= 0.8
    assert power_of(setting, difference - 0.001).power < 0.8


@pytest.mark.parametrize(("difference", "per_hit"), [(0.05, 10), (0.1, 7), (0.3, 1)])
def test_the_dialogs_needed_are_whole_hits_that_have_the_power_and_a_tenth_less_has_not(
    difference: float, per_hit: int
) -> None:
    def setting(dialogs: int) -> Setting:
        return Setting(dialogs, raters=3, dialogs_per_hit=per_hit)

    dialogs = dialogs_needed(setting(2), difference, power=0.8)

    assert dialogs is not None
    assert dialogs % per_hit == 0
    assert power_of(setting(dialogs), difference).power >= 0.8
    fewer = min(dialogs - per_hit, round(0.9 * dialogs))
    assert power_of(setting(fewer), difference).power < 0.8


def test_the_same_seed_gives_the_same_answers_and_another_seed_similar_ones() -> None:
    setting = Setting(dialogs=100, raters=4)

    first, again, other = (power_curve(setting, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other
    assert [power.power for power in other] == pytest.approx([power.power for power in first], abs=0.12)
    assert dialogs_needed(setting, 0.1) == dialogs_needed(setting, 0.1)


def test_the_interval_is_wilsons() -> None:
    powers = power_curve(Setting(dialogs=100, raters=4), simulations=100)

    # By its definition: an end is a share from which the one found lies exactly 1.96 standard errors away.
    for power in powers:
        for end in (power.low, power.high):
            assert abs(power.power - end) == pytest.approx(1.959964 * (end * (1 - end) / 100) ** 0.5, abs=1e-6)
        assert power.low <= power.power <= power.high


def test_what_no_study_can_find_is_none() -> None:
    assert detectable_difference(Setting(dialogs=2, raters=1, generators=4)) is None
    assert detectable_difference(Setting(dialogs=10, raters=1, proportions=(0.98, 0.01, 0.01))) is None
    assert dialogs_needed(Setting(2, raters=4), 0) is None
    assert dialogs_needed(Setting(2, raters=4), 0.0001) is None
    assert dialogs_needed(Setting(2, raters=4), 0.05, most=200) is None


def test_dialogs_that_all_say_the_same_are_no_evidence_rather_than_an_infinite_one() -> None:
    setting = Setting(dialogs=2, raters=1, proportions=(0.001, 0.001, 0.998))

    power = power_of(setting, 0.99)

    assert power.power < 0.05


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dialogs": 1}, "There must be 2 to 1,000,000 dialogs, not 1."),
        ({"raters": 0}, "There must be 1 to 1,000 raters, not 0."),
        ({"generators": 1}, "There must be 2 to 1,000 generators, not 1."),
        ({"dialogs_per_hit": 0}, "There must be 1 to 1,000 dialogs per hit, not 0."),
        ({"alpha": 0.0}, "The significance level must lie between 0 and 1, not at 0."),
        ({"proportions": (0.5, 0.3, 0.3)}, "add up to 1; 0.5 [+] 0.3 [+] 0.3 = 1.1."),
        ({"proportions": (0.7, 0.3, 0.0)}, "must be above 0 and add up to 1"),
        ({"proportions": (float("nan"), 0.3, 0.3)}, "must be above 0 and add up to 1"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_in_one_line(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Setting(**{"dialogs": 100, "raters": 4, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (-0.1, 0.1, 0.1), (float("nan"), 0.1, 0.1)])
def test_effects_that_are_no_shares_of_the_variance_are_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="none below 0, and together below 1"):
        Effects(*shares)


def test_questions_that_make_no_sense_are_refused_in_one_line() -> None:
    setting = Setting(dialogs=100, raters=4)

    with pytest.raises(ValueError, match=r"0 to 67\.9 points more of good, since the other has 32\.0 %, not 70"):
        power_of(setting, 0.70)
    with pytest.raises(ValueError, match="not -5 points"):
        dialogs_needed(setting, -0.05)
    with pytest.raises(ValueError, match="The power must lie between 0 and 1, not at 80"):
        detectable_difference(setting, power=80)
    with pytest.raises(ValueError, match="There must be 1 to 100,000 simulations, not 0"):
        power_of(setting, 0.1, simulations=0)
    with pytest.raises(ValueError, match="The seed must be 0 or above, not -1"):
        power_of(setting, 0.1, seed=-1)


def test_rounded_proportions_are_made_whole() -> None:
    setting = Setting(dialogs=100, raters=4, proportions=(0.33, 0.33, 0.33))

    assert setting.proportions == pytest.approx((1 / 3, 1 / 3, 1 / 3))


def test_the_papers_plan_costs_what_the_paper_paid() -> None:
    plan = plan_for_size(PAPER, reward_cents=40, bonus_cents=10, fees=FEES, simulations=50)

    assert plan.hits == 600
    assert (plan.cost.reward_cents, plan.cost.reward_fee_cents, plan.cost.total_cents) == (96_000, 19_200, 144_000)
    assert plan.detectable is not None
    assert 0.025 < plan.detectable < 0.04
    assert plan.detectable in [power.difference for power in plan.curve]


@pytest.mark.parametrize(
    ("raters", "hits", "fee_cents"),
    [(9, 3, 3 * 9 * 8), (10, 6, 3 * 10 * 8), (19, 9, 3 * 19 * 8)],
)
def test_many_raters_are_split_so_that_the_fee_does_not_double(raters: int, hits: int, fee_cents: int) -> None:
    setting = Setting(dialogs=25, raters=raters)

    plan = plan_for_size(setting, reward_cents=40, bonus_cents=0, fees=FEES)

    assert (plan.hits, plan.cost.assignment_count) == (hits, 3 * raters)
    assert plan.cost.reward_fee_cents == fee_cents


def test_a_plan_for_a_difference_has_the_dialogs_that_it_needs_or_is_none() -> None:
    setting = Setting(dialogs=2, raters=4, generators=4)

    plan = plan_for_difference(setting, 0.05, reward_cents=40, bonus_cents=10, fees=FEES)

    assert plan is not None
    assert plan.setting.dialogs == dialogs_needed(setting, 0.05, simulations=FEWEST_SIMULATIONS_FOR_A_SIZE)
    assert plan.detectable == pytest.approx(0.05, abs=0.002)
    assert plan.cost.assignment_count == plan.hits * 4 == plan.setting.dialogs // 10 * 4
    assert plan_for_difference(setting, 0.0001, reward_cents=40, bonus_cents=10, fees=FEES) is None


def test_the_curve_leaves_out_differences_that_can_not_be() -> None:
    setting = Setting(dialogs=1000, raters=4, proportions=(0.9, 0.06, 0.04))

    plan = plan_for_size(setting, reward_cents=40, bonus_cents=10, fees=FEES)

    assert max(power.difference for power in plan.curve) < 0.1


def test_the_command_answers_what_a_study_can_find_and_what_it_costs() -> None:
    output = _plan_study("--dialogs", "6000", "--raters", "4", "--generators", "4", "--simulations", "50")

    lines = output.splitlines()
    assert lines[0] == "6,000 dialogs, 4 raters each, 4 generators"
    assert lines[-4].startswith("The smallest difference found with 80 % power is 3.")
    assert lines[-4].endswith(
        "points of good; 600 HITs cost at most $1,440.00 ($960.00 rewards + $192.00 fees + $288.00 bonuses with fees)."
    )
    assert "       15.0 points   #####################################~~~  100 % (93 to 100 %)" in lines
    assert "shares of the variance: dialog 0.1, reply 0.15, worker 0.1, taste 0.05; 192 equally busy workers." in output
    assert "Bonferroni over 6 pairs of generators, each at 0.0083; 50 simulations, seed 1." in output


def test_the_command_answers_how_many_dialogs_a_difference_needs() -> None:
    output = _plan_study("--difference", "10", "--generators", "2", "--good", ".5", "--okay", ".3", "--bad", ".2")

    setting = Setting(dialogs=2, raters=4, proportions=(0.5, 0.3, 0.2))
    dialogs = dialogs_needed(setting, 0.1, simulations=FEWEST_SIMULATIONS_FOR_A_SIZE)
    assert f"10 points need {dialogs} dialogs to be found with 80 % power;" in output
    assert "Assumed: good 50 %, okay 30 %, bad 20 %" in output
    assert "Bonferroni over 1 pair of generators, each at 0.0500" in output


def test_the_command_says_so_when_a_study_can_find_nothing() -> None:
    output = _plan_study("--dialogs", "2", "--raters", "1")

    assert "2 dialogs, 1 rater each" in output
    assert "No difference is large enough to be found with 80 % power; 1 HIT costs at most $0.60" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "Give --dialogs N for what they can find, or --difference POINTS for how many are needed."),
        ("--dialogs 1", "There must be 2 to 1,000,000 dialogs, not 1."),
        ("--dialogs 100 --good .9", "The proportions of good, okay and bad must be above 0 and add up to 1"),
        ("--dialogs 100 --effect-worker .9", "none below 0, and together below 1"),
        ("--dialogs 100 --reward=-1", "The reward can't be negative; 0 means that there is none."),
        ("--dialogs 100 --reward 0.405", "The reward must be an amount of whole cents, like 0.40, not 0.405."),
        ("--dialogs 100 --bonus nan", "The bonus must be an amount of whole cents, like 0.40, not nan."),
        ("--dialogs 100 --bonus=-1", "The bonus can't be negative"),
        ("--difference 70", "can have 0 to 67.9 points more of good"),
        ("--difference 0.01", "No study of up to 100,000 dialogs finds a difference of 0.01 points with 80 % power"),
    ],
)
def test_mistakes_in_the_command_are_one_line(arguments: str, message: str) -> None:
    with pytest.raises(CommandError) as error:
        _plan_study(*arguments.split())

    assert message in str(error.value)
    assert "\n" not in str(error.value)


def _shares(scores: np.ndarray) -> list[float]:
    return [float(share) for share in np.bincount(scores.ravel(), minlength=3) / scores.size]


def _t_test_power(dialogs: int, difference: float) -> float:
    """Of good, okay and bad at .3, .3 and .4, at the 5 % level: the noncentral t distribution."""
    shift = norm.ppf(0.3 + difference) - norm.ppf(0.3)
    bad = norm.cdf(norm.ppf(0.4) - shift)
    (weaker_mean, weaker_variance), (better_mean, better_variance) = (
        _score_moments(good, bad) for good, bad in ((0.3, 0.4), (0.3 + difference, bad))
    )
    noncentrality = (better_mean - weaker_mean) / np.sqrt((weaker_variance + better_variance) / dialogs)
    critical = t.ppf(0.975, dialogs - 1)
    return float(nct.sf(critical, dialogs - 1, noncentrality) + nct.cdf(-critical, dialogs - 1, noncentrality))


def _score_moments(good: float, bad: float) -> tuple[float, float]:
    okay = 1 - good - bad
    mean = okay + 2 * good
    return mean, okay + 4 * good - mean**2


def _plan_study(*arguments: str) -> str:
    output = StringIO()
    call_command("plan_study", *arguments, stdout=output)
    return output.getvalue()


def test_a_study_that_may_stop_is_planned_with_the_sequence_that_decides() -> None:
    """At its end, half a sequence of one pair is sqrt((1 + 1/8.212) (2 ln 20 + ln 9.212)) = 3.0351 deviations."""
    setting = Setting(dialogs=1000, raters=4, effects=NO_EFFECTS, workers=400)  # so many that df do not matter
    by_sequence = replace(setting, is_by_sequence=True)
    assert half_width(1.0, TAU_FACTOR) == pytest.approx(3.0351, abs=1e-4)

    test, sequence = (detectable_difference(one) for one in (setting, by_sequence))

    assert test is not None
    assert sequence is not None
    # Quantiles of the error and of the power: 1.96 + .84 against 3.03 + .84.
    assert sequence / test == pytest.approx((3.0351 + 0.8416) / (1.96 + 0.8416), abs=0.06)
    assert power_of(by_sequence, 0).power < 0.02


def test_the_sequence_at_the_end_finds_what_whole_simulated_studies_decide() -> None:
    setting = Setting(dialogs=200, raters=4, is_by_sequence=True)

    planned = power_of(setting, 0.15, simulations=1000).power
    decided = simulate_stopping(setting, (0.0, 0.15), studies=150, looks=1).decided

    assert decided == pytest.approx(planned, abs=4 * (planned * (1 - planned) / 150) ** 0.5)


def test_without_enough_dialogs_or_workers_no_sequence_finds_anything() -> None:
    assert power_of(Setting(dialogs=19, raters=12, is_by_sequence=True), 0.6).power == 0
    assert power_of(Setting(dialogs=100, raters=3, workers=9, is_by_sequence=True), 0.6).power == 0


def test_stopping_is_simulated_with_the_primary_pairs_and_their_share_of_alpha() -> None:
    """Three models against one, of which one is better: its pair decides nothing about the other two."""
    setting = Setting(dialogs=200, raters=4, generators=4, is_by_sequence=True)
    gains = (0.0, 0.25, 0.0, 0.0)

    one_pair = simulate_stopping(setting, gains, studies=20, drops=False, pairs=((0, 1),))
    all_pairs = simulate_stopping(setting, gains, studies=20, drops=False)

    assert one_pair.decided == 1
    assert all_pairs.decided == 0  # equal models are never decided without a margin
    assert one_pair.assignments < 0.7
