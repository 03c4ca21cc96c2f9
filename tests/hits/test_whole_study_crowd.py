"""A crowd that knows a study only as a whole: one call says what is on offer there, and our page hands out the HITs."""

import io
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from hits.batching import build_hits
from hits.crowds import CROWDS, HandBack, open_crowd
from hits.crowds.coming_and_going import Way
from hits.designing import create_study
from hits.models import Assignment, Hit, Offering, Outcome, Submission, offering_for
from hits.paying import reject
from hits.publishing import resume_study, stop_study
from hits.replacing import replace_lost_assignments
from hits.syncing import sync
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.toy_study_crowd import WholeCrowd
from tests.hits.working import Worker

ANYBODY = {"name": "whole", "countries": [], "min_approved": 0, "min_approval_percent": 0}
BY_HAND = {"approval": "by hand"}


@pytest.fixture(autouse=True)
def crowd(monkeypatch: pytest.MonkeyPatch) -> WholeCrowd:
    whole = WholeCrowd()
    monkeypatch.setitem(CROWDS, whole.name, whole)
    return whole


@pytest.fixture
def offering(example_corpus: None, researcher: User, transactional_db: None) -> Offering:
    return offered()


def offered(**crowd: Any) -> Offering:
    study = create_study({**DEMO, "crowd": {**ANYBODY, **crowd}, "pay": BY_HAND})
    build_hits(study)
    study.refresh_from_db()
    publish("--hits", "2")
    return offering_for(study, "whole.panel")


def publish(*words: str) -> None:
    call_command("publish_hits", "demo", "--crowd", "whole", *words, stdout=io.StringIO())


class Visitor(Worker):
    """Comes to the study, and does not know which HIT they will get."""

    def __init__(self, offering: Offering, crowd: WholeCrowd, name: str, session: str = "") -> None:
        super().__init__(offering.study.hits.get(number=0), name, session or f"session-{name}")
        self.panel = crowd.panel
        self.panel.begin(name, self.assignment_id)

    def parameters(self, **others: str) -> dict[str, str]:
        return {"PARTICIPANT_ID": self.worker_id, "SESSION": self.assignment_id, **others}

    def visit(self, **others: str) -> Any:
        return self.client.get(f"/work/{self.hit.study.key}/", self.parameters(**others))

    def open(self, **others: str) -> "Visitor":
        super().open(**others)
        return self

    def finish(self) -> Hit:
        self.open()
        self.panel.enter_code(self.assignment_id, self.submit().json()["code"])
        return self.assignment.hit


def state(crowd: WholeCrowd) -> tuple[int, bool]:
    return crowd.panel.places, crowd.panel.is_on_offer


# --- What is on offer ------------------------------------------------------------------------------------------------


def test_publishing_stopping_and_resuming_are_one_call_each_with_absolute_numbers(
    crowd: WholeCrowd, offering: Offering
) -> None:
    two_hits = state(crowd)
    publish()
    all_hits = state(crowd)
    stop_study(offering, open_crowd(offering), now)
    stopped = state(crowd)
    resume_study(offering, open_crowd(offering), now)

    every_place = sum(offering.study.hits.values_list("assignments", flat=True))
    assert two_hits == (8, True)
    assert all_hits == (every_place, True)
    assert stopped == (every_place, False)
    assert state(crowd) == (every_place, True)
    assert crowd.panel.calls == 4
    assert crowd.panel.address.endswith(f"/work/{offering.study.key}/")
    assert Offering.objects.get(pk=offering.pk).crowd_notes["study"] == crowd.panel.study


def test_a_stop_that_the_crowd_did_not_hear_of_is_settled_by_the_next_sync(
    crowd: WholeCrowd, offering: Offering
) -> None:
    crowd.panel.is_away = True
    result = stop_study(offering, open_crowd(offering), now)
    not_heard = state(crowd)
    crowd.panel.is_away = False

    sync(offering, open_crowd(offering), now)

    assert str(result.stopped_by) == "The panel is away."
    assert not_heard == (8, True)
    assert state(crowd) == (8, False)


def test_replacing_lost_work_adds_a_place_once(crowd: WholeCrowd, offering: Offering) -> None:
    visitor = Visitor(offering, crowd, "p1")
    visitor.finish()
    market = open_crowd(offering)
    sync(offering, market, now)
    reject(Submission.objects.get(), "Every answer is the same.", market, None, now())

    results = [replace_lost_assignments(offering, market, now) for _ in range(2)]

    assert [one.added for one in results] == [1, 0]
    assert state(crowd) == (9, True)


# --- Who gets which HIT ----------------------------------------------------------------------------------------------


def test_visitors_get_the_least_filled_hit_and_the_same_one_when_they_come_back(
    crowd: WholeCrowd, offering: Offering
) -> None:
    visitors = [Visitor(offering, crowd, f"p{number}").open() for number in range(4)]
    again = Visitor(offering, crowd, "p0").open()

    assert [one.assignment.hit.number for one in visitors] == [0, 1, 0, 1]
    assert visitors[0].data["may_be_late"]
    assert again.assignment == visitors[0].assignment
    assert again.data["dialogs"] == visitors[0].data["dialogs"]
    assert Assignment.objects.count() == 4


def test_a_worker_never_gets_a_hit_twice_and_then_reads_that_nothing_is_free(
    crowd: WholeCrowd, offering: Offering
) -> None:
    first, second = (Visitor(offering, crowd, "p1", session).finish() for session in ("s1", "s2"))
    third = Visitor(offering, crowd, "p1", "s3").visit()

    assert {first.number, second.number} == {0, 1}
    assert third.status_code == 403
    assert "There is no free task for you at the moment" in third.content.decode()
    assert "Please close this page; nothing counts against you." in third.content.decode()


WAYS_BACK = {
    "redirect": HandBack(Way.REDIRECT, "FULL", "https://panel.example/back?code=FULL&n=1"),
    "form": HandBack(Way.FORM, "FULL", "https://panel.example/back", {"code": "FULL&n=1"}),
    "code": HandBack(Way.CODE, "FULL&n=1", note="The panel pays you for coming."),
}


@pytest.mark.parametrize("back", WAYS_BACK.values(), ids=WAYS_BACK.keys())
def test_who_gets_nothing_is_sent_back_in_the_crowds_own_way(
    crowd: WholeCrowd, offering: Offering, back: HandBack
) -> None:
    crowd.panel.ways_back[Outcome.STUDY_FULL] = back
    for session in ("s1", "s2"):
        Visitor(offering, crowd, "p1", session).finish()

    full = Visitor(offering, crowd, "p1", "s3").visit()
    crowd.panel.study = "another study"
    denied = Visitor(offering, crowd, "p2").visit()

    page = full.content.decode()
    assert (full.status_code, denied.status_code) == (403, 403)
    assert "FULL&amp;n=1" in page
    assert back.action in unescape(page)
    assert back.note in page
    assert "Please close this page" not in page
    assert "FULL" not in denied.content.decode()  # a code may be worth money


def test_who_has_done_as_much_as_they_may_is_sent_back_too(
    crowd: WholeCrowd, example_corpus: None, researcher: User, transactional_db: None
) -> None:
    offering = offered(max_hits_per_worker=1)
    crowd.panel.ways_back[Outcome.STUDY_FULL] = WAYS_BACK["code"]
    Visitor(offering, crowd, "p1").finish()

    page = Visitor(offering, crowd, "p1", "s2").visit().content.decode()

    assert "Each participant may do 1 task of this study" in page
    assert "The panel pays you for coming." in page
    assert "{return_it}" not in page


def test_the_last_place_is_given_once_and_again_when_its_holder_ran_out_of_time(
    crowd: WholeCrowd, offering: Offering
) -> None:
    for number in range(8):
        Visitor(offering, crowd, f"p{number}").open()
    late = Visitor(offering, crowd, "late")
    full = late.visit().status_code
    forgotten = Assignment.objects.get(crowd_worker_id="p5")
    Assignment.objects.filter(pk=forgotten.pk).update(held_at="2026-01-01T00:00:00Z")

    assert full == 403
    assert late.open().assignment.hit == forgotten.hit
    assert Visitor(offering, crowd, "later").visit().status_code == 403


def test_nobody_chooses_a_hit_by_its_number(crowd: WholeCrowd, offering: Offering) -> None:
    visitor = Visitor(offering, crowd, "p1")

    by_number = visitor.client.get(f"/work/{offering.study.key}/1/", visitor.parameters())
    of_mturk = Worker(visitor.hit).client.get(f"/work/{offering.study.key}/", Worker(visitor.hit).parameters())

    assert (by_number.status_code, of_mturk.status_code) == (403, 403)
    assert not Assignment.objects.exists()


def test_a_session_of_another_study_is_refused(crowd: WholeCrowd, offering: Offering) -> None:
    crowd.panel.study = "another study"

    refused = Visitor(offering, crowd, "p1").visit()

    assert refused.status_code == 403
    assert "The panel has not given you this task" in refused.content.decode()


def test_whoever_looks_sees_the_first_hit_and_takes_no_place(crowd: WholeCrowd, offering: Offering) -> None:
    preview = Visitor(offering, crowd, "p1").open(TOY_PREVIEW="1").data

    assert preview["mode"] == "preview"
    assert not Assignment.objects.exists()


def test_stopped_studies_give_out_nothing(crowd: WholeCrowd, offering: Offering) -> None:
    stop_study(offering, open_crowd(offering), now)

    assert Visitor(offering, crowd, "p1").visit().status_code == 403
