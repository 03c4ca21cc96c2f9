"""What strangers try at an open link: forms from other sites, ids that are nobody's, refusals by the hundred."""

import re
import socket
import threading
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from hits.crowds.link import entering, guarded_requests, signed_visits
from hits.crowds.link.guarded_requests import Sent, request_once
from hits.crowds.link.open_links import LinkRefused, LinkSettings, make_link
from hits.crowds.link.server_calls import make_waiting_calls
from hits.models import Assignment, Departure, Offering, OpenLink, ServerCall
from tests.hits.crowd import now
from tests.hits.test_links import Visitor, link, offering

__all__ = ["link", "offering"]

STRANGER = "203.0.113.9"


def signed_by(visitor: Visitor) -> str:
    found = re.search(r'name="signed" value="([^"]+)"', visitor.look().content.decode())
    assert found
    return unescape(found[1])


def test_a_form_that_another_site_sends_makes_nobody_work_in_somebody_elses_name(link: OpenLink) -> None:
    """Its cookie would make the reader of that site the attacker, who then hands in their work."""
    signed = signed_by(Visitor(link))
    victim = Client(headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"})

    answer = victim.post(f"/join/{link.key}/", {"answer": "agree", "signed": signed})
    same_site = Client(headers={"Sec-Fetch-Site": "same-site"}).post(
        f"/join/{link.key}/", {"answer": "agree", "signed": signed}
    )

    assert (answer.status_code, same_site.status_code) == (200, 200)
    assert "This page has to be opened again" in answer.content.decode()
    assert not answer.cookies
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("nobody", ["null", "undefined", "None", "NaN"])
def test_what_a_program_writes_without_an_id_is_not_one_person(offering: Offering, nobody: str) -> None:
    panel = make_link(offering, LinkSettings("Panel", "pid"), None, now())

    assert "placeholder that nobody replaced" in Visitor(panel, pid=nobody).text()


def test_a_stranger_cant_make_up_how_many_declined(link: OpenLink) -> None:
    signed = signed_by(Visitor(link))
    stranger = Client(REMOTE_ADDR=STRANGER)

    for _ in range(100):
        stranger.post(f"/join/{link.key}/", {"answer": "leave", "signed": signed})

    assert Departure.objects.count() <= 60  # two minutes' worth, if the clock turned meanwhile


def test_a_stranger_who_looks_by_the_hundred_is_asked_to_wait(link: OpenLink) -> None:
    stranger = Client(REMOTE_ADDR="203.0.113.99")

    answers = {stranger.head(f"/join/{link.key}/").status_code for _ in range(650)}

    assert answers == {200, 429}  # whether or not the minute turned meanwhile
    assert Visitor(link).look().status_code == 200


def test_signed_parts_of_another_shape_open_nothing(offering: Offering, link: OpenLink) -> None:
    """Such as a server of another version may have signed."""
    old = signed_visits._signer.sign_object([str(offering.study.key), "trial", "1-a", "openlink_a"])
    form = entering._signer.sign_object([link.key, "v", "openlink_a"])

    assert Client().get(f"/work/{offering.study.key}/", {"joined": old}).status_code == 403
    assert "has to be opened again" in Visitor(link).answer("agree", form).content.decode()
    assert not Assignment.objects.exists()


def test_no_other_site_learns_the_address_of_the_work(link: OpenLink) -> None:
    visitor = Visitor(link).agree()

    for address in (visitor.address, visitor.went_to["Location"]):
        assert visitor.client.get(address)["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "address",
    ["https://шум.example/?c={code}", "https://a.example;script-src*/", "https://a.example/bücher", "https://u@h/"],
)
def test_an_address_that_would_break_the_pages_policy_or_the_call_is_refused(offering: Offering, address: str) -> None:
    with pytest.raises(LinkRefused):
        make_link(offering, LinkSettings("Odd", "pid", "redirect", address), None, now())


def test_one_address_that_cant_be_sent_stops_no_other_call(offering: Offering) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = f"http://127.0.0.1:{server.getsockname()[1]}"
        odd = make_link(offering, LinkSettings("Odd", "pid", "server call", there), None, now())
        OpenLink.objects.filter(pk=odd.pk).update(address=f"{there}/bücher")  # from before such were refused
        odd.refresh_from_db()
        Visitor(odd, pid="1").agree().submit()

        called = make_waiting_calls(timezone.now())

    assert called.waiting == 1
    assert ServerCall.objects.get().sending_at is None


def test_a_service_that_answers_a_byte_at_a_time_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_requests, "WHOLE_SECONDS", 1)
    is_done = threading.Event()

    def trickle(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n")
            while not is_done.wait(0.05):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=trickle, args=(server,), daemon=True)
        thread.start()
        found = request_once(f"http://127.0.0.1:{server.getsockname()[1]}/")
        is_done.set()
        thread.join()

    assert isinstance(found, Sent)
    assert "took longer" in found.in_words
