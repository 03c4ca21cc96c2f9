"""Studies on scales and in pairs from their file to a checked bundle, with the tables that papers print."""

from pathlib import Path

import pytest

from hits.analysing import report_as_text, report_of
from hits.batching import build_hits
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study, read_study_file
from hits.exporting import check_bundle, export_bundle
from hits.exporting.bundles import Bundle
from hits.models import Study, offering_for
from hits.screening import screen
from hits.stats import Estimate, Tally
from simulated_crowd.channels import InProcess
from simulated_crowd.mean_shares import shares_of_mean
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import DatasetTruth, read_truth
from tests.conftest import ROOT
from tests.hits.crowd import now, publish

TRUTH = read_truth("demo").model_copy(update={"criteria": {"fluency": DatasetTruth(default=shares_of_mean(4.5))}})


def bundle_of(file: str, market: MTurkMarket, folder: Path) -> tuple[Study, Bundle]:
    study = create_study(read_study_file(ROOT / "examples" / file))
    build_hits(study)
    study.refresh_from_db()
    publish(study, market)
    offering = offering_for(study, "local")
    simulate(study, Crowd(12, TRUTH, seed=4), InProcess(), ends_at=now())
    collect(offering, market, now())
    screen(offering, now())
    return study, export_bundle(offering, folder)


@pytest.mark.usefixtures("example_corpus")
def test_a_study_on_scales_goes_from_its_file_to_a_checked_bundle(market: MTurkMarket, tmp_path: Path) -> None:
    _, bundle = bundle_of("demo_likert.toml", market, tmp_path / "bundle")

    assert check_bundle(bundle.folder) == []
    assert [one.criterion for one in bundle.results.criteria] == ["empathy", "relevance", "fluency"]
    table = (bundle.folder / "tables" / "criteria.tex").read_text()
    assert "Model & Empathy & Relevance & Fluency" in table
    rows = [line for line in table.splitlines() if line.startswith("listener-large")]
    assert rows
    assert all(line.count(r"\pm") == 3 for line in rows)
    assert "Human reply & $" in table
    assert r"\input{criteria}" in (bundle.folder / "tables" / "all.tex").read_text()
    assert {row.generator for row in bundle.results.main.table} == {
        *("generic", "listener-large", "listener-small", "parrot"),
    }
    check_what_the_crowd_said(bundle)


def check_what_the_crowd_said(bundle: Bundle) -> None:
    """All models are fluent, and empathy and relevance are one opinion: the halo is whole between those two."""
    empathy, relevance, fluency = bundle.results.criteria
    parrots = [next(row for row in one.table if row.generator == "parrot") for one in (empathy, fluency)]
    unfeeling, fluent = (row.mean_score for row in parrots)
    halo = {one.other: one.pearson for one in empathy.halo}
    text = "\n".join(report_as_text(report_of(bundle.results)))

    assert isinstance(unfeeling, Estimate)
    assert isinstance(fluent, Estimate)
    assert unfeeling.value + 1 < fluent.value
    assert isinstance(halo["relevance"], Estimate)
    assert isinstance(halo["fluency"], Estimate)
    assert 0.1 < halo["relevance"].value < 0.9  # each criterion has chance of its own
    assert 0 < halo["fluency"].value < 0.9
    assert [one.other for one in relevance.halo] == ["empathy", "fluency"]
    assert "How criteria go together" in text


@pytest.mark.usefixtures("example_corpus")
def test_an_a_b_test_goes_from_its_file_to_a_checked_bundle(market: MTurkMarket, tmp_path: Path) -> None:
    _, bundle = bundle_of("demo_pairs.toml", market, tmp_path / "bundle")

    assert check_bundle(bundle.folder) == []
    votes = bundle.results.main.votes
    assert {frozenset((one.first, one.second)) for one in votes} == {
        frozenset(("listener-large", other)) for other in ("generic", "listener-small", "parrot")
    }
    for one in votes:
        assert one.votes.count == 60
        assert isinstance(one.verdicts, Tally)
        assert one.verdicts.count + one.split == 20
    table = (bundle.folder / "tables" / "votes.tex").read_text()
    assert "listener-large -- parrot & " in table
    assert "verdict" in table
    text = "\n".join(report_as_text(report_of(bundle.results)))
    assert "example-empathetic, verdicts" in text
    assert "p, sign test" in text
