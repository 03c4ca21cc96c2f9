"""How far workers agree with themselves: the statistic, results, and what a bundle tells and recomputes."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from hits.analysing import analyse_study
from hits.exporting import check_bundle, export_bundle
from hits.models import Study, offering_for
from hits.stats import CriterionScale, Estimate, Interval, Undefined, self_agreement
from tests.hits.controlled import built
from tests.hits.rated import rate

SCALE = CriterionScale(("3", "2", "1"), (3, 2, 1))


def pairs(first: Any, again: Any, **more: Any) -> pd.DataFrame:
    some = {"worker": range(len(first)), "dialog": range(len(first)), **more}
    return pd.DataFrame({"first": list(map(str, first)), "again": list(map(str, again)), **some})


def value(one: Estimate | Undefined) -> float:
    assert isinstance(one, Estimate)
    return one.value


def test_the_example_of_the_formulas() -> None:
    found = self_agreement(pairs([1, 1, 2, 2], [1, 2, 2, 2]), SCALE)

    assert (found.pairs, found.workers, value(found.alike), value(found.kappa)) == (4, 4, 0.75, 0.5)


def test_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    first = rng.integers(1, 4, 300)
    again = np.where(rng.random(300) < 0.6, first, rng.integers(1, 4, 300))

    found = self_agreement(pairs(first, again), SCALE)

    assert value(found.kappa) == pytest.approx(cohen_kappa_score(first, again, weights="quadratic"))
    assert value(found.alike) == (first == again).mean()


def test_intervals_hold_the_truth_as_often_as_they_promise() -> None:
    """Workers who answer at random again with a chance of two fifths, each a little differently."""
    rng = np.random.default_rng(11)
    workers, each, truth = 40, 8, 0.6 + 0.4 / 3
    held = {"alike": 0, "kappa": 0}
    for _ in range(400):
        who = np.repeat(np.arange(workers), each)
        dialog = rng.integers(0, 60, len(who))
        first = rng.integers(1, 4, len(who))
        chance = np.clip(rng.normal(0.6, 0.1, workers), 0, 1)[who]
        again = np.where(rng.random(len(who)) < chance, first, rng.integers(1, 4, len(who)))
        found = self_agreement(pairs(first, again, worker=who, dialog=dialog), SCALE)
        for name, true in (("alike", truth), ("kappa", 0.6)):
            one = getattr(found, name)
            assert isinstance(one.interval, Interval)
            held[name] += one.interval.low <= true <= one.interval.high

    assert all(0.92 < count / 400 < 0.99 for count in held.values()), held


def test_on_a_slider_the_same_fifth_is_the_same_answer_and_kappa_keeps_the_points() -> None:
    slider = CriterionScale(tuple(map(str, range(100, -1, -1))), tuple(range(100, -1, -1)), bins=(81, 61, 41, 21, 0))

    found = self_agreement(pairs([90, 10, 55], [85, 19, 30]), slider)

    assert value(found.alike) == pytest.approx(2 / 3)
    assert value(found.kappa) < 1


def test_what_can_t_be_said_says_why() -> None:
    nothing, same = self_agreement(pairs([], []), SCALE), self_agreement(pairs([2, 2], [2, 2]), SCALE)

    assert nothing.alike == nothing.kappa == Undefined("nothing was rated twice")
    assert same.kappa == Undefined("all answers are the same, so nothing can be said about chance")
    assert value(same.alike) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("protocol", ["areas"])
def test_a_bundle_has_what_was_said_twice_and_computes_it_again(protocol: str, tmp_path: Path) -> None:
    study = built(protocol)
    rate(study)
    offering = offering_for(study, "local")

    bundle = export_bundle(offering, tmp_path / "bundle")

    found = bundle.results.main.self_agreement
    assert found is not None
    assert found.pairs == bundle.about.repeats == 6 * 4 * 8 - _merged(study)
    assert found == analyse_study(offering).main.self_agreement
    assert check_bundle(tmp_path / "bundle") == []
    methods = (tmp_path / "bundle" / "methods.md").read_text()
    assert "Each task had 2 attention checks" in methods
    assert "Of 48 such checks, 48 were answered as told." in methods
    assert "In each task, 2 dialogs came twice" in methods
    assert "Asked twice, made-up workers gave the same answer in" in methods


def _merged(study: Study) -> int:
    """How many pairs fewer there are than four cards would make: some cards stand for several models."""
    repeats = [item for hit in study.hits.all() for item in hit.items.filter(told=None).exclude(repeats=None)]
    return 4 * sum(4 - len(item.cards) for item in repeats)


@pytest.mark.django_db
@pytest.mark.usefixtures("example_corpus")
def test_a_changed_answer_in_repeats_is_told(tmp_path: Path) -> None:
    study = built("areas")
    rate(study, hits=2)
    export_bundle(offering_for(study, "local"), tmp_path / "bundle")
    file = tmp_path / "bundle" / "repeats.csv"
    rows = pd.read_csv(file, keep_default_na=False)

    def told(column: str) -> list[str]:
        changed = rows.copy()
        changed.loc[0, column] = "bad" if changed.loc[0, column] != "bad" else "good"
        changed.to_csv(file, index=False, lineterminator="\n")
        return check_bundle(tmp_path / "bundle")

    assert any("repeats.csv has 1 first answers that ratings.csv has otherwise" in one for one in told("first"))
    assert any("results.json" in one for one in told("again"))
