"""FAILING ON PURPOSE: holes that were found and not closed, each with what should hold.

Strict, so that whoever closes one is told to take its mark away.
"""

from datetime import timedelta

import pytest
from django.test import Client

from hits.crowds.link.open_links import LinkSettings, make_link
from hits.models import Assignment, HitPlaces, Offering, OpenLink
from hits.serving import joining, visit_limits
from tests.attacks.test_open_links import STRANGER, signed_by
from tests.hits.crowd import now
from tests.hits.test_links import PANEL, Visitor, link, offering

__all__ = ["link", "offering"]


@pytest.mark.xfail(strict=True, reason="visits by a link count as confirmed, so decision 19's limits don't apply")
def test_one_address_does_not_take_all_places_of_a_study(offering: Offering) -> None:
    """Decision 33 says that limits by address bound it; only 60 a minute and process do."""
    panel = make_link(offering, LinkSettings("Panel", "pid"), None, now())
    HitPlaces.objects.update(places=90)
    for minute in range(4):
        joining.joins_from_address._counts.clear()  # a minute later
        visit_limits.visits_from_address._counts.clear()
        for number in range(45):
            visitor = Visitor(panel, pid=f"m{minute}x{number}")
            visitor.client = Client(REMOTE_ADDR=STRANGER)
            visitor.answer("agree", signed_by(visitor))

    assert Assignment.objects.filter(place="held").count() <= visit_limits.MOST_VISITS_AN_HOUR


@pytest.mark.xfail(strict=True, reason="a lease is renewed by a look, although nothing was ever answered")
def test_places_without_an_answer_are_not_held_for_ever(offering: Offering, link: OpenLink) -> None:
    squatters = [Visitor(link).agree() for _ in range(8)]
    for _ in range(3):
        Assignment.objects.update(held_at=now() - timedelta(days=1))
        for one in squatters:
            one.client.get(one.went_to["Location"])

    assert "I agree and begin" in Visitor(link).text()


@pytest.mark.xfail(strict=True, reason="coming back under another session updates it, for whoever knows the id")
def test_who_knows_an_id_does_not_get_the_credit_of_its_work(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())
    worker = Visitor(panel, pid="p1", visit="v1").agree()
    Visitor(panel, pid="p1", visit="thief").agree()

    assert "visit=v1" in worker.submit()["action"]
