"""Strangers and other workers at the local marketplace, where workers must sign in; visits from where it is closed."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Publication, Study
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from localturk.signing_in import invite_worker, new_account
from tests.hits.crowd import publish
from tests.hits.working import Worker
from tests.pages import html_of

PASSWORD = "a long one of her own"


@pytest.fixture(autouse=True)
def must_sign_in(settings: Settings) -> None:
    settings.MUST_WORKERS_SIGN_IN = True


def invitation(worker: WorkerAccount) -> str:
    return f"/market/invitation/{invite_worker(worker, timezone.now())}/"


def signed_in(worker: WorkerAccount, password: str = PASSWORD) -> Client:
    client = Client()
    assert client.post(invitation(worker), {"password": password}).headers["Location"] == "/market/hits/"
    return client


@pytest.fixture
def ana(db: None) -> WorkerAccount:
    return new_account("Ana", "US", approved_count=500)


@pytest.fixture
def held(demo_study: Study, market: MTurkMarket, ana: WorkerAccount) -> TurkAssignment:
    publish(demo_study, market)
    hit_id = Publication.objects.filter(hit__study=demo_study).order_by("pk")[0].crowd_hit_id
    return working.accept(ana, TurkHit.objects.get(hit_id=hit_id), Clock().now())


def test_an_invited_worker_chooses_a_password_and_comes_back_with_it(ana: WorkerAccount) -> None:
    first, second = signed_in(ana), Client()

    assert "HITs for Ana" in html_of(first.get("/market/hits/"))
    assert "Both are case-sensitive" in html_of(second.post("/market/", {"worker": ana.worker_id, "password": "x"}))
    second.post("/market/", {"worker": ana.worker_id, "password": PASSWORD})
    assert "HITs for Ana" in html_of(second.get("/market/hits/"))
    second.post("/market/sign-out/")
    assert second.get("/market/hits/").headers["Location"] == "/market/"


def test_a_link_works_once_and_for_a_week_and_looking_does_not_use_it_up(ana: WorkerAccount) -> None:
    link = invitation(ana)
    assert Client().get(link).status_code == 200
    assert "too short" in html_of(Client().post(link, {"password": "short"}))
    assert Client().post(link, {"password": PASSWORD}).status_code == 302

    assert Client().get(link).status_code == 404
    assert Client().post(link, {"password": "another of mine"}).status_code == 404
    late = invitation(ana)
    WorkerAccount.objects.update(invited_at=timezone.now() - timedelta(days=8))
    assert Client().post(late, {"password": "another of mine"}).status_code == 404


def test_nobody_signs_in_as_who_has_no_password_nor_by_choosing(db: None, settings: Settings) -> None:
    alice = ensure_worker_accounts()[0]
    settings.MUST_WORKERS_SIGN_IN = False
    rehearsal = Client()
    rehearsal.post("/market/", {"worker": alice.worker_id})
    assert rehearsal.get("/market/hits/").status_code == 200
    settings.MUST_WORKERS_SIGN_IN = True

    assert rehearsal.get("/market/hits/").headers["Location"] == "/market/"
    for password in ("", "x"):
        Client().post("/market/", {"worker": alice.worker_id, "password": password})
        assert rehearsal.post("/market/", {"worker": alice.worker_id, "password": password}).status_code == 200
    assert "Alice" not in html_of(Client().get("/market/"))


def test_another_password_ends_every_session(ana: WorkerAccount) -> None:
    thief = signed_in(ana)

    own = signed_in(ana, "after it was stolen")

    assert thief.get("/market/hits/").headers["Location"] == "/market/"
    assert own.get("/market/hits/").status_code == 200


def test_guessing_a_worker_s_password_is_slow(ana: WorkerAccount) -> None:
    signed_in(ana)
    guesses = [Client().post("/market/", {"worker": ana.worker_id, "password": f"{n}"}).status_code for n in range(11)]

    assert guesses == [200] * 10 + [429]


def test_only_who_holds_an_assignment_hands_it_in(held: TurkAssignment, ana: WorkerAccount) -> None:
    mallory = signed_in(new_account("Mallory", "US", approved_count=500))
    form: Any = {"assignmentId": held.assignment_id, "answers": "forged"}

    for thief in (Client(), mallory):
        assert thief.post("/market/mturk/externalSubmit", form).status_code == 404
        assert thief.get(f"/market/work/{held.assignment_id}/").status_code in (302, 404)
        assert "Ana" not in html_of(thief.get(f"/market/work/{held.assignment_id}/"))
    held.refresh_from_db()
    assert held.status == "Accepted"

    assert signed_in(ana).post("/market/mturk/externalSubmit", form).status_code == 200


def test_the_command_prints_a_link_and_works_only_where_it_is_of_use(db: None, settings: Settings) -> None:
    said = StringIO()
    call_command("invite_worker", name="Ben", country="GB", stdout=said)

    link = said.getvalue().split()[-1].removeprefix(settings.PUBLIC_URL)
    assert "Welcome, Ben" in html_of(Client().get(link))
    with pytest.raises(CommandError, match="two capital letters"):
        call_command("invite_worker", name="Ben", country="Britain")
    with pytest.raises(CommandError, match="no worker 'A1'"):
        call_command("invite_worker", again="A1")
    settings.MUST_WORKERS_SIGN_IN = False
    with pytest.raises(CommandError, match="only in production"):
        call_command("invite_worker", name="Ben", country="GB")
    assert Client().get(link).status_code == 404


def test_where_the_marketplace_is_closed_nobody_comes_from_it(
    demo_study: Study, market: MTurkMarket, settings: Settings
) -> None:
    publish(demo_study, market)
    publication = Publication.objects.filter(hit__study=demo_study).select_related("hit").order_by("pk")[0]
    forger = Worker(publication.hit, "FORGER", "GUESSED")
    settings.LOCAL_MARKET = False

    for site in ("http://testserver/market", f"{settings.PUBLIC_URL}/market"):
        visit = forger.visit(hitId=publication.crowd_hit_id, turkSubmitTo=site)
        assert visit.status_code == 403
        assert "testserver" not in visit.headers["Content-Security-Policy"]
    claimed = forger.client.get(
        f"/work/{demo_study.key}/{publication.hit.number}/",
        forger.parameters(hitId=publication.crowd_hit_id),
        headers={"evalplatform.simulated_crowd": "1", "evalplatform-simulated-crowd": "1"},
    )
    assert claimed.status_code == 403


def test_a_simulated_crowd_in_this_process_works_where_the_door_is_closed(
    demo_study: Study, market: MTurkMarket, settings: Settings
) -> None:
    publish(demo_study, market)
    settings.LOCAL_MARKET = False

    said = StringIO()
    call_command("simulate_crowd", demo_study.name, hits=1, stdout=said)

    assert "4 assignments submitted" in said.getvalue()
