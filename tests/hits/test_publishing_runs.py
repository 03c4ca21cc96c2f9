"""Publishing that is asked for in the pages and carried out by a background process."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import Client, override_settings
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.budgeting import set_cap, typed_cap_cents
from hits.crowds import worker_page_url
from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.errors import MarketUnavailable
from hits.models import Offering, Publication, PublishingRun, Study, offering_for
from hits.publishing import carry_out_run, count_run, request_run, stop_study
from localturk import in_process
from localturk.faults import Kind, add_fault, clear_faults
from localturk.models import Account
from tests.hits.test_publishing import assert_each_hit_is_there_once, hits_on
from tests.pages import html_of
from tests.processes import BackgroundProcess, wait_until


class WorkerPage(BaseHTTPRequestHandler):
    """Answers as a worker's page does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Security-Policy", "frame-ancestors 'self'")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def public_url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), WorkerPage)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with override_settings(PUBLIC_URL=url):
        yield url
    server.shutdown()
    server.server_close()


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def impatient_market(transactional_db: None) -> MTurkMarket:
    client = boto_client("http://localturk.invalid", has_own_credentials=False, attempts=1)
    in_process.attach(client)
    return MTurkMarket(client, calls_per_second=1000)


def ask_for(study: Study, most_hits: int | None = None) -> PublishingRun:
    return request_run(offering_for(study, "local"), most_hits, None, None, now())


def carry_out(run: PublishingRun, market: MTurkMarket) -> PublishingRun:
    carry_out_run(run, lambda offering: (market, worker_page_url(offering)), now)
    run.refresh_from_db()
    return run


def test_a_run_publishes_its_wave_and_says_so(bare_study: Study, market: MTurkMarket) -> None:
    run = carry_out(ask_for(bare_study, 4), market)

    assert (run.outcome, run.finished_at is not None) == ("All 4 HITs are published.", True)
    assert sum(hits_on(market, bare_study).values()) == 4


def test_a_second_run_is_refused_while_one_is_unfinished(bare_study: Study, market: MTurkMarket) -> None:
    first = ask_for(bare_study, 2)

    with pytest.raises(EvalPlatformError, match="demo is being published on the local marketplace already"):
        ask_for(bare_study)
    carry_out(first, market)
    carry_out(ask_for(bare_study), market)

    assert_each_hit_is_there_once(market, bare_study)
    with pytest.raises(EvalPlatformError, match="All HITs of demo are published on the local marketplace already"):
        ask_for(bare_study)


def test_a_run_that_is_carried_out_again_keeps_to_its_hits(bare_study: Study, impatient_market: MTurkMarket) -> None:
    run = ask_for(bare_study, 4)
    add_fault(Kind.FAIL_BEFORE, operation="CreateHITWithHITType")
    with pytest.raises(MarketUnavailable):
        carry_out(run, impatient_market)
    run.refresh_from_db()
    assert run.outcome.endswith("We try again in a minute.")
    assert count_run(run).total == 4

    clear_faults()
    carry_out(run, impatient_market)
    carry_out(run, impatient_market)  # delivered once more, though it is finished

    assert run.outcome.startswith("All 4 HITs are published.")
    assert sum(hits_on(impatient_market, bare_study).values()) == Publication.objects.count() == 4


def test_what_stands_in_the_way_becomes_the_outcome(bare_study: Study, market: MTurkMarket) -> None:
    with pytest.raises(EvalPlatformError, match="above the given budget"):
        request_run(offering_for(bare_study, "local"), None, 14_39, None, now())
    Account.objects.create(pk=1, balance_cents=14_39)

    run = carry_out(ask_for(bare_study), market)

    assert "the account holds $14.39" in run.outcome
    assert run.finished_at is not None
    assert not Publication.objects.exists()


def test_an_error_that_nobody_foresaw_ends_the_run_and_the_next_publishes(
    bare_study: Study, market: MTurkMarket
) -> None:
    def enter_broken(offering: Offering) -> tuple[MTurkMarket, str]:
        raise RuntimeError("boom")

    run = ask_for(bare_study)
    with pytest.raises(RuntimeError, match="boom"):
        carry_out_run(run, enter_broken, now)
    run.refresh_from_db()

    assert not run.is_under_way
    assert run.outcome.startswith("Publishing failed. HITs that were published stay")
    assert "boom" not in run.outcome
    carry_out(ask_for(bare_study), market)
    assert_each_hit_is_there_once(market, bare_study)


def test_want_of_funds_on_the_way_ends_a_run_and_the_next_goes_on(bare_study: Study, market: MTurkMarket) -> None:
    add_fault(Kind.INSUFFICIENT_FUNDS, times_left=1)
    run = carry_out(ask_for(bare_study), market)
    assert "InsufficientFunds" in run.outcome
    assert not Publication.objects.refused().exists()  # it said nothing of the HIT

    run = carry_out(ask_for(bare_study), market)

    assert run.outcome.endswith("published.")
    assert_each_hit_is_there_once(market, bare_study)


def test_stopping_ends_a_run_that_nobody_works_on(bare_study: Study, market: MTurkMarket) -> None:
    run = ask_for(bare_study)

    stop_study(offering_for(bare_study, "local"), market, now)
    carry_out(run, market)

    assert run.outcome == "Stopped before it was done."
    assert not hits_on(market, bare_study)


def test_a_run_that_is_stopped_on_its_way_leaves_nothing_on_offer(bare_study: Study, market: MTurkMarket) -> None:
    run = ask_for(bare_study)
    PublishingRun.objects.filter(pk=run.pk).update(started_at=now(), stop_requested_at=now())

    carry_out(run, market)

    assert run.outcome == "0 of 6 HITs are published. It was stopped, and they are off the market."
    assert not Publication.objects.open().exists()


@pytest.mark.usefixtures("market")
def test_the_page_shows_the_cost_asks_and_follows(researcher_client: Client, demo_study: Study) -> None:
    def page() -> str:
        return html_of(researcher_client.get("/studies/demo/"))

    assert "6 HITs, 24 assignments: at most $14.40" in page()
    cost = html_of(researcher_client.get("/studies/demo/publishing/cost/?hits=2&budget=1"))
    assert "2 HITs, 8 assignments: at most $4.80" in cost
    assert "above the given budget of $1.00" in cost

    researcher_client.post("/studies/demo/publish/", {"market": "local", "hits": "2"})
    assert "Publishing: no background process runs." in page()
    run = PublishingRun.objects.get()
    assert (run.most_hits, run.requested_by) == (2, User.objects.get())
    again = researcher_client.post("/studies/demo/publish/", {"market": "local"})
    assert "is being published" in html_of(again)
    PublishingRun.objects.update(requested_at=now() - timedelta(minutes=3))
    assert "Start it again" in page()
    researcher_client.post("/studies/demo/publish/again/", {"market": "local"})
    assert "Start it again" not in page()


@pytest.mark.parametrize(("port", "words"), [(9, "it can't be reached"), (0, "it answers 501")])
def test_a_page_that_leads_nowhere_is_found_before_publishing_here_too(
    bare_study: Study, market: MTurkMarket, settings: Settings, localturk_url: str, port: int, words: str
) -> None:
    settings.PUBLIC_URL = f"http://127.0.0.1:{port}" if port else localturk_url

    run = carry_out(ask_for(bare_study), market)

    assert "Workers could not work on" in run.outcome
    assert words in run.outcome
    assert not Publication.objects.exists()


@pytest.mark.usefixtures("demo_study")
def test_what_can_t_be_meant_is_refused_at_once(researcher_client: Client, settings: Settings) -> None:
    settings.MTURK_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://eval.example.org"
    bad = [
        ({"market": "local", "hits": "0"}, "'0' is no number of HITs"),
        ({"market": "local", "hits": "²"}, "'²' is no number of HITs"),
        ({"market": "local", "budget": "much"}, "The budget is 'much'"),
        ({"market": "local", "budget": "1e30"}, "The budget is '1e30'"),
        ({"market": "production"}, "That is not the study's name: nothing is published."),
        ({"market": "production", "typed_name": "Demo"}, "That is not the study's name: nothing is published."),
    ]

    for fields, message in bad:
        answer = researcher_client.post("/studies/demo/publish/", fields)
        assert answer.status_code == 422
        assert answer.context["refused"].message.startswith(message)

    elsewhere = researcher_client.post("/studies/demo/publish/", {"market": "moon\n"}, follow=True)
    assert "moon" not in elsewhere.redirect_chain[0][0]
    assert not PublishingRun.objects.exists()


@pytest.mark.usefixtures("demo_study")
def test_other_marketplaces_are_offered_only_where_the_settings_allow_them(
    researcher_client: Client, settings: Settings
) -> None:
    assert "Sandbox" not in html_of(researcher_client.get("/studies/demo/?market=production"))
    refused = researcher_client.post("/studies/demo/publish/", {"market": "production"}, follow=True)
    assert "set MTURK_ENVIRONMENT=production" in html_of(refused)

    settings.MTURK_ENVIRONMENT = "production"

    page = html_of(researcher_client.get("/studies/demo/?market=production"))
    assert "market-real" in page
    assert "Type the study's name to publish it" in page


@pytest.mark.once
def test_a_killed_worker_s_run_is_finished_by_another(
    bare_study: Study,
    http_market: MTurkMarket,
    localturk_url: str,
    test_database_url: str,
    start_process: Callable[..., BackgroundProcess],
    tmp_path: Path,
) -> None:
    add_fault(Kind.LATENCY, 1_000, operation="CreateHITWithHITType")
    run = ask_for(bare_study, 5)
    environment = {"DATABASE_URL": test_database_url, "VAR_DIR": str(tmp_path), "MTURK_LOCAL_URL": localturk_url}
    environment["PUBLIC_URL"] = django_settings.PUBLIC_URL
    _send("hits.tasks.publish_hits_of_run", run.pk, tmp_path)

    first = start_process(**environment)
    wait_until(Publication.objects.begun().exists, "the first intents")
    first.kill()
    clear_faults()
    start_process(**environment)

    wait_until(lambda: PublishingRun.objects.filter(finished_at__isnull=False).exists(), "the end of the run")
    run.refresh_from_db()
    assert run.outcome.startswith("All 5 HITs are published.")
    assert_each_hit_is_there_once(http_market, bare_study, 5)


def _send(task: str, argument: int, folder: Path) -> None:
    """From a Celery application of its own, since this test has a broker of its own."""
    with Celery(broker="files://localhost", set_as_current=False) as app:
        app.conf.task_queues = django_settings.CELERY_TASK_QUEUES
        app.conf.broker_transport_options = {"folder": f"{folder}/broker"}
        app.send_task(task, args=[argument], queue="default")


def test_a_refused_invitation_or_copy_keeps_what_was_typed_for_publishing(
    researcher_client: Client, demo_study: Study
) -> None:
    typed = {"market": "local", "hits": "2", "budget": "12.50"}

    for address, fields in (("members/", {"user_name": "nobody"}), ("copy/", {"name": "demo"})):
        answer = researcher_client.post(f"/studies/demo/{address}", {**fields, **typed})
        assert answer.status_code == 422
        assert (answer.context["publishing"]["budget"], answer.context["publishing"]["hits"]) == ("12.50", "2")
    User.objects.create_user("grace")
    invited = researcher_client.post("/studies/demo/members/", {"user_name": "grace", **typed}, follow=True)
    assert invited.context["publishing"]["budget"] == "12.50"


@pytest.mark.usefixtures("market")
def test_an_empty_field_takes_away_only_a_budget_that_its_page_has_shown(
    researcher_client: Client, demo_study: Study
) -> None:
    set_cap(offering_for(demo_study, "local"), 20_00, None, now())

    stale = researcher_client.post("/studies/demo/publish/", {"market": "local", "budget": "", "budget_shown": ""})
    assert stale.status_code == 422
    assert stale.context["refused"].field == "publishing-budget"
    assert stale.context["publishing"]["budget"] == "20.00"
    assert typed_cap_cents(offering_for(demo_study, "local")) == 20_00

    page = html_of(researcher_client.get("/studies/demo/publishing/cost/?budget=&budget_shown=20.00"))
    assert "publishing removes the budget of $20.00" in page
    researcher_client.post("/studies/demo/publish/", {"market": "local", "budget": "", "budget_shown": "20.00"})
    assert typed_cap_cents(offering_for(demo_study, "local")) is None
