"""A protocol is one file and a line of the registry: no room has to know it, also where it asks for two things."""

import io
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client

from generation.models import Candidate
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study, parse_design
from hits.errors import InvalidStudy
from hits.frames import study_frames
from hits.models import Hit, Rating, Study, offering_for
from hits.models.design import StudyDesign
from hits.monitoring import passed_by_worker
from hits.protocols import PROTOCOLS
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.toy_protocol import Stars
from tests.pages import html_of

SETTINGS = {**DEMO, "protocol": "stars"}


@pytest.fixture(autouse=True)
def stars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, "stars", Stars)


@pytest.fixture
def hit(example_corpus: None, researcher: User, market: MTurkMarket) -> Hit:
    study = create_study(SETTINGS)
    study.owner = researcher
    study.save()
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market, 1)
    return study.hits.get(number=0)


class StarWorker(CrowdWorker):
    def give(self, empathy: str, fluency: str) -> "StarWorker":
        dialogs = []
        for position, dialog in enumerate(self.data["dialogs"]):
            places = [str(place) for place in range(len(dialog["cards"]))]
            said = {"empathy": dict.fromkeys(places, empathy), "fluency": dict.fromkeys(places, fluency)}
            dialogs.append({"position": position, "revision": dialog["answer"]["revision"], "stars": said})
        answer = self.submit(dialogs)
        assert answer.status_code == 200, answer.content
        self.hand_in(answer.json()["fields"])
        return self


def test_the_page_gets_what_the_protocol_asks_with(hit: Hit) -> None:
    page = StarWorker(hit, people()[0]).data

    assert page["criteria"] == ["empathy", "fluency"]
    assert page["dialogs"][0]["answer"] == {"revision": 0, "stars": {}, "active_ms": 0, "hidden_ms": 0, "moves": []}
    assert "the point is yours when you give it two stars or more." in page["facts"]["bonus_rule"]


def test_an_answer_of_another_protocol_is_refused(hit: Hit) -> None:
    worker = StarWorker(hit, people()[0])

    assert worker.save(0, {"0": "good"}).status_code == 400


@pytest.mark.parametrize("place", ["x", "-1", "99", "²"])
def test_a_place_that_the_dialog_does_not_have_is_refused_and_breaks_nothing(hit: Hit, place: str) -> None:
    worker = StarWorker(hit, people()[0])

    refused = worker.submit([{"position": 0, "revision": 0, "stars": {"empathy": {place: "3"}}}])

    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")


def test_work_is_complete_when_every_criterion_is_answered(hit: Hit) -> None:
    worker = StarWorker(hit, people()[0])
    dialogs = [{"position": 0, "revision": 0, "stars": {"empathy": {"0": "3"}, "fluency": {}}}]

    refused = worker.submit(dialogs).json()

    assert refused["code"] == "incomplete"
    assert refused["missing"][0] == {"position": 0, "cards": len(worker.data["dialogs"][0]["cards"])}


def test_each_criterion_makes_ratings_and_one_of_them_wins_the_points(hit: Hit, market: MTurkMarket) -> None:
    worker = StarWorker(hit, people()[0]).give(empathy="3", fluency="1")

    collect(offering_for(hit.study, "local"), market, now())

    frames = study_frames(offering_for(hit.study, "local"))
    means = frames.ratings.groupby("criterion", observed=True)["score"].mean()
    assert means.to_dict() == {"empathy": 3, "fluency": 1}
    assert len(frames.ratings) == 2 * (4 * 10 + 3)
    assert frames.submissions["points"].tolist() == [3]
    assert passed_by_worker(offering_for(hit.study, "local"))[worker.worker_id].won == 3


def test_a_simulated_crowd_answers_and_the_bundle_has_both_criteria(hit: Hit, tmp_path: Path) -> None:
    call_command("simulate_crowd", "demo", "--seed", "7", stdout=io.StringIO())
    call_command("sync_hits", "demo", stdout=io.StringIO())

    assert set(Rating.objects.values_list("criterion", flat=True)) == {"empathy", "fluency"}


def test_the_study_form_and_the_assignment_page_show_it(hit: Hit, researcher_client: Client) -> None:
    worker = StarWorker(hit, people()[0]).give(empathy="3", fluency="1")
    draft = Study.objects.create(name="draft", owner=hit.study.owner, design={**SETTINGS, "name": "draft"})

    form = html_of(researcher_client.get(f"/studies/{draft.name}/edit/task/"))
    page = html_of(researcher_client.get(f"/studies/demo/assignments/{worker.assignment.pk}/"))

    assert "deserves" in form
    assert "belongs in" not in form
    assert "empathy: three stars, fluency: one star" in page


def test_a_protocol_that_nobody_knows_is_a_problem_with_a_name() -> None:
    with pytest.raises(InvalidStudy, match=r"protocol: 'songs' is no protocol; known are areas, .*stars"):
        parse_design({**DEMO, "protocol": "songs"})
    assert StudyDesign.model_validate(DEMO).protocol == "areas"


def test_the_database_takes_no_rating_twice_and_no_reply_against_itself(hit: Hit, market: MTurkMarket) -> None:
    StarWorker(hit, people()[0]).give(empathy="3", fluency="1")
    collect(offering_for(hit.study, "local"), market, now())
    rating = Rating.objects.exclude(candidate=None).first()
    assert rating is not None
    other = Candidate.objects.filter(dialog=rating.item.dialog_id).exclude(ratings=rating).first()
    same = {"submission": rating.submission, "item": rating.item, "card": 0, "place": 0, "value": "win"}
    pair = {**same, "criterion": "overall", "candidate": rating.candidate, "opponent": other}
    against_human = {**same, "criterion": "overall", "candidate": None, "opponent": other}

    for stored in (pair, against_human):
        Rating.objects.create(**stored)

    refused = [
        pair,
        against_human,
        {**pair, "opponent": rating.candidate},
        {**pair, "criterion": ""},
        {**same, "criterion": "empathy", "candidate": rating.candidate},
        {**same, "criterion": "empathy", "candidate": None, "item": hit.items.filter(is_checkpoint=True)[0]},
    ]
    for values in refused:
        with pytest.raises(IntegrityError), transaction.atomic():
            Rating.objects.create(**values)
