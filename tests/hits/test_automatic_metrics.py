"""Automatic metrics cross over to ratings: on the results page, in the terminal, and in the bundle."""

import random
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from pandas.testing import assert_series_equal

from generation.models import Candidate, CandidateScore, Dataset, Generator, GeneratorScore
from hits.analysing import analyse_study, source_of
from hits.analysing.study_analysis import frame_to_analyse
from hits.exporting import RATINGS_FILES, check_bundle, export_bundle
from hits.exporting.ratings_files import read_ratings
from hits.frames import NO_CANDIDATE
from hits.models import Study, offering_for
from hits.stats import Undefined
from tests.hits.rated import BEST_FIRST, rate


@pytest.fixture
def scored(demo_study: Study) -> Study:
    """Rated by workers, and scored so that better models have a higher similarity, with some noise."""
    rate(demo_study, hits=2)
    rng = random.Random(1)
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    values = {key: 1 - BEST_FIRST.index(name) / 5 + rng.gauss(0, 0.1) for key, name in names.items()}
    _score("similarity", "an older network", dict.fromkeys(values, 0.5))
    _score("similarity", "a network", values)
    _score("gold_tokens", "1", dict.fromkeys(values, 7.0))
    return demo_study


def _score(metric: str, version: str, values: dict[int, float]) -> None:
    CandidateScore.objects.bulk_create(
        CandidateScore(candidate_id=key, metric=metric, version=version, value=value) for key, value in values.items()
    )


def test_scores_of_the_newest_version_stand_beside_ratings(scored: Study) -> None:
    frame = frame_to_analyse(offering_for(scored, "local"))
    metric = analyse_study(offering_for(scored, "local")).main.metrics[0]

    newest = dict(CandidateScore.objects.filter(version="a network").values_list("candidate", "value"))
    rated = frame[frame["candidate"] != NO_CANDIDATE]
    assert [name for name in frame.columns if name.startswith("metric_")] == ["metric_similarity"]
    assert rated["metric_similarity"].tolist() == pytest.approx([newest[key] for key in rated["candidate"]], abs=1e-6)
    assert frame[frame["candidate"] == NO_CANDIDATE]["metric_similarity"].isna().all()
    assert metric.replies == rated["candidate"].nunique()
    assert not isinstance(metric.of_generators, Undefined)
    assert metric.of_generators.value > 0.8
    out = StringIO()
    call_command("show_results", "demo", stdout=out, stderr=StringIO())
    assert f"similarity to the human reply, {metric.replies} replies: Pearson" in out.getvalue()


@pytest.mark.once
def test_a_bundle_with_metrics_holds_together(scored: Study, tmp_path: Path) -> None:
    some = CandidateScore.objects.filter(version="a network").order_by("candidate")[:10]
    CandidateScore.objects.filter(pk__in=[score.pk for score in some]).delete()  # NaN in the columns

    bundle = export_bundle(offering_for(scored, "local"), tmp_path / "bundle")

    own = frame_to_analyse(offering_for(scored, "local"))["metric_similarity"]
    for name in RATINGS_FILES:
        assert_series_equal(read_ratings(bundle.folder / name, bundle.about)["metric_similarity"], own)
    assert check_bundle(bundle.folder) == []
    assert bundle.about.metrics == {"similarity": "a network"}
    assert (bundle.folder / "figures" / "metrics.svg").exists()


def test_results_are_stale_when_scores_come_later(scored: Study) -> None:
    before = source_of(offering_for(scored, "local"))

    for dataset in ("example-empathetic", "elsewhere"):
        GeneratorScore.objects.create(
            generator=Generator.objects.get(name="parrot"),
            dataset=Dataset.objects.get_or_create(name=dataset)[0],
            metric="similarity",
            version="a network",
            value=0.3,
            candidate_count=20,
            scored_count=20,
        )
        if dataset == "example-empathetic":
            after = source_of(offering_for(scored, "local"))

    assert after != before
    assert source_of(offering_for(scored, "local")) == after  # of another dataset: nothing to do with the study
