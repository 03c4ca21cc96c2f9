"""One person at a link: no more than a person may do by an old tab, no code by somebody's id, one decline."""

from datetime import timedelta
from ipaddress import ip_address

import pytest

from hits.crowds.link.guarded_requests import _is_public
from hits.crowds.link.open_links import LinkSettings, make_link
from hits.models import Assignment, Departure, HitPlaces, OpenLink
from hits.views import invited_page
from tests.attacks.test_open_links import signed_by
from tests.hits.crowd import now
from tests.hits.test_invitations import Rater, ada, offering
from tests.hits.test_links import FOR_LINKS, Visitor, offered

__all__ = ["ada", "offering"]


def test_an_old_tab_hands_in_nothing_beyond_the_limit(example_corpus: None, transactional_db: None) -> None:
    offering = offered(crowd={**FOR_LINKS, "max_hits_per_worker": 1})
    HitPlaces.objects.update(places=1)
    person = Visitor(OpenLink.objects.get(offering=offering)).agree()
    first, work = Assignment.objects.get(), dict(person.work)
    Assignment.objects.update(place="freed", held_at=now() - timedelta(days=1))  # somebody else has the place
    HitPlaces.objects.filter(hit=first.hit).update(taken=1)

    person.agree().submit()
    person.work = work
    with pytest.raises(AssertionError, match="limit-reached"):
        person.submit()

    assert Assignment.objects.filter(submitted_at__isnull=False).count() == 1


def test_a_stranger_who_types_an_id_reads_no_code_that_pays(example_corpus: None, transactional_db: None) -> None:
    offering = offered(crowd={**FOR_LINKS, "max_hits_per_worker": 1})
    panel = make_link(offering, LinkSettings("Panel", "pid", "code", "", {"finished": "DONE1"}), None, now())
    worker = Visitor(panel, pid="1042").agree()
    worker.submit()

    assert "DONE1" not in Visitor(panel, pid="1042").text()  # another browser
    assert "DONE1" in worker.text()


def test_a_stranger_who_agrees_with_an_id_before_its_owner_has_finished_reads_no_code(
    example_corpus: None, transactional_db: None
) -> None:
    offering = offered(crowd={**FOR_LINKS, "max_hits_per_worker": 1})
    panel = make_link(offering, LinkSettings("Panel", "pid", "code", "", {"finished": "DONE1"}), None, now())
    worker = Visitor(panel, pid="1042").agree()
    stranger = Visitor(panel, pid="1042").agree()
    told = worker.submit()

    seen = stranger.open(stranger.went_to["Location"]).work["submission"]

    assert told["code"] == "DONE1"
    assert "DONE1" not in str(seen)
    assert "DONE1" not in stranger.text()
    assert "DONE1" in worker.text()


@pytest.mark.parametrize("session", ["", "not.plain", "~aaaaaaaaaaaaaaaaaaaaaaaaaa"])
def test_a_stranger_reads_no_code_where_a_panel_has_sent_its_worker_without_a_sound_session(
    example_corpus: None, transactional_db: None, session: str
) -> None:
    offering = offered(crowd={**FOR_LINKS, "max_hits_per_worker": 1})
    back = "https://panel.example/done?s={session}&c={code}"
    panel = make_link(offering, LinkSettings("Panel", "pid, sid", "redirect", back, {"finished": "DONE1"}), None, now())
    worker = Visitor(panel, pid="1042", sid=session).agree()
    told = worker.submit()

    strangers = [Visitor(panel, pid="1042", sid=typed) for typed in (session, "", "S2")]

    assert told["action"] == "https://panel.example/done?s=&c=DONE1"
    assert not [one for one in strangers if "DONE1" in one.text()]
    assert "DONE1" in worker.text()


def test_who_uses_a_browser_after_somebody_else_is_not_taken_for_them(
    example_corpus: None, transactional_db: None
) -> None:
    offering = offered(crowd={**FOR_LINKS, "max_hits_per_worker": 1})
    panel = make_link(offering, LinkSettings("Panel", "pid", "code", "", {"finished": "DONE1"}), None, now())
    first = Visitor(panel, pid="1042").agree()
    first.submit()
    second = Visitor(panel, pid="1043")
    second.client = first.client
    second.agree()

    assert "DONE1" not in first.text()  # whoever sits there now types the id of who sat there before


def test_declines_are_never_more_than_the_raters_who_have_not_agreed(ada: Rater) -> None:
    signed = signed_by(ada)
    for _ in range(3):
        invited_page._declined.clear()  # as another web process has none of them
        ada.answer("decline", signed)

    assert Departure.objects.count() == 1


def test_a_rater_declines_once(ada: Rater) -> None:
    signed = signed_by(ada)
    for _ in range(3):
        ada.answer("decline", signed)

    assert Departure.objects.count() == 1


@pytest.mark.parametrize("address", ["::ffff:0:7f00:1", "192.88.99.1", "5f00::1", "3fff::1"])
def test_an_address_that_is_not_the_internets_is_not_called(address: str) -> None:
    assert not _is_public(ip_address(address))
