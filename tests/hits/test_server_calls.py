"""This server tells the service behind a link who has finished: once, over real HTTP, and never its own network."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.crowds import calls_to_look_at, make_waiting_calls, settle_call
from hits.crowds.link.guarded_requests import NotSent, request_once
from hits.crowds.link.open_links import LinkSettings, make_link
from hits.models import Event, Offering, ServerCall
from hits.tasks import make_server_calls
from tests.hits.crowd import now
from tests.hits.test_links import Visitor, offered


class Service:
    """The service behind a link: a real server, which answers as it is told and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: list[int | str] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                service.asked.append(self.path)
                answer = service.answers.pop(0) if service.answers else 200
                if answer == "hang up":  # it has acted, and nobody hears of it
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(int(answer))
                self.send_header("Location", "http://127.0.0.1:1/")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Be quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    yield service
    service.server.shutdown()
    service.server.server_close()


@pytest.fixture
def offering(example_corpus: None, researcher: None, transactional_db: None) -> Offering:
    return offered()


def finish(offering: Offering, url: str, there: str = "p1") -> Visitor:
    said = LinkSettings(
        f"Panel {there}", "pid", "server call", f"{url}/credit?who={{worker}}&code={{code}}", {"finished": "C1"}
    )
    visitor = Visitor(make_link(offering, said, None, now()), pid=there).agree()
    visitor.submit()
    return visitor


def test_a_finished_worker_is_reported_once(offering: Offering, service: Service) -> None:
    visitor = finish(offering, service.url)
    visitor.open(visitor.went_to["Location"])  # the page is opened again, and hands back again
    intended = ServerCall.objects.get()

    make_server_calls()
    make_server_calls()

    assert intended.address == f"{service.url}/credit?who=p1&code=C1"
    assert service.asked == ["/credit?who=p1&code=C1"]
    assert ServerCall.objects.get().arrived_at is not None
    assert not calls_to_look_at(offering, now()).exists()


def test_the_worker_sees_a_code_and_goes_nowhere(offering: Offering, service: Service) -> None:
    visitor = finish(offering, service.url)

    told = visitor.open(visitor.went_to["Location"]).work["submission"]

    assert (told["way"], told["code"]) == ("code", "C1")


@pytest.mark.parametrize("answer", [503, 429])
def test_a_service_that_says_not_now_is_called_again_later(offering: Offering, service: Service, answer: int) -> None:
    finish(offering, service.url)
    service.answers = [answer]

    first, at_once = make_waiting_calls(now()), make_waiting_calls(now())
    later = make_waiting_calls(now() + timedelta(minutes=2))

    assert (first.waiting, at_once.arrived, later.arrived) == (1, 0, 1)
    assert len(service.asked) == 2


def test_a_service_that_is_away_is_called_again_until_it_is_given_up(offering: Offering) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        finish(offering, f"http://127.0.0.1:{nobody.getsockname()[1]}")
        at = now()
        for _ in range(20):
            at += timedelta(hours=7)
            make_waiting_calls(at)

    assert ServerCall.objects.get().attempts == 12
    assert "There was no connection" in calls_to_look_at(offering, at).get().problem
    assert Event.objects.filter(text__startswith="gave up calling Panel p1").count() == 1


@pytest.mark.parametrize("answer", ["hang up", 500, 302, 404])
def test_a_call_that_may_have_been_acted_upon_is_left_to_a_person(
    offering: Offering, service: Service, answer: int | str
) -> None:
    finish(offering, service.url)
    service.answers = [answer]

    called = [make_waiting_calls(now() + timedelta(hours=hours)) for hours in range(3)]

    assert [one.in_doubt for one in called] == [1, 0, 0]
    assert len(service.asked) == 1
    assert calls_to_look_at(offering, now()).get().is_in_doubt


def test_a_person_has_it_sent_again_or_notes_that_it_arrived(offering: Offering, service: Service) -> None:
    service.answers = [500, 500]
    for there in ("p1", "p2"):
        finish(offering, service.url, there)
    make_waiting_calls(now())
    first, second = calls_to_look_at(offering, now()).order_by("pk")

    settle_call(offering, first.pk, True, None, now())
    settle_call(offering, second.pk, False, None, now())
    make_waiting_calls(now())

    assert [path[:14] for path in service.asked] == ["/credit?who=p1", "/credit?who=p2", "/credit?who=p2"]
    assert not ServerCall.objects.filter(arrived_at=None).exists()
    with pytest.raises(EvalPlatformError, match="needs no decision any more"):
        settle_call(offering, first.pk, False, None, now())


def test_a_call_by_a_process_that_died_is_not_made_again_by_itself(offering: Offering, service: Service) -> None:
    finish(offering, service.url)
    ServerCall.objects.update(sending_at=now(), attempts=1)

    make_waiting_calls(now() + timedelta(hours=1))

    assert service.asked == []
    assert calls_to_look_at(offering, now() + timedelta(hours=1)).exists()
    assert not calls_to_look_at(offering, now()).exists()  # it may still be under way


def test_redirects_are_not_followed(service: Service) -> None:
    service.answers = [302]

    request_once(f"{service.url}/a")

    assert service.asked == ["/a"]


@pytest.mark.parametrize(
    "address",
    [
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/",
        "https://[::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::10.0.0.1]/",
        "https://[64:ff9b:1::1]/",
        "https://[2002:a00:1::1]/",
        "https://[::10.0.0.1]/",
        "https://[fec0::1]/",
        "http://192.0.2.1/",
    ],
)
def test_no_call_goes_into_an_internal_network(address: str, settings: Settings) -> None:
    settings.IS_PRODUCTION = True

    found = request_once(address)

    assert isinstance(found, NotSent)
    assert "internal network" in found.in_words or "does not begin with https" in found.in_words


def test_a_production_server_calls_nothing_on_its_own_machine(service: Service, settings: Settings) -> None:
    settings.IS_PRODUCTION = True

    assert isinstance(request_once(service.url), NotSent)
    assert service.asked == []


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://panel.example.org/", "begin with https"),
        ("https://{worker}.example.org/", "fixed host name"),
        ("https://user@example.org/", "fixed host name"),
        ("javascript:alert(1)", "fixed host name"),
        ("https://example.org/{id}", "known are"),
        ("https://example.org/a b", "space"),
        ("", "Write the address"),
    ],
)
def test_an_address_that_can_not_be_is_refused_in_one_line(offering: Offering, address: str, problem: str) -> None:
    with pytest.raises(EvalPlatformError, match=problem):
        make_link(offering, LinkSettings("Panel", "pid", "redirect", address), None, now())


def test_a_call_is_claimed_when_its_turn_comes(offering: Offering, service: Service) -> None:
    """Else the calls at the end of a long run would stand as sent by a process that died."""
    finish(offering, service.url)
    began = now() - timedelta(minutes=11)
    ServerCall.objects.update(next_at=began)

    assert make_waiting_calls(began).arrived == 1

    assert not ServerCall.objects.filter(sending_at__lt=now() - timedelta(minutes=1)).exists()
