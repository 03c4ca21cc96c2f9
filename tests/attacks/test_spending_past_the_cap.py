"""Ways to spend more than a study may: two at once, a process that is killed, a tab that is out of date."""

import http.server
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.budgeting import budget_of, open_places, revealed_secret, set_cap, spending, typed_cap_cents
from hits.budgeting.budget import OverBudget
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Publication, Replacement, Study, Submission, offering_for
from hits.paying import confirm_top_up, reject
from hits.paying.fair_pay import TopUp
from hits.publishing import check_funds, plan_publishing, publish_hits, resume_study, stop_study
from hits.replacing import put_up_again, replace_lost_assignments
from hits.syncing import sync
from localturk.clock import Clock
from localturk.models import LedgerEntry, TurkHit
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.processes import ROOT, as_a_user_has_it, manage

EACH = 40 + 8 + 10 + 2  # the reward, the bonus, and both fees
HIT = 4 * EACH
PAGE = "https://eval.example.org/work"


class Killed(BaseException):
    """As SIGKILL ends a process: nothing is saved after it."""


class KilledAfter:
    """A market whose caller is killed when one of its calls has been made."""

    def __init__(self, market: MTurkMarket, call: str) -> None:
        self._market, self._call = market, call

    def __getattr__(self, name: str) -> Any:
        made = getattr(self._market, name)

        def call(*arguments: Any) -> None:
            made(*arguments)
            raise Killed

        return call if name == self._call else made


@pytest.fixture
def study(example_corpus: None, market: MTurkMarket) -> Study:
    """6 HITs of 4 assignments, of which the first is published."""
    return build(market, "at once")


@pytest.fixture
def by_hand(example_corpus: None, market: MTurkMarket) -> Study:
    """The same, but nothing is approved by itself."""
    return build(market, "by hand")


def build(market: MTurkMarket, approval: str) -> Study:
    made = create_study({**DEMO, "crowd": {"max_hits_per_worker": 6}, "pay": {"approval": approval}})
    snapshots.build(made)
    made.refresh_from_db()
    publish(made, market, 1)
    return made


@pytest.fixture
def stopped(study: Study, market: MTurkMarket) -> Study:
    """Its HIT is off the market with nobody at work on it. The budget has room for one HIT."""
    stop_study(offering_for(study, "local"), market, now)
    sync(offering_for(study, "local"), market, now)
    assert budget_of(offering_for(study, "local")).committed_cents == 0
    set_cap(offering_for(study, "local"), HIT, None, now())
    return study


def is_within_cap(study: Study) -> bool:
    """By our own reckoning, before and after the marketplace was asked."""
    budget = budget_of(offering_for(study, "local"))
    return budget.cap_cents is not None and budget.committed_cents <= budget.cap_cents


def paid_cents() -> int:
    return sum(entry.amount_cents + entry.fee_cents for entry in LedgerEntry.objects.all())


# --- A HIT that was put up again while workers hold the old one ------------------------------------------------------


def test_what_workers_hold_of_a_hit_counts_when_it_is_put_up_again(study: Study, market: MTurkMarket) -> None:
    set_cap(offering_for(study, "local"), HIT, None, now())
    holders = [CrowdWorker(study.hits.get(number=0), one) for one in people()[:4]]

    with pytest.raises(OverBudget, match="what workers still hold of the old HITs"):
        put_up_again(offering_for(study, "local"), market, "https://new.example.org/work", now, elsewhere=True)
    assert TurkHit.objects.count() == 1

    for holder in holders:
        holder.win_all_bonuses()
        holder.finish()
    for _ in range(2):
        sync(offering_for(study, "local"), market, now)
    assert (
        put_up_again(
            offering_for(study, "local"), market, "https://new.example.org/work", now, elsewhere=True
        ).published
        == 0
    )
    assert paid_cents() == HIT


def test_it_is_put_up_again_once_nobody_holds_the_old_one(study: Study, market: MTurkMarket) -> None:
    set_cap(offering_for(study, "local"), HIT, None, now())
    holder = CrowdWorker(study.hits.get(number=0), people()[0])
    with pytest.raises(OverBudget):
        put_up_again(offering_for(study, "local"), market, "https://new.example.org/work", now, elsewhere=True)

    holder.give_back()
    done = put_up_again(offering_for(study, "local"), market, "https://new.example.org/work", now, elsewhere=True)

    assert done.published == 1
    assert budget_of(offering_for(study, "local")).committed_cents == HIT


def test_late_work_on_the_old_hit_takes_no_place_of_the_new_one(study: Study, market: MTurkMarket) -> None:
    set_cap(offering_for(study, "local"), 6 * EACH, None, now())
    late = [CrowdWorker(study.hits.get(number=0), one) for one in people()[:2]]
    put_up_again(offering_for(study, "local"), market, "https://new.example.org/work", now, elsewhere=True)
    assert budget_of(offering_for(study, "local")).open_cents == 6 * EACH
    assert sorted((one.count, one.is_retired) for one in open_places(offering_for(study, "local"))) == [
        (2, True),
        (4, False),
    ]
    assert revealed_secret(study) == ""

    late[0].finish()
    sync(offering_for(study, "local"), market, now)
    assert sorted((one.count, one.is_retired) for one in open_places(offering_for(study, "local"))) == [
        (1, True),
        (4, False),
    ]
    late[1].give_back()
    sync(offering_for(study, "local"), market, now)

    assert [(one.count, one.is_retired) for one in open_places(offering_for(study, "local"))] == [(4, False)]


# --- Two at once -----------------------------------------------------------------------------------------------------


def test_two_that_each_fit_alone_do_not_spend_together(stopped: Study, market: MTurkMarket) -> None:
    """The other begins when the first is at its intents, and would be done before the first has saved them."""
    plan = plan_publishing(offering_for(stopped, "local"), 1)
    check_funds(plan, market)
    refusals: list[EvalPlatformError] = []
    other = threading.Thread(target=in_thread(lambda: publish_hits(plan, market, PAGE, now), refusals))

    def when_asked() -> datetime:
        with suppress(RuntimeError):  # it was started before
            other.start()
            other.join(1)
        return now()

    with suppress(OverBudget):
        resume_study(offering_for(stopped, "local"), market, when_asked)
    other.join()

    assert [type(one) for one in refusals] == [OverBudget]
    assert is_within_cap(stopped)
    sync(offering_for(stopped, "local"), market, now)
    assert is_within_cap(stopped)


def in_thread(act: Callable[[], object], refusals: list[EvalPlatformError]) -> Callable[[], None]:
    def run() -> None:
        try:
            act()
        except EvalPlatformError as error:
            refusals.append(error)
        finally:
            connection.close()

    return run


@pytest.mark.parametrize("spend", ["publish", "replace", "top up"])
def test_whatever_spends_looks_at_the_budget_when_others_have_saved_their_intents(
    by_hand: Study, market: MTurkMarket, spend: str
) -> None:
    """Another process is between its look at the budget and its intents, which take all that is left."""
    CrowdWorker(by_hand.hits.get(number=0), people()[0]).finish()
    CrowdWorker(by_hand.hits.get(number=0), people()[1]).finish()
    sync(offering_for(by_hand, "local"), market, now)
    reject(Submission.objects.earliest("pk"), "It was empty.", market, None, now())
    plan, kept = plan_publishing(offering_for(by_hand, "local"), 1), Submission.objects.filter(status="Submitted")
    ways: dict[str, Callable[[], object]] = {
        "publish": lambda: publish_hits(plan, market, PAGE, now),
        "replace": lambda: replace_lost_assignments(offering_for(by_hand, "local"), market, now),
        "top up": lambda: confirm_top_up(TopUp(offering_for(by_hand, "local"), 900, 10, list(kept)), None, now()),
    }
    set_cap(
        offering_for(by_hand, "local"), budget_of(offering_for(by_hand, "local")).committed_cents + HIT, None, now()
    )
    refusals: list[EvalPlatformError] = []
    other = threading.Thread(target=in_thread(ways[spend], refusals))

    with spending(by_hand):
        other.start()
        other.join(0.5)
        Publication.objects.create(hit=by_hand.hits.get(number=5), offering=plan.offering, intended_at=now())
    other.join()

    assert is_within_cap(by_hand)
    assert len(refusals) == (spend != "replace")  # which takes what there is room for, and says what there is not


@contextmanager
def slow_page() -> Iterator[tuple[str, threading.Event, threading.Event]]:
    """A worker's page that answers when it is told to: its address, that it was asked, and that it may answer."""
    asked, go_on = threading.Event(), threading.Event()

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            go_on.wait(60)
            self.send_response(200)
            self.send_header("Content-Security-Policy", "frame-ancestors 'self'")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked, go_on
        finally:
            go_on.set()
            server.shutdown()


def test_two_real_processes_at_once_stay_within_the_budget(stopped: Study, test_database_url: str) -> None:
    """One is past its first look at the budget, and waits for the worker's page; the other puts the HIT back."""
    with slow_page() as (address, asked, go_on):
        environment = {"DATABASE_URL": test_database_url, "PUBLIC_URL": address}
        publishing = subprocess.Popen(
            [sys.executable, "manage.py", "publish_hits", "demo", "--hits", "1"],
            cwd=ROOT,
            env={**as_a_user_has_it(), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert asked.wait(60), publishing.communicate()
        resumed = manage("stop_study", "demo", "--resume", **environment)
        go_on.set()
        _, errors = publishing.communicate(timeout=60)

    assert resumed.returncode == 0, resumed.stderr
    assert publishing.returncode == 1
    assert "above the given budget of $2.40" in errors
    assert is_within_cap(stopped)
    assert TurkHit.objects.count() == 1


# --- Killed between a call and what it changes here ------------------------------------------------------------------


def test_a_hit_that_was_put_back_by_a_process_that_was_killed_counts(stopped: Study, market: MTurkMarket) -> None:
    killed: Any = KilledAfter(market, "extend_hit")
    with pytest.raises(Killed):
        resume_study(offering_for(stopped, "local"), killed, now)

    assert budget_of(offering_for(stopped, "local")).committed_cents == HIT
    with pytest.raises(OverBudget):
        publish_hits(plan_publishing(offering_for(stopped, "local"), 1), market, PAGE, now)
    sync(offering_for(stopped, "local"), market, now)
    assert budget_of(offering_for(stopped, "local")).committed_cents == HIT
    assert resume_study(offering_for(stopped, "local"), market, now).changed == 1
    assert budget_of(offering_for(stopped, "local")).committed_cents == HIT


def test_a_hit_that_was_not_put_back_after_all_counts_no_longer(stopped: Study, market: MTurkMarket) -> None:
    Publication.objects.update(reopening_at=now())
    sync(offering_for(stopped, "local"), market, now)
    assert budget_of(offering_for(stopped, "local")).committed_cents == HIT  # the call may be on its way

    sync(offering_for(stopped, "local"), market, lambda: now() + timedelta(minutes=11))

    assert budget_of(offering_for(stopped, "local")).committed_cents == 0


def test_a_reopening_by_a_process_that_was_killed_counts_and_is_finished_by_the_next(
    study: Study, market: MTurkMarket
) -> None:
    Clock().advance(timedelta(days=40))
    sync(offering_for(study, "local"), market, now)
    set_cap(offering_for(study, "local"), HIT, None, now())
    later = Clock().now

    killed: Any = KilledAfter(market, "extend_hit")
    with pytest.raises(Killed):
        replace_lost_assignments(offering_for(study, "local"), killed, later)

    assert budget_of(offering_for(study, "local")).committed_cents == HIT
    with pytest.raises(OverBudget):
        publish_hits(plan_publishing(offering_for(study, "local"), 1), market, PAGE, now)
    replace_lost_assignments(offering_for(study, "local"), market, later)
    assert Replacement.objects.get().confirmed_at is not None
    assert budget_of(offering_for(study, "local")).committed_cents == HIT


def test_an_assignment_asked_for_on_a_closed_hit_counts_from_the_intent_on(by_hand: Study, market: MTurkMarket) -> None:
    for one in people()[:4]:
        CrowdWorker(by_hand.hits.get(number=0), one).finish()
    sync(offering_for(by_hand, "local"), market, now)
    reject(Submission.objects.earliest("pk"), "It was empty.", market, None, now())
    before = budget_of(offering_for(by_hand, "local")).committed_cents

    killed: Any = KilledAfter(market, "add_assignments")
    with pytest.raises(Killed):
        replace_lost_assignments(offering_for(by_hand, "local"), killed, now)

    assert budget_of(offering_for(by_hand, "local")).committed_cents == before + EACH


# --- A tab, or a prompt, that is out of date -------------------------------------------------------------------------


def test_a_tab_that_is_out_of_date_does_not_raise_a_budget_again(study: Study, admin_client: Client) -> None:
    set_cap(offering_for(study, "local"), 100_00, None, now())
    stale = {"market": "local", "hits": "1", "budget_shown": "100.00"}
    admin_client.post("/studies/demo/budget/", {"market": "local", "budget": "2.40", "budget_shown": "100.00"})

    untouched = admin_client.post("/studies/demo/publish/", {**stale, "budget": "100.00"})
    typed = admin_client.post("/studies/demo/publish/", {**stale, "budget": "50"})
    monitor = admin_client.post("/studies/demo/budget/", {**stale, "budget": "50"})

    for answer in (untouched, typed, monitor):
        assert answer.status_code == 422
        assert "The budget is $2.40 now, and it was $100.00 when you looked" in answer.context["refused"].message
    assert untouched.context["publishing"]["budget"] == "2.40"
    assert (typed.context["publishing"]["budget"], typed.context["publishing"]["hits"]) == ("50", "1")
    assert typed.context["publishing"]["budget_shown"] == "2.40"
    assert monitor.context["budget"]["typed"] == "50"
    assert typed_cap_cents(offering_for(study, "local")) == 2_40
    assert not offering_for(study, "local").publishing_runs.exists()


def test_what_was_typed_under_another_budget_stays_unsent_through_the_page_s_other_forms(
    study: Study, admin_client: Client
) -> None:
    typed = {"market": "local", "budget": "50", "budget_shown": ""}
    set_cap(offering_for(study, "local"), 2_40, None, now())

    page = admin_client.post("/studies/demo/resume/", typed, follow=True)

    assert (page.context["publishing"]["budget"], page.context["publishing"]["budget_shown"]) == ("50", "")


def test_a_budget_that_is_changed_while_the_command_waits_holds(study: Study, settings: Any) -> None:
    """Whether it waits at its prompt or, as here, for the worker's page."""
    for changed_to, options, refusal in [
        (HIT, [], r"above the given budget of \$2.40"),
        (HIT + 1, ["--budget", "99"], "somebody has changed it."),
    ]:
        with slow_page() as (settings.PUBLIC_URL, asked, go_on):
            command = [*options, "--hits", "1"]
            change = threading.Thread(target=change_when, args=(study, changed_to, asked, go_on))
            change.start()
            with pytest.raises(CommandError, match=refusal):
                call_command("publish_hits", "demo", *command, stdout=StringIO())
            change.join()
        assert typed_cap_cents(offering_for(study, "local")) == changed_to
        assert is_within_cap(study)
    assert TurkHit.objects.count() == 1


def change_when(study: Study, cents: int, asked: threading.Event, go_on: threading.Event) -> None:
    asked.wait(60)
    set_cap(offering_for(study, "local"), cents, None, now())
    connection.close()
    go_on.set()


# --- Numbers that are none -------------------------------------------------------------------------------------------

LONG = "9" * 5_000


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        ("replace/", {"budget_cents": LONG}),
        ("replace/", {"budget_cents": "٣"}),
        ("budget/", {"budget": LONG}),
        ("budget/", {"budget": "1", "budget_shown": LONG}),
        ("publish/", {"budget": LONG, "hits": LONG}),
        ("publish/", {"budget": "1", "budget_shown": LONG}),
        ("top-up/", {"hourly": LONG, "total_cents": LONG}),
        ("put-up/", {"which": "deleted", "cents": LONG}),
        ("assignments/approve/", {"count": LONG}),
        ("assignments/reject-empty/", {"shown": LONG, "is_meant": "yes", "reason": "Empty."}),
    ],
)
def test_amounts_of_thousands_of_digits_are_refused_and_break_nothing(
    study: Study, admin_client: Client, address: str, fields: dict[str, str]
) -> None:
    answer = admin_client.post(f"/studies/demo/{address}", {"market": "local", **fields})

    assert answer.status_code in (302, 422)
    assert budget_of(offering_for(study, "local")).committed_cents == HIT
    assert typed_cap_cents(offering_for(study, "local")) is None
