"""Which way of asking tells models apart sooner: known answers, simulated studies, and real ratings."""

import io
import math
from collections.abc import Sequence

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.analysing import Effort, SeenBy, compare_protocols
from hits.batching import build_hits
from hits.designing import create_study, parse_design, read_study_file
from hits.models import Study
from hits.stats import Estimate, Needed, Signal, Undefined, mean_signal, needed_size, rank_agreement, ratio_of_needs
from simulated_crowd.rehearsing_protocols import rehearse
from simulated_crowd.truths import spaced_truth
from tests.conftest import ROOT
from tests.hits.rated import rate

CLEAR = spaced_truth(["generic", "listener-large", "listener-small", "parrot"], 10)


def test_a_signal_of_four_errors_needs_half_of_the_study() -> None:
    # (1.96 + .8416)^2 = 7.8489; 7.8489 / 16, / 5.96^2 and / 2.04^2
    assert needed_size(Signal(4.0), alpha=0.05) == Needed(0.49055, 0.22096, 1.886)
    assert needed_size(Signal(1.5), alpha=0.05) == Needed(3.4884, 0.65564, math.inf)
    assert isinstance(needed_size(Signal(0.0), alpha=0.05), Undefined)


def test_the_ratio_of_two_needs_has_fieller_s_interval() -> None:
    found = ratio_of_needs(Signal(4.0), Signal(-3.0))

    assert isinstance(found, Needed)
    assert found.value == pytest.approx(9 / 16)
    for end in (math.sqrt(found.low), math.sqrt(found.high)):  # where |3 - 4 r| is 1.96 errors of it
        assert abs(3 - 4 * end) / math.sqrt(1 + end**2) == pytest.approx(1.96, abs=1e-3)
    assert ratio_of_needs(Signal(1.0), Signal(3.0)) == Needed(9.0, 0.4303, math.inf)
    assert ratio_of_needs(Signal(1.0), Signal(1.0)) == Needed(1.0, 0.0, math.inf)


def test_the_interval_of_a_ratio_holds_the_truth_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal((5.0, 3.0), 1, (4_000, 2))

    found = [ratio_of_needs(Signal(first), Signal(second)) for first, second in draws.tolist()]

    held = [isinstance(one, Needed) and one.low <= 9 / 25 <= one.high for one in found]
    assert np.mean(held) == pytest.approx(0.95, abs=0.012)


def test_rankings_agree_as_kendall_counts() -> None:
    first, second = np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])

    found = rank_agreement(first, second, np.tile(first, (10, 1)), np.tile(second, (10, 1)))

    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(1 / 3)


def test_what_too_few_simulated_studies_could_compare_keeps_its_reason() -> None:
    assert mean_signal([Signal(1.0), Undefined("nobody compared them")]) == Undefined("nobody compared them")
    assert mean_signal([Signal(1.0), Signal(3.0)]) == Signal(2.0, 1.0)


def _seen(name: str, signals: dict[tuple[str, str], Signal], minutes: float) -> SeenBy:
    effort = Effort(100, minutes, 0, "USD")
    return SeenBy(name, "areas", "share of best", 10, effort, signals, {}, np.zeros((1, 0)), "nobody was ranked")


def test_models_in_another_order_are_compared_the_right_way_round_and_strangers_are_refused() -> None:
    first = _seen("first", {("a", "b"): Signal(4.0)}, minutes=60)
    second = _seen("second", {("b", "a"): Signal(-4.0), ("b", "c"): Signal(1.0)}, minutes=30)

    found = compare_protocols([first, second])

    assert [one.pair for one in found.pairs] == [("a", "b")]
    [ratio] = found.pairs[0].minutes
    assert isinstance(ratio, Needed)
    assert ratio.value == pytest.approx(0.5)
    assert found.pairs[0].money == (Undefined("nothing is paid"),)
    assert found.rankings[0].tau == Undefined("nobody was ranked")
    with pytest.raises(EvalPlatformError, match="no two models in common"):
        compare_protocols([first, _seen("third", {("c", "d"): Signal(1.0)}, 1)])


def test_a_study_of_the_size_that_is_needed_finds_the_difference_with_80_percent() -> None:
    """What is predicted from studies of one size is tried on studies of another."""
    design = parse_design(read_study_file(ROOT / "examples" / "demo.toml"))
    pair, alpha = ("listener-large", "parrot"), 0.05
    small = rehearse("small", design, CLEAR, studies=20, workers=60).signals[pair]
    assert isinstance(small, Signal)
    size = needed_size(small, alpha)
    assert isinstance(size, Needed)

    datasets = [one.model_copy(update={"dialog_count": round(size.value * 20)}) for one in design.datasets]
    needed = design.model_copy(update={"datasets": datasets})
    found = rehearse("needed", needed, CLEAR, studies=20, workers=60, seed=2).signals[pair]

    # Such a study lies 2.80 errors above 0 on average: above 1.96 in 80 %.
    assert isinstance(found, Signal)
    assert found.value == pytest.approx(2.80, abs=2.5 * math.hypot(found.error, small.error))


@pytest.fixture
def studies(example_corpus: None) -> list[Study]:
    made = []
    for file in ("demo", "demo_pairs"):
        study = create_study(read_study_file(ROOT / "examples" / f"{file}.toml"))
        build_hits(study)
        study.refresh_from_db()
        made.append(study)
    return made


def _told(names: Sequence[str], **options: object) -> str:
    out = io.StringIO()
    call_command("compare_protocols", *names, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_the_command_rehearses_studies_that_nobody_has_rated(studies: list[Study]) -> None:
    names = [study.name for study in studies]

    told = _told(names, simulate=3)

    assert "3 simulated studies" in told
    assert "Simulated: not for publication" in told
    assert f"{names[1]} (pairs) surely needs fewer minutes than {names[0]} (areas) for" in told
    assert "generic and listener-large" in told
    assert "Mind: they have 60, 20 dialogs" in told
    assert "an hour at most, with fees; ratios of money contain that" in told
    assert "Kendall's tau" in told
    assert told == _told(names, simulate=3)


def test_the_command_refuses_in_a_line(studies: list[Study]) -> None:
    first, second = (study.name for study in studies)

    with pytest.raises(CommandError, match="two or three different studies"):
        _told([first, first])
    with pytest.raises(CommandError, match="--truth is for simulated studies"):
        _told([first, second], truth="demo")
    with pytest.raises(CommandError, match="choose fewer points"):
        _told([first, second], simulate=2, apart=40)
    with pytest.raises(CommandError, match=f"{first} has no ratings"):
        _told([first, second])


def test_the_command_reads_real_ratings(studies: list[Study]) -> None:
    copies = [studies[0], create_study({**studies[0].design, "name": "demo-again"})]
    build_hits(copies[1])
    for seed, study in enumerate(copies):
        study.refresh_from_db()
        rate(study, seed=seed)

    told = _told([study.name for study in copies])

    assert "All 24 assignments are by a simulated crowd" in told
    assert "listener-large and parrot" in told
    assert "times the minutes and" in told
    assert "demo and demo-again: " in told
