"""Somebody else has seen a rater's personal link: "New link" shuts them out, and no page tells them the new one."""

from urllib.parse import urlsplit

from hits.crowds import personal_link, visit_for
from hits.crowds.link.invitations import give_new_link
from hits.models import Offering
from hits.serving import Refusal, way_back
from tests.hits.crowd import now
from tests.hits.test_invitations import Rater, ada, offering

__all__ = ["ada", "offering"]


def new_path(rater: Rater) -> str:
    rater.invitation.refresh_from_db()
    return urlsplit(personal_link(rater.invitation)).path


def test_who_hands_in_by_an_earlier_link_is_not_told_the_new_one(ada: Rater) -> None:
    other = Rater(ada.invitation)
    other.agree()
    give_new_link(ada.invitation, None, now())

    told = other.submit()
    page = other.client.get(other.went_to["Location"]).content.decode()

    assert (told["way"], told["action"]) == ("code", "")
    assert new_path(ada) not in f"{told}{page}"


def test_who_is_turned_away_by_an_earlier_link_is_not_told_the_new_one(ada: Rater, offering: Offering) -> None:
    visit = visit_for(offering, ada.invitation.worker_id, ada.invitation.key)
    assert way_back(offering.study.key, visit, Refusal.NOTHING_FREE)
    give_new_link(ada.invitation, None, now())

    assert way_back(offering.study.key, visit, Refusal.NOTHING_FREE) is None


def test_the_rater_is_led_back_by_the_new_link(ada: Rater) -> None:
    ada.agree()
    give_new_link(ada.invitation, None, now())

    again = Rater(ada.invitation)
    told = again.agree().submit()

    assert told["action"] == new_path(ada)
