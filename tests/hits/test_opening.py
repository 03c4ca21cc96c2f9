"""A worker opens a HIT: who may, who may not, and in which words."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Answer, Assignment, Hit, Publication, Study
from tests import snapshots
from tests.conftest import DEMO
from tests.hits import crowd
from tests.hits.working import Worker, page_data, publish


@pytest.fixture
def hit(demo_study: Study) -> Hit:
    publish(demo_study)
    return demo_study.hits.get(number=0)


def study_with(**settings: object) -> Study:
    study = create_study({**DEMO, **settings})
    snapshots.build(study)
    publish(study)
    return study


def refusal(worker: Worker, **others: str) -> tuple[int, str]:
    response = worker.visit(**others)
    return response.status_code, response.context.get("code", "")


def test_a_preview_shows_the_welcome_and_writes_nothing(hit: Hit) -> None:
    worker = Worker(hit, assignment_id="ASSIGNMENT_ID_NOT_AVAILABLE", worker_id="").open(turkSubmitTo="")

    assert (worker.data["mode"], worker.data["dialogs"], worker.data["token"]) == ("preview", [], "")
    assert worker.data["facts"]["reward"] == "$0.40"
    rule = worker.data["facts"]["bonus_rule"]
    assert "put it into Good or Okay. What counts is where the replies are when you submit." in rule
    assert rule.endswith("Win all 3 points and we pay $0.10 on top.")
    assert Assignment.objects.count() == 0


def test_the_page_has_all_dialogs_and_sets_no_cookie(hit: Hit) -> None:
    worker = Worker(hit).open()

    assert (worker.data["mode"], len(worker.data["dialogs"])) == ("work", 10)
    assert sum(dialog["has_bonus"] for dialog in worker.data["dialogs"]) == 3
    assert not worker.data["may_be_late"]
    assert not worker.client.cookies


def test_the_same_visit_again_is_the_same_assignment(hit: Hit) -> None:
    first, again = Worker(hit).open(), Worker(hit).open()

    assert first.data["dialogs"] == again.data["dialogs"]
    assert Assignment.objects.count() == 1


def test_only_marketplaces_may_frame_the_page(hit: Hit) -> None:
    response = Worker(hit).visit()

    policy = response.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self' https://workersandbox.mturk.com https://worker.mturk.com" in policy
    assert "X-Frame-Options" not in response.headers
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "others",
    [
        {"hitId": "OTHER"},
        {"hitId": ""},
        {"workerId": ""},
        {"workerId": "'; DROP TABLE"},
        {"assignmentId": ""},
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "https://www.mturk.com"},  # where this HIT was never published
        {"turkSubmitTo": "http://[broken"},
    ],
)
def test_a_page_opened_outside_of_the_marketplace_says_so(hit: Hit, others: dict[str, str]) -> None:
    assert refusal(Worker(hit), **others) == (403, "outside-marketplace")
    assert Assignment.objects.count() == 0


def test_a_hit_whose_id_was_not_noted_yet_is_served(hit: Hit) -> None:
    Publication.objects.filter(hit=hit).update(crowd_hit_id="", published_at=None)

    assert Worker(hit).open(hitId="NOTED-LATER").data["mode"] == "work"


def test_one_assignment_id_can_not_be_used_for_two_hits(hit: Hit) -> None:
    Worker(hit).open()

    assert refusal(Worker(hit.study.hits.get(number=1))) == (403, "outside-marketplace")


def test_a_returned_assignment_comes_to_another_worker_empty(hit: Hit) -> None:
    first = Worker(hit, "A").open()
    first.save(0, first.all_in(0, "good"))

    second = Worker(hit, "B").open()

    assert second.data["dialogs"][0]["answer"] == {
        "revision": 0,
        "areas": {},
        "active_ms": 0,
        "hidden_ms": 0,
        "moves": [],
    }
    assert refusal(first) == (403, "taken-over")
    assert first.save(1, {}).json()["code"] == "taken-over"
    assert Answer.objects.count() == 1


def test_who_still_holds_a_taken_over_assignment_can_go_on(hit: Hit) -> None:
    first = Worker(hit, "A").open()
    first.save(0, first.all_in(0, "good"))
    second = Worker(hit, "B").open()

    response = first.visit()
    assert "held-again=1" in response.context["continue_url"]
    first.open(**{"held-again": "1"})

    assert first.data["dialogs"][0]["answer"]["areas"] == first.all_in(0, "good")
    assert second.save(0, {}).status_code == 200  # who is right, the marketplace says when the work is collected
    Worker(hit, "C").open()
    assert first.save(1, {}).status_code == 200  # and they are not interrupted again


def test_time_over_is_said_and_a_second_acceptance_starts_the_clock_anew(hit: Hit) -> None:
    worker = Worker(hit).open()
    worker.save(0, worker.all_in(0, "bad"))
    Assignment.objects.update(held_at=timezone.now() - timedelta(minutes=61))

    assert refusal(worker) == (403, "time-over")
    late = worker.save(0, {})
    assert (late.status_code, late.json()["code"]) == (410, "time-over")
    worker.open(**{"held-again": "1"})
    assert worker.data["seconds_used"] < 60
    assert worker.data["dialogs"][0]["answer"]["areas"] == worker.all_in(0, "bad")


def test_a_worker_gets_no_more_hits_than_the_limit(example_corpus: None) -> None:
    study = study_with(crowd={"max_hits_per_worker": 2})
    first, second, third = study.hits.all()[:3]
    Worker(first, assignment_id="A1").open().submit()
    Worker(second, assignment_id="A2").open()

    response = Worker(third, assignment_id="A3").visit()

    assert response.context["code"] == "limit-reached"
    assert "may do 2 HITs" in response.context["message"]
    assert Worker(third, "OTHER", "A4").open().data["mode"] == "work"
    assert Worker(second, assignment_id="A2").open().data["mode"] == "work"  # a reload of one's own


def test_what_a_worker_returned_does_not_count_towards_the_limit(example_corpus: None) -> None:
    study = study_with(crowd={"max_hits_per_worker": 1})
    first, second = study.hits.all()[:2]
    Worker(first, assignment_id="A1").open()
    Assignment.objects.update(held_at=timezone.now() - timedelta(minutes=61))

    assert Worker(second, assignment_id="A2").open().data["mode"] == "work"


def test_a_hit_with_all_its_answers_says_that_it_is_full(example_corpus: None) -> None:
    study = study_with(hits={"assignments": 1})
    hit = study.hits.all()[0]
    Worker(hit, "A", "A1").open().submit()
    assert Worker(hit, "C", "A3").open().data["mode"] == "work"  # the marketplace has not heard of it

    Assignment.objects.filter(crowd_worker_id="A").update(confirmed_at=timezone.now())
    assert refusal(Worker(hit, "B", "A2")) == (403, "study-full")
    Assignment.objects.update(ended_as=Assignment.Ending.UNCONFIRMED)  # the marketplace never got it
    assert Worker(hit, "B", "A2").open().data["mode"] == "work"


def test_no_worker_meets_the_dialogs_of_a_split_hit_twice(example_corpus: None) -> None:
    study = study_with(hits={"assignments": 10})
    first, second = study.hits.filter(block=0)
    Worker(first, "A", "A1").open()

    assert refusal(Worker(second, "A", "A2")) == (403, "not-eligible")
    assert Worker(second, "B", "A3").open().data["mode"] == "work"
    assert Worker(study.hits.filter(block=1)[0], "A", "A4").open().data["mode"] == "work"


def test_each_card_stands_at_each_place_once_over_as_many_workers_as_cards(
    demo_study: Study, market: MTurkMarket
) -> None:
    crowd.publish(demo_study, market, 1)
    hit = demo_study.hits.get(number=0)
    position = hit.items.filter(is_checkpoint=False)[0].position
    places: Counter[tuple[str, int]] = Counter()
    for account in crowd.people()[:4]:
        worker = crowd.CrowdWorker(hit, account)
        places.update((text, place) for place, text in enumerate(worker.data["dialogs"][position]["cards"]))

    assert set(places.values()) == {1}


def test_a_finished_hit_shows_its_code_and_what_to_hand_in_again(demo_study: Study, market: MTurkMarket) -> None:
    crowd.publish(demo_study, market, 1)
    worker = crowd.CrowdWorker(demo_study.hits.get(number=0), crowd.people()[0])
    token, everything = worker.data["token"], worker.everything()
    submitted = worker.submit().json()

    worker.open()

    assert worker.data["mode"] == "submitted"
    assert worker.data["submission"] == submitted
    assert "bonus points" in submitted["points"]
    # A page whose answer was lost asks again, with all that it shows or with nothing.
    assert [worker.submit(dialogs, token=token).json() for dialogs in (everything, [])] == [submitted] * 2
    assert worker.data["dialogs"] == []
    assert submitted["action"] == "http://testserver/market/mturk/externalSubmit"


def test_a_hit_that_does_not_exist_is_not_found(hit: Hit) -> None:
    assert Worker(hit).client.get(f"/work/{hit.study.key}/999/").status_code == 404
    assert Worker(hit).client.get("/work/00000000-0000-0000-0000-000000000000/0/").status_code == 404


def test_odd_texts_reach_the_page_as_they_are(hit: Hit) -> None:
    odd = "</script><img src=x onerror=alert(1)> \u202eאבג 👩‍👩‍👧 " + "x" * 500
    item = hit.items.get(position=0)
    item.dialog.turns = [odd]
    item.dialog.save()

    html = Worker(hit).visit().content.decode()

    assert "<img src=x" not in html
    assert page_data(html)["dialogs"][0]["turns"] == [odd]
