"""Strangers who know a HIT's address and invent assignments and workers: they fill nothing, cap nobody, shift nothing,
learn nothing, and cost little."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.request import Request

from hits.api.worker_endpoints import PerAssignmentAndAddress, WorkerView
from hits.crowds import Visit
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Assignment, Hit, Publication, Study, offering_for
from hits.monitoring import count_lost_checks
from hits.monitoring.visits import LostChecks
from hits.serving import Ticket
from hits.serving.visit_limits import MOST_VISITS_AN_HOUR
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from tests import snapshots
from tests.conftest import DEMO
from tests.hits import crowd
from tests.hits.crowd import CrowdWorker, people
from tests.hits.working import Worker, publish
from tests.pages import html_of

SANDBOX = "https://workersandbox.mturk.com"
HOME, ELSEWHERE = "198.51.100.7", "203.0.113.9"
UNREACHABLE = "http://127.0.0.1:9"


class MTurkWorker(Worker):
    """On a marketplace that tells of an assignment only when it is submitted; at an address."""

    def __init__(self, hit: Hit, worker_id: str, assignment_id: str, address: str = HOME) -> None:
        super().__init__(hit, worker_id, assignment_id)
        self.client = Client(REMOTE_ADDR=address)

    def parameters(self, **others: str) -> dict[str, str]:
        return super().parameters(**{"turkSubmitTo": SANDBOX, **others})


def on_mturk(**settings: Any) -> list[Hit]:
    study = create_study({**DEMO, **settings})
    snapshots.build(study)
    publish(study, "sandbox")
    return list(study.hits.all())


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    """On the marketplace here, which can say who holds what."""
    crowd.publish(demo_study, market, 2)
    return demo_study.hits.get(number=0)


def forged(hit: Hit, worker_id: str, assignment_id: str) -> Any:
    return Worker(hit, worker_id, assignment_id).visit(hitId=Publication.objects.get(hit=hit).crowd_hit_id)


def code_of(response: Any) -> str:
    return str(response.context.get("code", "")) if response.context else ""


# --- Where the crowd can say who holds an assignment -----------------------------------------------------------------


def test_an_invented_visit_is_refused_kindly_and_leaves_no_trace(hit: Hit) -> None:
    alice = people()[0]

    answers = [forged(hit, alice.worker_id, "INVENTED"), forged(hit, "NOBODY", "INVENTED")]

    for answer in answers:
        assert (answer.status_code, code_of(answer)) == (403, "not-held")
        assert "accept it" in answer.context["message"]
        assert answer.context["continue_url"] is None
        assert b"token" not in answer.content  # without one, there is no Bonus Validate to ask
    assert Assignment.objects.count() == 0


def test_nobody_takes_over_an_assignment_that_the_crowd_gave_to_another(hit: Hit) -> None:
    worker = CrowdWorker(hit, people()[0])

    assert code_of(forged(hit, people()[1].worker_id, worker.assignment_id)) == "not-held"

    assert worker.save(0, {"0": "good"}).status_code == 200
    assert Assignment.objects.count() == 1


def test_the_crowd_is_asked_when_a_page_opens_and_not_with_a_save_and_its_word_is_remembered(hit: Hit) -> None:
    worker = CrowdWorker(hit, people()[0])
    assert worker.assignment.confirmed_at is not None

    with CaptureQueriesContext(connection) as queries:
        worker.save(0, {"0": "good"})
    with override_settings(MTURK_LOCAL_URL=UNREACHABLE):
        assert worker.visit().status_code == 200

    assert not [one["sql"] for one in queries if "localturk" in one["sql"]]


def test_who_has_returned_a_hit_does_not_go_on_working_for_nothing(hit: Hit) -> None:
    worker = CrowdWorker(hit, people()[0])
    worker.give_back()

    assert code_of(worker.visit(hitId=Publication.objects.get(hit=hit).crowd_hit_id)) == "not-held"


def test_forged_visits_between_real_ones_change_nobody_s_rotation(hit: Hit) -> None:
    rotations = []
    for account in people()[:4]:
        for number in range(5):
            forged(hit, f"F{number}", f"{account.worker_id}{number}")
        rotations.append(CrowdWorker(hit, account).assignment.rotation)

    assert rotations == [0, 1, 2, 3]


def test_who_gives_a_hit_back_leaves_their_rotation_to_the_next(hit: Hit) -> None:
    alice, bruno, chen = people()[:3]
    first = CrowdWorker(hit, alice)
    assert CrowdWorker(hit, bruno).assignment.rotation == 1
    first.give_back()

    assert CrowdWorker(hit, chen).assignment.rotation == 0


def test_a_former_holder_can_not_throw_the_rightful_one_out(hit: Hit) -> None:
    alice, bruno = people()[:2]
    former = CrowdWorker(hit, alice)
    former.save(0, former.all_in(0, "good"))
    former.give_back()
    rightful = CrowdWorker(hit, bruno)
    assert rightful.assignment_id == former.assignment_id

    for others in ({}, {"held-again": "1"}):
        answer = former.visit(**others)
        assert (code_of(answer), answer.context["continue_url"]) == ("not-held", None)

    assert former.save(0, {}).json()["code"] == "taken-over"
    assert rightful.save(0, {"0": "good"}).status_code == 200
    assert rightful.open().data["mode"] == "work"


def test_who_accepts_an_assignment_again_goes_on_where_they_were_without_a_click(hit: Hit) -> None:
    alice, bruno = people()[:2]
    first = CrowdWorker(hit, alice)
    first.save(0, first.all_in(0, "good"))
    first.give_back()
    second = CrowdWorker(hit, bruno)
    second.give_back()
    working.accept(alice, TurkHit.objects.get(hit_id=first.crowd_hit_id), Clock().now())

    first.open()

    assert first.data["dialogs"][0]["answer"]["areas"] == first.all_in(0, "good")
    assert first.save(1, {}).status_code == 200
    assert second.save(0, {}).json()["code"] == "taken-over"


def test_our_clock_starts_when_the_crowd_s_does(hit: Hit) -> None:
    """Workers accept many HITs at once and open them one after the other."""
    accepted = _accept_minutes_ago(hit, people()[0], 20)
    crowd_hit_id = accepted.hit.hit_id
    worker = Worker(hit, people()[0].worker_id, accepted.assignment_id).open(hitId=crowd_hit_id)
    assert 1200 <= worker.data["seconds_used"] < 1260

    late = _accept_minutes_ago(hit, people()[1], 61)

    # By the marketplace's own clock the time is over, and it has taken the HIT back.
    answer = Worker(hit, people()[1].worker_id, late.assignment_id).visit(hitId=crowd_hit_id)
    assert code_of(answer) == "not-held"


def _accept_minutes_ago(hit: Hit, account: WorkerAccount, minutes: int) -> TurkAssignment:
    turk_hit = TurkHit.objects.get(hit_id=Publication.objects.get(hit=hit).crowd_hit_id)
    return working.accept(account, turk_hit, Clock().now() - timedelta(minutes=minutes))


def test_a_marketplace_whose_clock_is_ahead_of_ours_shortens_nobody_s_time(hit: Hit) -> None:
    Clock().advance(timedelta(hours=5))

    assert CrowdWorker(hit, people()[0]).data["seconds_used"] < 60


def test_a_marketplace_elsewhere_is_asked_over_the_network(hit: Hit, localturk_url: str) -> None:
    with override_settings(MTURK_LOCAL_URL=localturk_url):
        worker = CrowdWorker(hit, people()[0])
        answer = forged(hit, "NOBODY", "INVENTED")

    assert worker.assignment.confirmed_at is not None
    assert code_of(answer) == "not-held"


def test_while_the_marketplace_is_silent_workers_go_on_and_are_confirmed_later(hit: Hit) -> None:
    with override_settings(MTURK_LOCAL_URL=UNREACHABLE):
        worker = CrowdWorker(hit, people()[0])
        forger = Worker(hit, "NOBODY", worker.assignment_id).open(hitId=worker.crowd_hit_id)
    assert worker.save(0, {"0": "good"}).json()["code"] == "taken-over"  # they are told once...
    assert worker.assignment.confirmed_at is None

    worker.open()  # ...and the marketplace, which answers again, says who is right

    assert worker.assignment.confirmed_at is not None
    assert worker.save(0, {"0": "good"}).status_code == 200
    assert forger.save(0, {}).json()["code"] == "taken-over"


# --- Where it can't --------------------------------------------------------------------------------------------------


def test_forged_submissions_fill_no_hit(example_corpus: None) -> None:
    hit = on_mturk(hits={"assignments": 1})[0]
    for number in range(3):
        MTurkWorker(hit, f"F{number}", f"INVENTED{number}", ELSEWHERE).open().submit()

    assert MTurkWorker(hit, "ALICE", "REAL").open().data["mode"] == "work"


def test_visits_in_a_worker_s_name_use_up_no_cap_of_theirs(example_corpus: None) -> None:
    hits = on_mturk(crowd={"max_hits_per_worker": 2})
    for number, hit in enumerate(hits[:3]):
        MTurkWorker(hit, "ALICE", f"INVENTED{number}", f"203.0.113.{number}").open().submit()

    assert MTurkWorker(hits[3], "ALICE", "REAL1").open().data["mode"] == "work"
    assert MTurkWorker(hits[4], "ALICE", "REAL2").open().data["mode"] == "work"
    # Her own work counts at once, before the marketplace has confirmed any of it.
    assert code_of(MTurkWorker(hits[5], "ALICE", "REAL3").visit()) == "limit-reached"


def test_visits_in_a_worker_s_name_make_no_dialogs_known_to_them(example_corpus: None) -> None:
    first, second = on_mturk(hits={"assignments": 10})[:2]
    assert first.block == second.block
    MTurkWorker(first, "ALICE", "INVENTED", ELSEWHERE).open()

    assert MTurkWorker(second, "ALICE", "REAL").open().data["mode"] == "work"
    assert code_of(MTurkWorker(first, "ALICE", "REAL2").visit()) == "not-eligible"


def test_no_number_of_forged_visits_changes_the_order_that_a_worker_sees(example_corpus: None) -> None:
    hit = on_mturk()[0]
    alone = MTurkWorker(hit, "ALICE", "REAL").open().data["dialogs"]
    Assignment.objects.all().delete()
    for number in range(7):
        MTurkWorker(hit, f"F{number}", f"INVENTED{number}", ELSEWHERE).open()

    assert MTurkWorker(hit, "ALICE", "REAL").open().data["dialogs"] == alone


def test_rotations_that_nobody_confirms_are_spread_and_leave_out_what_confirmed_work_has(example_corpus: None) -> None:
    hit = on_mturk()[0]
    Assignment.objects.create(
        hit=hit,
        offering=offering_for(hit.study, "sandbox"),
        crowd_assignment_id="DONE",
        crowd_worker_id="DONE",
        rotation=2,
        opened_at=timezone.now(),
        held_at=timezone.now(),
        submitted_at=timezone.now(),
        confirmed_at=timezone.now(),
    )
    rotations = [MTurkWorker(hit, f"W{n}", f"A{n}", f"198.51.{n}.1").open().assignment.rotation for n in range(40)]

    assert set(rotations) == {0, 1, 3}


def test_an_address_opens_so_many_pages_an_hour_and_other_addresses_go_on(example_corpus: None) -> None:
    hits = on_mturk()
    per_hit = hits[0].assignments + 10
    for number in range(per_hit):
        MTurkWorker(hits[0], f"F{number}", f"INVENTED{number}", ELSEWHERE).open()
    _forge_rows(hits[1], MOST_VISITS_AN_HOUR - per_hit - 1, Assignment.objects.all()[0].visited_from)

    answer = MTurkWorker(hits[0], "ONE-MORE", "ONE-MORE", ELSEWHERE).visit()
    assert (code_of(answer), answer.status_code) == ("too-many-visits", 403)
    assert "reload this page in a while" in answer.context["message"]
    MTurkWorker(hits[2], "LAST", "LAST", ELSEWHERE).open()
    assert code_of(MTurkWorker(hits[3], "ONE-MORE", "ONE-MORE", ELSEWHERE).visit()) == "too-many-visits"

    assert MTurkWorker(hits[0], "ALICE", "REAL").open().data["mode"] == "work"
    assert MTurkWorker(hits[0], "F1", "INVENTED1", ELSEWHERE).open().data["mode"] == "work"  # a reload is no new visit
    Assignment.objects.update(opened_at=timezone.now() - timedelta(hours=2))
    assert MTurkWorker(hits[0], "ONE-MORE", "ONE-MORE", ELSEWHERE).open().data["mode"] == "work"


def _forge_rows(hit: Hit, count: int, visited_from: str, **others: Any) -> None:
    now, offering = timezone.now(), offering_for(hit.study, "sandbox")
    Assignment.objects.bulk_create(
        Assignment(
            **{
                "hit": hit,
                "offering": offering,
                "crowd_assignment_id": f"ROW{hit.number}-{number}-{len(others)}",
                "crowd_worker_id": f"ROW{number}",
                "rotation": 0,
                "opened_at": now,
                "held_at": now,
                "visited_from": visited_from,
                **others,
            }
        )
        for number in range(count)
    )


def test_invented_assignments_are_no_endless_oracle_for_bonus_validate(
    example_corpus: None, admin_client: Client
) -> None:
    hit = on_mturk()[0]
    budget = 10 * 3 * hit.assignments
    forgers = [MTurkWorker(hit, f"F{n}", f"INVENTED{n}", f"203.0.113.{n}").open() for n in range(6)]
    answers = [_check(forger, attempt) for forger in forgers[:5] for attempt in range(1, budget // 5 + 1)]
    beyond = _check(forgers[5], 1)

    assert [answer.status_code for answer in answers] == [200] * budget
    assert (beyond.status_code, beyond.json()["code"]) == (409, "too-many-checks")
    assert "You can go on without it. What counts is where the replies are when you" in beyond.json()["message"]
    real = MTurkWorker(hit, "ALICE", "REAL").open()
    assert real.submit().status_code == 200  # a check is only told, and nothing else is refused
    Assignment.objects.filter(crowd_worker_id="F0").update(confirmed_at=timezone.now())
    assert _check(forgers[5], 1).status_code == 200  # what turns out to be real frees its part

    _check_that_the_monitor_tells(admin_client, hit, checks=budget + 1 - budget // 5)


def test_nor_does_handing_in_what_was_invented_tell_points(example_corpus: None) -> None:
    hit = on_mturk(checkpoints={**DEMO["checkpoints"], "feedback": "after submission"})[0]

    told = []
    for area in ("good", "bad"):
        forger = MTurkWorker(hit, f"F-{area}", f"INVENTED-{area}").open()
        told.append(forger.submit(forger.everything(area)).json()["points"])

    assert told == ["Your bonus points are counted when the marketplace has confirmed your work."] * 2


def test_nor_does_who_knows_the_ids_of_work_that_was_handed_in_read_its_answers(example_corpus: None) -> None:
    worker = MTurkWorker(on_mturk()[0], "ALICE", "REAL").open()
    handed_in = worker.submit(feedback="My name is Alice").json()

    stranger = MTurkWorker(worker.hit, "ALICE", "REAL", ELSEWHERE).open()

    assert (stranger.data["mode"], stranger.data["token"], stranger.data["dialogs"]) == ("submitted", "", [])
    assert stranger.data["feedback"] == ""
    # What the worker needs if the marketplace did not answer: it counts without the answers, which we have.
    told = stranger.data["submission"]
    assert told["fields"] == {"assignmentId": "REAL", "completionCode": handed_in["code"]}
    assert (told["action"], told["points"]) == (handed_in["action"], handed_in["points"])


def _check(worker: Worker, attempt: int) -> Any:
    """Every other time another placement, as someone would who looks for the human reply."""
    position = worker.checkpoint()
    areas = {**worker.all_in(position, "bad"), "0": "good" if attempt % 2 else "bad"}
    saved = worker.save(position, areas, revision=worker.data.get("revision", 0)).json()["dialogs"][0]
    worker.data["revision"] = saved["revision"]
    return worker.check(position, areas, attempt, saved["revision"])


def _check_that_the_monitor_tells(admin_client: Client, hit: Hit, checks: int) -> None:
    assert count_lost_checks(offering_for(hit.study, "sandbox")) == LostChecks(0, 0)  # they may still be handed in
    Assignment.objects.exclude(crowd_worker_id="F0").update(ended_as=Assignment.Ending.GIVEN_UP)
    assert count_lost_checks(offering_for(hit.study, "sandbox")) == LostChecks(checks, 5)
    with override_settings(MTURK_ENVIRONMENT="sandbox"):
        page = html_of(admin_client.get(f"/studies/{hit.study.name}/monitor/?market=sandbox"))
    assert f"{checks} bonus checks came from 5 visits whose work was never handed in." in page


def test_confirmed_workers_check_as_often_as_the_study_says(hit: Hit) -> None:
    worker = CrowdWorker(hit, people()[0])

    assert {_check(worker, attempt).status_code for attempt in range(1, 131)} == {200}


def test_calls_are_limited_by_assignment_whatever_tokens_are_made_for_it(example_corpus: None) -> None:
    hit = on_mturk()[0]
    workers = [MTurkWorker(hit, f"F{number}", "ONE", f"203.0.113.{number}").open() for number in range(10)]

    calls = (worker.call("save", {"dialogs": []}).status_code for _ in range(65) for worker in workers)

    # Ten calls of the 300 were the agreements.
    assert 290 <= next(number for number, status in enumerate(calls) if status == 429) <= 620


def test_an_address_opens_no_pages_by_the_hundreds_in_a_minute(example_corpus: None) -> None:
    hit = on_mturk()[0]
    stranger = MTurkWorker(hit, "F", "F", "203.0.113.77")

    visits = (code_of(stranger.visit(hitId="NO-SUCH-HIT")) for _ in range(620))

    # 300, or more where a new minute has begun meanwhile.
    assert 300 <= next(number for number, code in enumerate(visits) if code == "too-many-visits") <= 610
    assert MTurkWorker(hit, "ALICE", "REAL").open().data["mode"] == "work"


def test_calls_are_limited_by_address_whatever_assignments_are_invented(example_corpus: None) -> None:
    study_key = on_mturk()[0].study.key
    throttle = PerAssignmentAndAddress()

    def is_allowed(number: int, address: str) -> bool:
        request = Request(RequestFactory().post("/work/api/save/", REMOTE_ADDR=address))
        request.auth = Ticket(study_key, 0, Visit("mturk", "sandbox", f"INVENTED{number}", "F", "HIT", SANDBOX))
        return throttle.allow_request(request, WorkerView())

    answers = (is_allowed(number, "203.0.113.78") for number in range(6100))

    assert 3000 <= next(number for number, allowed in enumerate(answers) if not allowed) <= 6001
    assert is_allowed(0, "203.0.113.79")
    assert all(is_allowed(number, "127.0.0.1") for number in range(4000))  # simulations and benchmarks


# --- What an opening costs -------------------------------------------------------------------------------------------


def test_an_opening_costs_the_same_at_2400_forged_rows_of_any_kind_as_at_4(example_corpus: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite counts its own steps, which no clock and no other process disturbs")
    hits = on_mturk()
    _forge_rows(hits[0], 4, "somewhere")
    MTurkWorker(hits[0], "WARM", "UP").open()
    few_statements, few_steps = _cost_of_an_opening(hits[0], "FEW")

    _forge_rows(hits[0], 2400, "elsewhere", crowd_worker_id="SAME-HIT")
    _forge_rows(hits[1], 2400, "elsewhere", crowd_worker_id="MANY")
    now, offering = timezone.now(), offering_for(hits[0].study, "sandbox")
    Assignment.objects.bulk_create(
        Assignment(
            hit=hits[0],
            offering=offering,
            crowd_assignment_id="MANY",
            crowd_worker_id=f"SAME-ID-{number}",
            rotation=0,
            opened_at=now,
            held_at=now,
            taken_over_at=now,  # by the next one, but for the last
            visited_from="elsewhere",
        )
        for number in range(2400)
    )
    many_statements, many_steps = _cost_of_an_opening(hits[0], "MANY")

    assert many_statements == few_statements <= 16
    assert many_steps < 1.1 * few_steps


def _cost_of_an_opening(hit: Hit, name: str) -> tuple[int, int]:
    """Its statements, and the steps of SQLite's machine that they took: each row that is looked at takes some."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    worker = MTurkWorker(hit, name, name)
    connection.connection.set_progress_handler(count, 1)
    with CaptureQueriesContext(connection) as queries:
        worker.visit()
    connection.connection.set_progress_handler(None, 1)
    return len(queries), steps
