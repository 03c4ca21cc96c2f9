"""The dialogs behind the results: counted in the background, chosen by filters, linked from cells."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.models import Dialog
from hits.analysing import DialogFilter, RatedDialogFacts, analyse, choose_dialogs, report_of, results_from_json
from hits.analysing.rated_dialogs import rated_dialogs
from hits.analysing.study_analysis import frame_to_analyse, scales_of
from hits.frames import ratings_frame
from hits.models import Assignment, Rating, ScreeningRun, Study, StudyResults, offering_for
from tests.hits.computed import compute, rate_and_screen
from tests.hits.frames import Work, frames_of
from tests.hits.rated import rate
from tests.pages import html_of

ADDRESS = "/studies/demo/results/dialogs/"


@pytest.fixture
def rated(demo_study: Study) -> Study:
    rate_and_screen(demo_study)
    return demo_study


def facts_of(study: Study) -> RatedDialogFacts:
    facts = RatedDialogFacts.from_json(rated_dialogs(frame_to_analyse(offering_for(study, "local")), scales_of(study)))
    assert facts is not None
    return facts


def shown(client: Client, query: str = "") -> str:
    response = client.get(f"{ADDRESS}?{query}")
    assert response.status_code == 200
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


def kept(study: Study) -> Any:
    offering = offering_for(study, "local")
    return Rating.objects.confirmed(offering).kept(ScreeningRun.objects.current(offering))


def test_disagreement_is_the_mean_squared_difference_of_all_pairs_and_the_most_comes_first(demo_study: Study) -> None:
    rate(demo_study, hits=1, workers=2)
    frame = ratings_frame(offering_for(demo_study, "local"))

    facts = rated_dialogs(frame, scales_of(demo_study))

    cards = frame[(frame["dialog"] == facts["dialogs"][0]) & frame["is_first_of_card"]]
    by_card = cards.groupby("card")["score"].agg(lambda scores: float(scores.iloc[0] - scores.iloc[1]) ** 2)
    assert facts["apart"][0] == pytest.approx(by_card.mean(), abs=1e-4)
    assert facts["apart"] == sorted(facts["apart"], reverse=True)
    assert len(facts["dialogs"]) == 10


def test_a_dialog_without_two_ratings_of_a_card_has_no_disagreement_and_comes_last() -> None:
    frame = frames_of(Work("A", ["gg", "gg"]), Work("B", ["gb"])).ratings

    facts = rated_dialogs(frame, {})

    assert facts["apart"] == [2.0, None]
    assert facts["kept"] == [4, 2]


def test_filters_choose_the_dialogs_that_the_ratings_say(rated: Study) -> None:
    facts = facts_of(rated)
    dialogs = Dialog.objects.in_bulk(facts.dialogs)

    def chosen(**wanted: str) -> set[int]:
        return {facts.dialogs[place] for place in choose_dialogs(facts, DialogFilter(**wanted))}

    bad = kept(rated).filter(candidate__generator__name="parrot", value="bad")
    assert chosen(model="parrot", value="bad") == set(bad.values_list("item__dialog", flat=True))
    assert chosen(model="human reply") == set(kept(rated).filter(candidate=None).values_list("item__dialog", flat=True))
    assert chosen(dataset="example-emotional") == {
        key for key, dialog in dialogs.items() if dialog.dataset.name == "example-emotional"
    }
    emotion = next(dialog.emotion for dialog in dialogs.values() if dialog.emotion)
    assert chosen(emotion=emotion) == {key for key, dialog in dialogs.items() if dialog.emotion == emotion}
    assert chosen(turns="3") == {key for key, dialog in dialogs.items() if len(dialog.turns) == 3}
    differ, agree = chosen(disagreement="differ"), chosen(disagreement="agree")
    assert differ | agree == chosen()
    assert not differ & agree


@pytest.mark.parametrize(
    "wanted", [{"model": "nobody"}, {"value": "great"}, {"dataset": "x"}, {"emotion": "x"}, {"turns": "-1"}]
)
def test_a_name_that_is_not_there_chooses_nothing(rated: Study, wanted: dict[str, str]) -> None:
    assert choose_dialogs(facts_of(rated), DialogFilter(**wanted)) == []


def test_a_cell_links_to_the_dialogs_that_it_counts(researcher_client: Client, rated: Study) -> None:
    compute(rated)
    results = results_from_json(StudyResults.objects.get().results)
    [report] = report_of(results).criteria
    facts = facts_of(rated)

    for key, column in (("shares", "share"), ("slices", "outcome")):
        for table in report.section(key).tables:
            for row in table.rows:
                for cell in table.cells(row, column):
                    assert cell.dialogs is not None
                    found = choose_dialogs(facts, cell.dialogs)
                    if key == "slices":
                        [dialogs] = table.cells(row, "dialogs")
                        assert len(found) == dialogs.value
                    else:
                        assert bool(found) == bool(cell.value)
    html = html_of(researcher_client.get("/studies/demo/results/"))
    links = [unescape(link) for link in re.findall(rf'href="({ADDRESS}[^"]+)"', html)]
    query = dict(parse_qsl(next(link for link in links if "value=bad" in link).split("?")[1]))
    assert query == {
        "market": "local", "criterion": "overall", "model": query["model"], "value": "bad",
    } | ({"dataset": query["dataset"]} if "dataset" in query else {})  # fmt: skip
    assert researcher_client.get(next(link for link in links if "emotion=" in link)).status_code == 200
    variant = html_of(researcher_client.get("/studies/demo/results/?screening=no+rule"))
    assert not re.search(rf'href="{ADDRESS}[^"]*model=', variant), "a variant counts other ratings than the list"


def test_the_page_says_who_said_what_and_shows_left_out_ratings_only_if_asked(
    researcher_client: Client, rated: Study
) -> None:
    compute(rated)
    left_out = set(Assignment.objects.filter(crowd_worker_id__startswith="SAME").values_list("pk", flat=True))

    def links(query: str) -> set[int]:
        html = html_of(researcher_client.get(f"{ADDRESS}?{query}"))
        return {int(key) for key in re.findall(r"/studies/demo/assignments/(\d+)/", html)}

    page = shown(researcher_client)
    assert "Page 1 of 6" in page
    assert "apart" in page
    assert links("")
    assert not links("") & left_out
    assert "left out: same answer" not in page
    assert links("left_out=yes") & left_out
    assert "left out: same answer" in shown(researcher_client, "left_out=yes")
    assert "0 dialogs" in shown(researcher_client, "model=nobody")
    assert "Page 2 of" in shown(researcher_client, "page=2&disagreement=differ")


def test_the_number_of_queries_does_not_depend_on_the_filter(researcher_client: Client, rated: Study) -> None:
    compute(rated)

    def count(query: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            shown(researcher_client, query)
        return len(queries)

    assert count("") == count("model=parrot&value=bad") == count("page=3")


def test_slices_have_the_shares_of_their_own_ratings_and_say_how_many(rated: Study) -> None:
    frame = frame_to_analyse(offering_for(rated, "local"))
    results = analyse(frame, scales=scales_of(rated))

    slices = {one.by: one for one in results.main.slices}
    assert list(slices) == ["emotion", "turns", "dataset"]
    counted = frame[frame["generator"].notna() & ~frame.filter(like="excluded_by_").any(axis=1)]
    for by, one in slices.items():
        for row in one.rows:
            part = counted[(counted[by].astype(str) == row.level) & (counted["generator"] == row.generator)]
            assert row.ratings == len(part)
            assert row.share.value == pytest.approx((part["value"] == "good").mean())  # type: ignore[union-attr]
    [report] = report_of(results).criteria
    section = report.section("slices")
    assert section.lead.startswith("Exploratory")
    assert not any(cell.is_best for table in section.tables for row in table.rows for cell in row.cells)


def test_of_very_many_levels_those_with_the_most_ratings_are_shown_and_the_others_counted() -> None:
    frame = frames_of(*(Work(f"W{number}", ["gb"] * 60) for number in range(3)), Work("X", ["gb"] * 5)).ratings
    frame["turns"] = frame["dialog"].to_numpy(np.int16) % 60 + 1

    slices = {one.by: one for one in analyse(frame).main.slices}

    assert list(slices) == ["turns"]
    assert len({row.level for row in slices["turns"].rows}) == 40
    assert slices["turns"].omitted == 20
    assert {"1", "5"} <= {row.level for row in slices["turns"].rows}


def test_disagreement_is_about_the_chosen_models_reply() -> None:
    facts = RatedDialogFacts(
        dialogs=[1, 2, 3],
        kept=[4, 4, 4],
        apart=[1.0, 1.0, 1.0],  # in every dialog workers differ on some reply
        dataset=[0, 0, 0],
        datasets=["d"],
        emotion=[-1, -1, -1],
        emotions=[],
        turns=[1, 1, 1],
        values={"overall": ["good", "bad"]},
        counts={"overall": {"A": [[2, 1, 0], [0, 1, 1]], "B": [[1, 0, 0], [1, 0, 2]]}},
    )

    def places(**chosen: str) -> list[int]:
        return choose_dialogs(facts, DialogFilter("overall", **chosen))

    assert places(disagreement="agree") == []
    assert places(model="A", disagreement="agree") == [0]
    assert places(model="A", disagreement="differ") == [1]  # one rating neither agrees nor differs
    assert places(model="B", disagreement="agree") == [2]
    assert places(model="A", other="B") == [0, 2]
