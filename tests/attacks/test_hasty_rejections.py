"""A rejection takes a worker's pay: only work that somebody has looked at, and that is as empty as it was then."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.budgeting import SAVED_ONLY, UNREADABLE, empty_submissions, waiting_for_decision
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Answer, Assignment, BonusCheck, Payment, Study, Submission, offering_for
from hits.paying import approve_by_hand, reject_empty
from hits.syncing import sync
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of

REJECT = "/studies/demo/assignments/reject-empty/"


@pytest.fixture
def study(example_corpus: None, market: MTurkMarket, researcher: User) -> Study:
    """Approved by hand, so that all work waits."""
    made = create_study({**DEMO, "crowd": {"max_hits_per_worker": 6}, "pay": {"approval": "by hand"}}, researcher)
    snapshots.build(made)
    made.refresh_from_db()
    publish(made, market)
    return made


def hand_in_nothing(account: WorkerAccount, hit: TurkHit) -> None:
    held = working.accept(account, hit, Clock().now())
    working.submit(held.assignment_id, account, {}, Clock().now())


def hand_in_nothing_twice(study: Study, market: MTurkMarket) -> tuple[Submission, Submission]:
    one, two = TurkHit.objects.order_by("pk")[:2]
    hand_in_nothing(people()[0], one)
    hand_in_nothing(people()[1], two)
    sync(offering_for(study, "local"), market, now)
    first, second = empty_submissions(offering_for(study, "local"))
    return first, second


def press(client: Client, *shown: Submission) -> None:
    keys = ",".join(str(one.pk) for one in shown)
    client.post(REJECT, {"market": "local", "shown": keys, "reason": "Nothing was in it.", "is_meant": "yes"})


def rejected() -> set[int]:
    return set(Submission.objects.filter(status="Rejected").values_list("pk", flat=True))


def test_who_was_not_shown_is_not_rejected_though_the_number_is_the_same(
    study: Study, market: MTurkMarket, researcher_client: Client
) -> None:
    first, second = hand_in_nothing_twice(study, market)
    third_hit = TurkHit.objects.order_by("pk")[2]

    approve_by_hand([first], now())
    hand_in_nothing(people()[2], third_hit)
    sync(offering_for(study, "local"), market, now)
    press(researcher_client, first, second)

    assert rejected() == {second.pk}
    assert TurkAssignment.objects.filter(status="Rejected").count() == 1


class Meanwhile:
    """A market during whose first rejection something else happens."""

    def __init__(self, market: MTurkMarket, happens: object) -> None:
        self._market, self._happens = market, happens

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        self._happens()  # type: ignore[operator]
        self._market.reject(assignment_id, reason, category)


def test_what_a_colleague_approves_meanwhile_is_not_rejected(study: Study, market: MTurkMarket) -> None:
    first, second = hand_in_nothing_twice(study, market)
    slow = Meanwhile(market, lambda: approve_by_hand([second], now()))

    done = reject_empty(offering_for(study, "local"), [first, second], "Empty.", slow, None, now())  # type: ignore[arg-type]

    assert (done.count, done.troubles) == (1, [])
    assert rejected() == {first.pk}
    assert Payment.objects.owed().get().submission == second


def test_what_is_being_rejected_is_not_approved_at_the_same_time(study: Study, market: MTurkMarket) -> None:
    first, _ = hand_in_nothing_twice(study, market)
    approved = []
    slow = Meanwhile(market, lambda: approved.append(approve_by_hand([first], now())))

    done = reject_empty(offering_for(study, "local"), [first], "Empty.", slow, None, now())  # type: ignore[arg-type]

    assert done.count == 1
    assert approved == [0]
    assert not Payment.objects.exists()


def test_a_rejection_that_the_marketplace_refuses_leaves_the_work_to_be_decided(
    study: Study, market: MTurkMarket
) -> None:
    first, second = hand_in_nothing_twice(study, market)
    market.approve(first.assignment.crowd_assignment_id)

    done = reject_empty(offering_for(study, "local"), [first, second], "Empty.", market, None, now())

    assert "1 time: The marketplace refused" in done.troubles[0]
    assert "This operation can be called with a status of" in done.troubles[0]
    assert rejected() == {second.pk}
    assert approve_by_hand([first], now()) == 1


def test_work_that_was_saved_here_is_not_empty_though_its_form_is_bare(
    study: Study, market: MTurkMarket, researcher_client: Client
) -> None:
    saved = CrowdWorker(study.hits.get(number=0), people()[0])
    for dialog in saved.everything("good"):
        assert saved.save(dialog["position"], dialog["areas"]).status_code == 200
    saved.hand_in({})
    sync(offering_for(study, "local"), market, now)
    one = Submission.objects.get()

    press(researcher_client, one)
    listed = html_of(researcher_client.get("/studies/demo/assignments/"))
    page = html_of(researcher_client.get(f"/studies/demo/assignments/{one.assignment_id}/"))

    assert waiting_for_decision(offering_for(study, "local")) == {one.pk: SAVED_ONLY}
    assert not rejected()
    assert "answers saved, not handed in" in listed
    assert "that came without answers</summary>" not in listed
    assert "its worker saved answers on our page" in page
    assert not one.ratings.exists()  # what was last in front of the worker nobody knows
    assert approve_by_hand([one], now()) == 1


def test_work_signed_with_another_key_is_not_empty_and_comes_back_with_it(
    study: Study, market: MTurkMarket, researcher_client: Client, settings: object
) -> None:
    CrowdWorker(study.hits.get(number=0), people()[0]).finish()
    BonusCheck.objects.all().delete()
    Answer.objects.all().delete()
    Assignment.objects.all().delete()  # restored from a backup that was older
    key = settings.SECRET_KEY  # type: ignore[attr-defined]
    settings.SECRET_KEY = "another-" * 8  # type: ignore[attr-defined]
    sync(offering_for(study, "local"), market, now)
    one = Submission.objects.get()
    assert one.problem == UNREADABLE

    settings.SECRET_KEY = key  # type: ignore[attr-defined]
    press(researcher_client, one)
    assert not rejected()
    sync(offering_for(study, "local"), market, now)

    one.refresh_from_db()
    assert (one.problem, one.ratings.exists()) == ("", True)
