"""Whoever is late still hands in when all places are taken. The budget holds all the same, and no answer is lost."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from hits.budgeting import budget_of, set_cap, waiting_for_decision
from hits.models import Assignment, Offering, OpenLink, Payment, Submission
from hits.paying import approve_by_hand
from localprolific import participating
from localprolific.panel_clock import Clock
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater
from tests.hits.prolific_study import drafted, no_faults, sync_now
from tests.hits.prolific_study import offering as on_prolific
from tests.hits.test_links import Visitor, collected, offered

__all__ = ["drafted", "no_faults", "on_prolific"]


@pytest.fixture
def by_link(example_corpus: None, transactional_db: None) -> Offering:
    """Two HITs with one place each, $0.50 each with the bonus, and a budget of $1.00."""
    return offered(hits={**DEMO.get("hits", {}), "assignments": 1}, pay={"budget": "1"})


def let_leases_run_out(offering: Offering) -> None:
    limit = timedelta(minutes=offering.study.parsed_design.crowd.time_limit_minutes, seconds=1)
    for one in Assignment.objects.filter(offering=offering, submitted_at=None):
        Assignment.objects.filter(pk=one.pk).update(held_at=one.held_at - limit, opened_at=one.opened_at - limit)


def begin(link: OpenLink) -> Visitor:
    one = Visitor(link).agree()
    dialog = one.work["dialogs"][0]
    areas = {str(place): "good" for place in range(len(dialog["cards"]))}
    one.call("save", {"step": "dialog-0", "dialogs": [{"position": 0, "revision": 0, "areas": areas}]})
    dialog["answer"]["revision"] = 1  # who has answered something may go on for ever
    return one


def hand_in_six_for_two_places(offering: Offering) -> None:
    link, visitors = OpenLink.objects.get(offering=offering), list[Visitor]()
    for _ in range(3):
        visitors += [begin(link) for _ in range(2)]
        let_leases_run_out(offering)
    for one in reversed(visitors):
        one.submit()
    for _ in range(2):
        collected(offering)


def test_late_work_by_a_link_stays_within_the_budget_and_waits_for_a_person(by_link: Offering) -> None:
    hand_in_six_for_two_places(by_link)

    waiting = waiting_for_decision(by_link)
    assert budget_of(by_link).committed_cents <= 100
    assert Payment.objects.exclude(submission__in=waiting).cents() == Payment.objects.cents() <= 100
    assert waiting
    assert all("raise the budget" in reason for reason in waiting.values())
    assert not Submission.objects.exclude(problem="").exists()  # their answers are used


def test_a_person_may_pay_it_all_the_same(by_link: Offering) -> None:
    hand_in_six_for_two_places(by_link)
    waiting = Submission.objects.filter(pk__in=waiting_for_decision(by_link))
    count, one = waiting.count(), waiting.earliest("pk")

    assert approve_by_hand([one], now()) == 1
    collected(by_link)

    assert one.payments.paid().filter(kind=Payment.Kind.REWARD).exists()
    assert len(waiting_for_decision(by_link)) == count - 1


def test_it_is_paid_by_itself_once_the_budget_has_room(by_link: Offering) -> None:
    hand_in_six_for_two_places(by_link)
    raise_budget(by_link)
    collected(by_link)

    assert not waiting_for_decision(by_link)
    assert Payment.objects.paid().filter(kind=Payment.Kind.REWARD).count() == Submission.objects.count() == 6


def raise_budget(offering: Offering) -> None:
    """As the page of the design does, where the budget is the design's."""
    study = offering.study
    study.design = {**study.design, "pay": {**study.design["pay"], "budget": "10"}}
    study.save()
    offering.refresh_from_db()


def test_who_timed_out_on_prolific_is_not_paid_past_the_cap(on_prolific: Offering) -> None:
    cap = budget_of(on_prolific).committed_cents
    set_cap(on_prolific, cap, None, now())
    late = [Rater(on_prolific, f"late {number}").open() for number in range(2)]
    for one in late:
        one.agree()
    Clock().advance(timedelta(hours=5))
    Assignment.objects.update(held_at=now() - timedelta(hours=5))
    for number in range(8):
        Rater(on_prolific, f"prompt {number}").finish()
    sync_now(on_prolific)
    for one in late:
        told = one.submit(one.win()).json()
        code = dict(parse_qsl(urlsplit(told["action"]).query)).get("cc") or told["code"]
        participating.complete(one.who, code, Clock().now())
    for _ in range(3):
        sync_now(on_prolific)
        Clock().advance(timedelta(minutes=2))

    assert budget_of(on_prolific).committed_cents <= cap
    assert len(waiting_for_decision(on_prolific)) == 2

    set_cap(on_prolific, 2 * cap, None, now())
    for _ in range(3):
        sync_now(on_prolific)
        Clock().advance(timedelta(minutes=2))
    assert not waiting_for_decision(on_prolific)
    assert Submission.objects.filter(status=Submission.Status.APPROVED).count() == 10
