"""What a page saves, checks and submits."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Answer, Assignment, BonusCheck, Hit, Study
from tests import snapshots
from tests.conftest import DEMO
from tests.hits import crowd
from tests.hits.working import Worker, publish


@pytest.fixture
def worker(demo_study: Study) -> Worker:
    publish(demo_study)
    return Worker(demo_study.hits.get(number=0)).open()


def open_with(**checkpoints: object) -> Worker:
    study = create_study({**DEMO, "checkpoints": {**DEMO["checkpoints"], **checkpoints}})
    snapshots.build(study)
    publish(study)
    return Worker(study.hits.all()[0]).open()


def test_a_placement_is_stored_by_card_with_the_order_that_the_worker_saw(worker: Worker) -> None:
    worker.save(0, {"0": "good", "1": "bad"}, active_ms=1200, hidden_ms=30, moves=[[500, 0, "good"]])

    answer = Answer.objects.get()
    assert answer.value == {"areas": {str(answer.card_order[0]): "good", str(answer.card_order[1]): "bad"}}
    assert (answer.active_ms, answer.hidden_ms, answer.moves) == (1200, 30, [[500, 0, "good"]])
    shown = [worker.card_text(answer.item, card) for card in answer.card_order]
    assert shown == worker.data["dialogs"][0]["cards"]


def test_a_reload_continues_where_it_was(worker: Worker) -> None:
    body = {"step": "dialog-4", "feedback": "So far so good.", "dialogs": []}
    worker.call("save", body)
    worker.save(4, {"1": "okay"}, active_ms=7, problem="A turn is missing.")

    worker.open()

    dialog = worker.data["dialogs"][4]
    assert (worker.data["step"], worker.data["feedback"]) == ("dialog-4", "So far so good.")
    assert (dialog["answer"]["areas"], dialog["answer"]["active_ms"]) == ({"1": "okay"}, 7)
    assert dialog["problem"] == "A turn is missing."


def test_the_same_save_again_changes_nothing(worker: Worker) -> None:
    first = worker.save(0, {"0": "good"}).json()
    again = worker.save(0, {"0": "good"}).json()

    assert first == again == {"dialogs": [{"position": 0, "revision": 1, "conflict": False}]}


def test_two_tabs_do_not_overwrite_each_other_silently(worker: Worker) -> None:
    worker.save(0, {"0": "good"}, problem="Odd.")

    (said,) = worker.save(0, {"0": "bad"}, revision=0).json()["dialogs"]

    assert said == {
        "position": 0,
        "conflict": True,
        "revision": 1,
        "areas": {"0": "good"},
        "active_ms": 0,
        "hidden_ms": 0,
        "moves": [],
        "problem": "Odd.",
    }
    (agreed,) = worker.save(0, {"0": "bad"}, revision=1).json()["dialogs"]
    assert (agreed["conflict"], agreed["revision"]) == (False, 2)


@pytest.mark.django_db(transaction=True)
def test_concurrent_saves_of_one_assignment_lose_nothing(worker: Worker) -> None:
    def save(position: int) -> int:
        try:
            status: int = worker.save(position, worker.all_in(position, "okay")).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as threads:
        assert set(threads.map(save, range(10))) == {200}

    worker.open()
    assert all(len(one["answer"]["areas"]) == len(one["cards"]) for one in worker.data["dialogs"])


def test_a_check_says_whether_the_placement_passes_and_which_one_it_was(worker: Worker) -> None:
    position = worker.checkpoint()
    gold = str(worker.gold_place(position))
    first, second = {**worker.all_in(position, "good"), gold: "bad"}, {**worker.all_in(position, "bad"), gold: "okay"}

    lost = worker.check(position, first).json()
    won = worker.check(position, second, attempt=2, revision=1).json()

    known = {"attempts_left": None, "is_lost": False}
    assert lost["bonus"] == {"attempts": 1, "checked": {"areas": first}, "passed": False, **known}
    assert won["bonus"] == {"attempts": 2, "checked": {"areas": second}, "passed": True, **known}
    assert won.keys() == {"position", "revision", "conflict", "bonus"}
    assert worker.open().data["dialogs"][position]["bonus"] == won["bonus"]
    assert list(BonusCheck.objects.values_list("attempt", "is_passed")) == [(1, False), (2, True)]
    assert Answer.objects.get().revision == 2


def test_after_a_move_the_page_knows_no_more_than_the_last_check_said(worker: Worker) -> None:
    position = worker.checkpoint()
    checked = worker.check(position, worker.all_in(position, "good")).json()["bonus"]

    worker.save(position, worker.all_in(position, "bad"), revision=1)

    assert worker.open().data["dialogs"][position]["bonus"] == checked


def test_a_check_that_is_sent_again_is_not_another_attempt(worker: Worker) -> None:
    position = worker.checkpoint()
    first = worker.check(position, worker.all_in(position, "good")).json()
    again = worker.check(position, worker.all_in(position, "good")).json()

    assert first == again
    assert BonusCheck.objects.count() == 1


def test_a_check_from_a_tab_that_is_behind_says_what_is_stored(worker: Worker) -> None:
    position = worker.checkpoint()
    worker.check(position, worker.all_in(position, "good"))

    response = worker.check(position, worker.all_in(position, "bad"))

    assert (response.status_code, response.json()["code"]) == (409, "conflict")
    assert response.json()["dialog"]["areas"] == worker.all_in(position, "good")
    assert response.json()["dialog"]["bonus"]["attempts"] == 1


def test_checks_can_be_limited_and_the_first_can_be_the_one_that_counts(example_corpus: None) -> None:
    worker = open_with(max_attempts=2, counts="first check")
    position = worker.checkpoint()
    gold = str(worker.gold_place(position))

    first = worker.check(position, {**worker.all_in(position, "good"), gold: "bad"}).json()["bonus"]
    second = worker.check(position, worker.all_in(position, "good"), attempt=2, revision=1).json()["bonus"]
    third = worker.check(position, worker.all_in(position, "okay"), attempt=3, revision=2)

    assert [first["is_lost"], second["is_lost"]] == [True, True]
    assert (second["passed"], second["attempts_left"]) == (True, 0)
    assert (third.status_code, third.json()["code"]) == (409, "no-attempts-left")


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ("final", "You have won 2 of the 3 bonus points. The bonus needs 3; the reward is yours all the same."),
        ("first check", "You have won 1 of the 3 bonus points. The bonus needs 3; the reward is yours all the same."),
    ],
)
def test_after_the_submission_the_worker_hears_of_their_points(example_corpus: None, counts: str, told: str) -> None:
    """The first is found at the second try, the second is moved away after it was won, the third is never asked for."""
    worker = open_with(counts=counts)
    Assignment.objects.update(confirmed_at=timezone.now())  # by the marketplace, of which there is none here
    first, second, _ = (number for number, one in enumerate(worker.data["dialogs"]) if one["has_bonus"])
    worker.check(first, worker.all_in(first, "bad"))
    worker.check(first, worker.all_in(first, "good"), attempt=2, revision=1)
    worker.check(second, worker.all_in(second, "good"))
    dialogs = worker.open().everything()
    dialogs[second]["areas"] = worker.all_in(second, "bad")

    answer = worker.submit(dialogs).json()

    assert answer["points"] == told


def test_points_can_be_told_after_the_submission_only(example_corpus: None) -> None:
    """Then nothing on the page says which dialogs carry one, and nobody can ask."""
    worker = open_with(feedback="after submission")
    Assignment.objects.update(confirmed_at=timezone.now())
    position = worker.hit.items.filter(is_checkpoint=True)[0].position

    refused = [worker.check(number, worker.all_in(number, "good")) for number in range(10)]
    (saved,) = worker.save(position, worker.all_in(position, "good")).json()["dialogs"]

    assert {(one.status_code, one.json()["code"]) for one in refused} == {(400, "invalid")}
    assert {(one["has_bonus"], one["bonus"]) for one in worker.data["dialogs"]} == {(False, None)}
    assert saved.keys() == {"position", "revision", "conflict"}
    assert BonusCheck.objects.count() == 0
    assert "We tell you afterwards how many points you have won" in worker.data["facts"]["bonus_rule"]
    assert worker.open().submit().json()["points"] == "You have won all 3 bonus points: we pay $0.10 on top."


def test_a_check_needs_a_checkpoint_with_every_card_placed(worker: Worker) -> None:
    position = worker.checkpoint()
    plain = next(number for number, one in enumerate(worker.data["dialogs"]) if not one["has_bonus"])

    assert worker.check(plain, worker.all_in(plain, "good")).status_code == 400
    response = worker.check(position, {"0": "good"})
    assert (response.status_code, response.json()["code"]) == (409, "incomplete")
    assert BonusCheck.objects.count() == 0


def test_an_incomplete_submission_says_what_is_missing(worker: Worker) -> None:
    response = worker.submit([worker.everything()[0]])

    body = response.json()
    assert (response.status_code, body["code"]) == (409, "incomplete")
    assert [one["position"] for one in body["missing"]] == list(range(1, 10))
    assert "of conversation 2" in body["message"]
    assert worker.assignment.submitted_at is None


def test_a_submission_carries_the_answers_so_that_ours_can_be_rebuilt(worker: Worker) -> None:
    position = worker.checkpoint()
    worker.check(position, worker.all_in(position, "good"))
    dialogs = worker.everything("good")
    dialogs[position]["revision"] = 1

    fields = worker.submit(dialogs, "Nice task!").json()["fields"]

    copy = json.loads(fields["answers"])
    assert (fields["assignmentId"], copy["feedback"]) == ("ASSIGNMENT1", "Nice task!")
    assert copy["rotation"] == worker.assignment.rotation
    assert [one["areas"] for one in copy["dialogs"]] == [one["areas"] for one in dialogs]
    assert [len(one["checks"]) for one in copy["dialogs"]] == [number == position for number in range(10)]


def test_after_the_submission_nothing_changes_any_more(worker: Worker) -> None:
    first = worker.submit().json()

    assert worker.save(0, {}).json()["code"] == "already-submitted"
    assert worker.check(worker.checkpoint(), {}).json()["code"] == "already-submitted"
    again = worker.submit(worker.everything("bad")).json()
    assert (again["action"], again["code"], again["points"]) == (first["action"], first["code"], first["points"])
    assert {answer.value["areas"]["0"] for answer in worker.assignment.answers.all()} == {"good"}


def test_forged_swapped_and_foreign_tokens_are_refused(worker: Worker) -> None:
    token = worker.data["token"]
    other = Worker(worker.hit, "OTHER", "ASSIGNMENT2").open()

    for forged in ("", "x", token[:-1], token.replace("WORKER1", "OTHER", 1), f"{token}:x", "1.a.b.c:d"):
        response = worker.call("save", {"dialogs": []}, token=forged)
        assert (response.status_code, response.json()["code"]) == (401, "token-invalid")
    worker.call("save", {"step": "finish"}, token=other.data["token"])
    assert (worker.assignment.step, other.assignment.step) == ("welcome", "finish")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"dialogs": [{"position": 0, "revision": 0, "areas": {"9": "good"}}]}',
        '{"dialogs": [{"position": 0, "revision": 0, "areas": {"0": "superb"}}]}',
        '{"dialogs": [{"position": 99, "revision": 0, "areas": {}}]}',
        '{"dialogs": [{"position": 0, "revision": 0, "areas": {}, "active_ms": 1e99}]}',
        '{"dialogs": [{"position": 0, "revision": 0, "areas": {}, "points": 3}]}',
        '{"step": "somewhere"}',
        '{"feedback": "half a character: \\ud800"}',
        b"\xff\xfe",
    ],
)
def test_what_no_page_of_ours_sends_is_refused_in_one_line(worker: Worker, body: str | bytes) -> None:
    response = worker.call("save", body)

    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert Answer.objects.count() == 0


def test_odd_characters_and_sizes_are_taken_or_refused(worker: Worker) -> None:
    assert worker.call("save", {"feedback": "a\0b 👍"}).status_code == 200
    assert worker.assignment.feedback == "ab 👍"
    assert worker.call("save", {"feedback": "x" * 300_000}).status_code == 413


def test_a_page_that_calls_too_often_is_slowed_down(worker: Worker) -> None:
    calls = (worker.call("save", {"dialogs": []}).status_code for _ in range(650))

    # One call was for the consent; and more than these, where a new minute has begun meanwhile.
    assert next(number for number, status in enumerate(calls) if status == 429) >= 299


def test_a_token_from_before_a_restored_database_asks_for_a_reload(worker: Worker) -> None:
    worker.assignment.delete()
    Worker(worker.hit, "OTHER", "ASSIGNMENT2").open()

    assert worker.save(0, {"0": "good"}).json()["code"] == "token-invalid"
    worker.open()
    assert worker.save(0, {"0": "good"}).status_code == 200


def test_time_that_runs_out_between_two_saves_loses_nothing(worker: Worker) -> None:
    worker.save(0, {"0": "good"})
    assignment = worker.assignment
    assignment.held_at -= timedelta(hours=2)
    assignment.save()

    assert worker.submit().status_code == 410
    assert Answer.objects.get().value["areas"]


def test_the_browser_never_learns_who_wrote_what(worker: Worker, demo_study: Study) -> None:
    """Everything that the page received in a whole HIT, searched for names, ids and anything that tells the gold."""
    received = [worker.visit().content.decode()]
    for position, dialog in enumerate(worker.data["dialogs"]):
        received.append(worker.save(position, worker.all_in(position, "good")).content.decode())
        if dialog["has_bonus"]:
            received.append(worker.check(position, worker.all_in(position, "good"), revision=1).content.decode())
    worker.open()
    received.append(worker.submit().content.decode())
    everything = "\n".join(received).lower()

    for name in [
        *demo_study.design["generators"],
        "gold",
        "generator",
        "candidate",
        "reference",
        "external_id",
        "card_order",
    ]:
        assert name.lower() not in everything.replace("good", "")
    for dialog in worker.data["dialogs"]:
        assert dialog.keys() == {"turns", "cards", "has_bonus", "answer", "bonus", "problem"}
        assert all(isinstance(card, str) for card in dialog["cards"])
    item = Hit.objects.get(pk=worker.hit.pk).items.select_related("dialog")[0]
    assert item.dialog.external_id not in everything


def test_the_place_of_the_human_reply_tells_nothing(example_corpus: None, market: MTurkMarket) -> None:
    """Over all checkpoints and workers it stands at each place equally often."""
    study = create_study({**DEMO, "hits": {"assignments": 5}})
    snapshots.build(study)
    study.refresh_from_db()
    crowd.publish(study, market)
    places = []
    for hit in study.hits.all():
        for account in crowd.people():
            worker = crowd.CrowdWorker(hit, account)
            for position, dialog in enumerate(worker.data["dialogs"]):
                if dialog["has_bonus"] and len(dialog["cards"]) == 5:
                    places.append(worker.gold_place(position))

    assert {places.count(place) for place in range(5)} == {len(places) // 5}


def test_a_save_takes_as_few_statements_as_it_ever_did(worker: Worker) -> None:
    """Who holds the assignment was asked when the page was opened: a save asks nobody."""
    with CaptureQueriesContext(connection) as queries:
        assert worker.save(0, {"0": "good"}).status_code == 200

    ours = [one["sql"] for one in queries if "hits_" in one["sql"]]
    assert len(ours) <= 2  # the assignment, the answer; prepared ones, on PostgreSQL, are not seen
