"""Strangers at open links who want all places, or the credit for somebody else's work."""

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from hits.crowds import visit_for
from hits.crowds.link.open_links import LinkSettings, limit_addresses, make_link
from hits.models import Assignment, HitPlaces, Offering, OpenLink
from hits.serving import WorkRefused, join, joining, visit_limits
from hits.views import joining_page
from tests.attacks.test_open_links import STRANGER, signed_by
from tests.hits.crowd import now
from tests.hits.test_links import PANEL, Visitor, collected, link, offering

__all__ = ["link", "offering"]


def come(panel: OpenLink, people: range, minute: int, address: str = STRANGER) -> int:
    """Let people join within a minute, and return how many got a place."""
    joining.joins_from_address._counts.clear()
    visit_limits.visits_from_address._counts.clear()
    joining_page.looks_from_address._counts.clear()
    got_in = 0
    for number in people:
        visitor = Visitor(panel, pid=f"m{minute}x{number}")
        visitor.client = Client(REMOTE_ADDR=address)
        got_in += visitor.answer("agree", signed_by(visitor)).status_code == 303
    return got_in


@pytest.fixture
def panel(offering: Offering) -> OpenLink:
    made = make_link(offering, LinkSettings("Panel", "pid"), None, now())
    HitPlaces.objects.update(places=90)
    return made


# --- Places ----------------------------------------------------------------------------------------------------------


def test_one_address_does_not_take_all_places_of_a_study(panel: OpenLink) -> None:
    got_in = [come(panel, range(40), minute) for minute in range(3)]

    assert got_in == [40, 20, 0]
    assert Assignment.objects.filter(place="held").count() == visit_limits.MOST_PLACES_AN_HOUR
    assert come(panel, range(1), 9, "203.0.113.77") == 1  # everybody else gets in


def test_an_address_that_worked_an_hour_ago_may_take_others(panel: OpenLink) -> None:
    come(panel, range(40), 0)
    Assignment.objects.update(place="filled", held_at=now() - timedelta(hours=2))

    got_in = [come(panel, range(50), minute) for minute in range(1, 3)]
    Assignment.objects.filter(place="held").update(place="filled", held_at=now() - timedelta(hours=2))

    assert got_in == [50, 10]
    assert come(panel, range(40), 4) == visit_limits.MOST_PLACES_A_DAY - 40 - 60


def test_an_address_gets_no_other_places_by_waiting(panel: OpenLink, offering: Offering) -> None:
    """Late work is taken and due, so that a place whose time is over was taken all the same."""
    for wave in range(2):
        come(panel, range(40), wave)
        Assignment.objects.filter(place="held").update(held_at=now() - timedelta(hours=3))
        collected(offering)  # it ends them as given up, and counts the places again
        HitPlaces.objects.update(places=90)

    assert come(panel, range(50), 2) == visit_limits.MOST_PLACES_A_DAY - 80
    assert set(Assignment.objects.values_list("ended_as", flat=True)) == {"given up", ""}


def test_who_refuses_says_what_a_class_can_do(panel: OpenLink) -> None:
    come(panel, range(60), 0)
    joining.joins_from_address._counts.clear()
    late = Visitor(panel, pid="late")
    late.client = Client(REMOTE_ADDR=STRANGER)

    told = late.answer("agree", signed_by(late)).content.decode()

    assert "the researchers can lift this limit" in " ".join(told.split())


def test_a_link_for_a_class_takes_as_many_as_come(panel: OpenLink, offering: Offering) -> None:
    limit_addresses(offering, panel.key, False, None, now())
    panel.refresh_from_db()

    assert come(panel, range(70), 0) == 70
    limit_addresses(offering, panel.key, True, None, now())
    panel.refresh_from_db()
    assert come(panel, range(5), 1) == 5  # those were not counted


def test_an_address_is_forgotten_after_a_day(panel: OpenLink, offering: Offering) -> None:
    come(panel, range(2), 0)
    first, second = Assignment.objects.order_by("pk")
    assert first.visited_from
    assert STRANGER not in first.visited_from
    Assignment.objects.filter(pk=first.pk).update(held_at=now() - timedelta(hours=25))

    collected(offering)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.visited_from, bool(second.visited_from)) == ("", True)


def test_places_without_an_answer_are_not_held_for_ever(offering: Offering, link: OpenLink) -> None:
    squatters = [Visitor(link).agree() for _ in range(8)]
    for _ in range(3):
        Assignment.objects.update(held_at=now() - timedelta(days=1))
        for one in squatters:
            one.client.get(one.went_to["Location"])

    assert "I agree and begin" in Visitor(link).text()


def test_who_answered_nothing_in_time_begins_again_by_the_link(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    Assignment.objects.update(held_at=now() - timedelta(days=1))

    looked = visitor.client.get(visitor.went_to["Location"])
    visitor.agree().submit()

    assert looked.status_code == 403
    assert "Please begin this task again" in looked.content.decode()
    assert Assignment.objects.count() == 1


def test_who_answered_nothing_and_lost_their_place_gets_another_hit(offering: Offering, link: OpenLink) -> None:
    HitPlaces.objects.update(places=1)
    visitor = Visitor(link).agree()
    first = visitor.assignment.hit
    Assignment.objects.update(held_at=now() - timedelta(days=1))
    for _ in range(2):  # they take both HITs
        Visitor(link).agree()
    Assignment.objects.exclude(hit=first).update(place="freed")
    HitPlaces.objects.exclude(hit=first).update(taken=0)

    visitor.agree()

    assert visitor.assignment.hit != first
    assert visitor.submit()["way"] == "code"


def test_two_hundred_who_agree_at_once_overfill_nothing_and_no_limit(panel: OpenLink, offering: Offering) -> None:
    HitPlaces.objects.update(places=50)
    version, ready = offering.study.parsed_design.task.consent_version, threading.Barrier(20)
    outcomes: Counter[str] = Counter()

    def arrive(first: int) -> None:
        ready.wait()
        for number in range(first, 200, 20):
            visit = visit_for(offering, f"panel_p{number}")
            try:
                # Half come from one address, at which a class might sit.
                join(offering.study.key, visit, version, now(), STRANGER if number % 2 else "")
                outcomes["given"] += 1
            except WorkRefused as refused:
                outcomes[refused.refusal] += 1
        connections.close_all()

    threads = [threading.Thread(target=arrive, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    held = Assignment.objects.filter(place="held")
    assert outcomes["given"] == held.count() == 100
    assert outcomes.total() == 200
    assert held.exclude(visited_from="").count() <= visit_limits.MOST_PLACES_AN_HOUR
    assert list(HitPlaces.objects.values_list("taken", "places")) == [(50, 50)] * 2


# --- Credit ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop(offering: Offering) -> OpenLink:
    return make_link(offering, PANEL, None, now())


def test_who_knows_an_id_does_not_get_the_credit_of_its_work(shop: OpenLink) -> None:
    worker = Visitor(shop, pid="p1", visit="v1").agree()
    Visitor(shop, pid="p1", visit="thief").agree()

    assert "visit=v1" in worker.submit()["action"]


def test_who_comes_before_them_does_not_get_it_either(shop: OpenLink) -> None:
    Visitor(shop, pid="p1", visit="thief").agree()

    assert "visit=v1" in Visitor(shop, pid="p1", visit="v1").agree().submit()["action"]


def test_who_opens_work_that_another_session_handed_in_hears_no_code(shop: OpenLink) -> None:
    thief = Visitor(shop, pid="p1", visit="thief").agree()
    worker = Visitor(shop, pid="p1", visit="v1").agree()
    worker.submit()

    seen: list[dict[str, Any]] = [who.open(who.went_to["Location"]).work["submission"] for who in (thief, worker)]

    assert [one["action"] for one in seen] == ["", "https://panel.example.org/back?pid=p1&visit=v1&cc=DONE1"]
    assert "DONE1" not in str(seen[0])


def test_a_session_in_which_nothing_was_done_has_not_finished(shop: OpenLink) -> None:
    for _ in range(2):  # as many as one may
        Visitor(shop, pid="p1", visit="v1").agree().submit()

    pages = {visit: Visitor(shop, pid="p1", visit=visit).text() for visit in ("v1", "thief")}

    assert "visit=v1&cc=DONE1" in pages["v1"]
    assert "visit=thief&cc=FULL1" in pages["thief"]
    assert "DONE1" not in pages["thief"]


def test_a_next_task_under_a_new_session_is_to_its_credit(shop: OpenLink) -> None:
    told = [Visitor(shop, pid="p1", visit=visit).agree().submit()["action"] for visit in ("v1", "v2")]

    assert ["visit=v1" in told[0], "visit=v2" in told[1]] == [True, True]
