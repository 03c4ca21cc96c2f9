"""The results page: computed by a background process, stored, and shown with figures, tables and reasons."""

import io
import re
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.analysing import compute_results
from hits.models import Exclusion, Rating, ScreeningRun, Study, StudyResults, offering_for
from hits.tasks import compute_results_of_offering, make_bundle_of_offering
from tests.hits.computed import compute, rate_and_screen
from tests.hits.rated import rate
from tests.pages import html_of


@pytest.fixture
def rated(demo_study: Study) -> Study:
    rate_and_screen(demo_study)
    return demo_study


@pytest.fixture
def computed(rated: Study) -> Study:
    compute(rated)
    return rated


def text_of(client: Client, address: str = "") -> str:
    response = client.get(f"/studies/demo/results/{address}")
    assert response.status_code == 200, response.status_code
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


@pytest.mark.once
def test_the_page_asks_a_worker_once_and_shows_what_it_finds(researcher_client: Client, rated: Study) -> None:
    assert "Computing the results: no background process runs." in text_of(researcher_client)
    row = StudyResults.objects.get()
    text_of(researcher_client)
    assert StudyResults.objects.get().requested_at == row.requested_at
    assert "HX-Refresh" not in researcher_client.get("/studies/demo/results/live/").headers

    compute_results_of_offering(offering_for(rated, "local").pk)

    assert researcher_client.get("/studies/demo/results/live/").headers["HX-Refresh"] == "true"
    page = text_of(researcher_client)
    for heading in (
        "What is left out",
        "How replies were rated",
        "Which model is better",
        "Ranking",
        "Agreement of workers",
        "The human reply as a measure",
        "What ratings depend on besides the model",
        "True values",
        "Emotions and intents of the replies",
        "Slices",
        "The dialogs behind the numbers",
    ):
        assert heading in page
    assert "listener-large and parrot" in page
    assert "listener-large is better" in page
    assert "from the work that screening keeps" in page


@pytest.mark.once
def test_every_figure_has_its_words_and_its_numbers(researcher_client: Client, computed: Study) -> None:
    html = html_of(researcher_client.get("/studies/demo/results/"))

    figures = re.findall(r'<figure class="figure-frame figure-wide"><svg role="img" aria-label="([^"]{40,})"', html)
    narrow = re.findall(r'<figure class="figure-frame figure-narrow"><svg role="img" aria-label="([^"]{40,})"', html)
    assert len(figures) == 7  # the matrices of four datasets, all together among them, take two
    assert narrow == figures
    assert html.count("<figure") == 2 * len(figures)
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert html.count("<summary>The numbers as") >= 6
    assert not re.search(r"<script(?![^>]* src=)|<style| style=|javascript:", html)


@pytest.mark.once
def test_the_page_begins_with_the_answer_and_the_ranked_table(researcher_client: Client, computed: Study) -> None:
    page = text_of(researcher_client)
    html = html_of(researcher_client.get("/studies/demo/results/"))

    assert page.index("Simulated: not for publication") < page.index("listener-large ")
    assert page.index("listener-large ") < page.index("Share of good")
    assert html.index('class="leaderboard"') < html.index('id="shares"')
    [board] = re.findall(r'<table class="leaderboard">.*?</table>', html, re.S)
    names = [unescape(name) for name in re.findall(r'<th scope="row">(?:<a [^>]*>)?([^<]*)<', board)]
    assert names[0] == "listener-large"
    assert names[-1] == "human reply"
    assert board.count("<circle") == 4, "the human reply was not rated in every dataset"
    assert "choose one of them" in board


@pytest.mark.once
def test_a_dataset_is_chosen_by_a_link_and_downloaded_as_csv(researcher_client: Client, computed: Study) -> None:
    page = text_of(researcher_client, "?dataset=example-empathetic")
    response = researcher_client.get("/studies/demo/results/leaderboard.csv?dataset=example-empathetic")
    head, *rows = response.content.decode().splitlines()

    assert "In example-empathetic alone, which is exploratory: " in page
    assert "The dashed line is the human reply" in page
    assert response.headers["Content-Type"].startswith("text/csv")
    assert head.startswith("rank,model,outcome,value,low,high,letters,ratings,dialogs,workers,dataset,criterion,note")
    assert len(rows) == 5
    assert all("example-empathetic" in row and "Simulated: not for publication" in row for row in rows)
    assert "which is exploratory" not in text_of(researcher_client, "?dataset=no+such+dataset")


@pytest.mark.once
def test_a_variant_shows_its_own_answer_table_and_figures(researcher_client: Client, computed: Study) -> None:
    def parts(address: str) -> tuple[str, list[str]]:
        html = html_of(researcher_client.get(f"/studies/demo/results/{address}"))
        [board] = re.findall(r'<table class="leaderboard">.*?</table>', html, re.S)
        return board, re.findall(r'<figure class="figure-frame figure-wide">.*?</figure>', html, re.S)

    (board, figures), (other_board, other_figures) = parts(""), parts("?screening=no+rule")

    assert board != other_board
    assert all(one not in figures for one in other_figures[:4])
    assert "verdicts that change" in text_of(researcher_client).lower()


@pytest.mark.once
def test_a_screening_that_was_not_applied_or_was_undone_is_warned_about(
    researcher_client: Client, computed: Study
) -> None:
    assert "own screening" not in text_of(researcher_client)

    ScreeningRun.objects.update(undone_at=timezone.now())
    assert "The study's own screening was undone: everything counts." in text_of(researcher_client)

    Exclusion.objects.all().delete()
    ScreeningRun.objects.all().delete()
    assert "The study's own screening has not been applied: everything counts." in text_of(researcher_client)


@pytest.mark.once
def test_the_screening_can_be_taken_back_to_see_what_depends_on_it(researcher_client: Client, computed: Study) -> None:
    with_all = text_of(researcher_client)
    without = text_of(researcher_client, "?screening=no+rule")

    assert "all rules" in with_all
    assert "Shown as if the screening were “no rule”" in without
    assert "Which model is better" in without
    assert "How replies were rated" in without
    assert "Shown as if" not in text_of(researcher_client, "?screening=no+such+rule")


@pytest.mark.once
def test_new_ratings_make_results_stale_and_they_stay_until_there_are_others(
    researcher_client: Client, computed: Study
) -> None:
    rate(computed, hits=1, workers=1, seed=2)

    page = text_of(researcher_client)

    assert "Below are the earlier results" in page
    assert "more has come in, or been screened, since" in page
    assert "How replies were rated" in page
    assert StudyResults.objects.get().is_under_way
    StudyResults.objects.update(requested_at=None)
    live = researcher_client.get("/studies/demo/results/live/?reading=yes")
    assert "HX-Refresh" not in live.headers
    assert "There are new results" in html_of(live)


def test_before_anything_is_rated_the_page_says_so(researcher_client: Client, demo_study: Study) -> None:
    assert "Nothing of this study is rated on this marketplace yet" in text_of(researcher_client)
    assert "no results yet" in text_of(researcher_client, "dialogs/")
    assert not StudyResults.objects.exists()


@pytest.mark.once
def test_without_screening_the_page_says_that_everything_counts(researcher_client: Client, computed: Study) -> None:
    ScreeningRun.objects.update(undone_at=timezone.now())

    page = text_of(researcher_client)

    assert "The work is not screened: everything counts" in page
    assert "that screening keeps" not in page


def test_a_failed_computation_is_told_and_can_be_asked_for_again(researcher_client: Client, rated: Study) -> None:
    value = Rating.objects.values_list("value", flat=True)[0]
    broken = Rating.objects.filter(pk=Rating.objects.order_by("pk")[0].pk)
    broken.update(value="of no scale")
    with pytest.raises(TypeError):
        compute_results(offering_for(rated, "local"), timezone.now)
    assert "The computation failed" in StudyResults.objects.get().problem
    broken.update(value=value)

    assert "The computation failed" in text_of(researcher_client)
    assert not StudyResults.objects.get().is_under_way

    researcher_client.post("/studies/demo/results/compute/")

    assert "Computing the results: no background process runs." in text_of(researcher_client)


@pytest.mark.once
def test_a_bundle_is_made_by_a_worker_and_downloaded(
    researcher_client: Client, computed: Study, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    assert "Make the bundle" in text_of(researcher_client)
    assert researcher_client.get("/studies/demo/results/bundle.zip").status_code == 404
    researcher_client.post("/studies/demo/results/bundle/", {"texts": "yes"})
    assert "Making the bundle: no background process runs." in text_of(researcher_client, "bundle/")

    make_bundle_of_offering(offering_for(computed, "local").pk)

    assert "Download the bundle" in text_of(researcher_client, "bundle/")
    response = researcher_client.get("/studies/demo/results/bundle.zip")
    packed = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert {"demo-local/README.md", "demo-local/results.json", "demo-local/ratings.parquet"} <= set(names)
    assert [event.text for event in computed.events.all()][:1] == ["asked for a bundle (local, with texts of dialogs)"]
    assert "demo-local/examples.tex" in names
    assert "with texts of dialogs" in text_of(researcher_client, "bundle/")
    researcher_client.post("/studies/demo/results/bundle/")
    make_bundle_of_offering(offering_for(computed, "local").pk)
    again = researcher_client.get("/studies/demo/results/bundle.zip")
    packed = b"".join(again.streaming_content)  # type: ignore[attr-defined]
    assert "demo-local/examples.tex" not in zipfile.ZipFile(io.BytesIO(packed)).namelist()


def test_the_number_of_queries_does_not_grow_with_the_ratings(researcher_client: Client, computed: Study) -> None:
    def count() -> list[int]:
        found = []
        for address in ("", "live/", "dialogs/"):
            with CaptureQueriesContext(connection) as queries:
                text_of(researcher_client, address)
            found.append(len(queries))
        return found

    rate(computed, hits=1, workers=1, seed=2)
    text_of(researcher_client)  # asks for new results
    before = count()
    rate(computed, seed=3)

    assert count() == before
