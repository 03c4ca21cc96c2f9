"""The researcher's pages on a running study: numbers, workers, assignments, ledger, events, and what is done there."""

import csv
import io
import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.access import pseudonym
from hits.budgeting import typed_cap_cents
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Assignment, Event, Payment, Publication, Standing, Study, Submission, offering_for
from hits.monitoring import submissions_per_hour
from hits.screening import screen
from hits.screening.pattern_rules import StraightLines
from hits.syncing import sync
from hits.tasks import (
    replace_assignments_of_offering,
    screen_work_of_offering,
    sync_hits_of_offering,
    undo_screening_of_offering,
)
from hits.views.card_writers import letter_of
from localturk.models import BonusPayment, TurkAssignment, TurkHit
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of

LISTS = ("monitor/", "monitor/live/", "workers/", "assignments/", "ledger/", "events/")


def work(study: Study, who: int, hit: int, area: str = "good", wins: bool = False) -> CrowdWorker:
    worker = CrowdWorker(study.hits.get(number=hit), people()[who])
    if wins:
        worker.win_all_bonuses()
    worker.finish(area)
    return worker.took(timedelta(minutes=5 * (who + 1)))


@pytest.fixture
def worked(demo_study: Study, market: MTurkMarket) -> Study:
    """Two did a HIT, the second without points; a third one has just begun. Collected, paid and screened."""
    publish(demo_study, market)
    work(demo_study, 0, 0, wins=True)
    work(demo_study, 1, 0, area="bad")
    CrowdWorker(demo_study.hits.get(number=1), people()[2])
    sync(offering_for(demo_study, "local"), market, now)
    screen_work_of_offering(offering_for(demo_study, "local").pk)
    return demo_study


@pytest.fixture
def by_hand(example_corpus: None, researcher: User, market: MTurkMarket) -> Study:
    """Approved by hand; two submissions are collected."""
    study = create_study({**DEMO, "pay": {"approval": "by hand"}}, researcher)
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market, 1)
    work(study, 0, 0, wins=True)
    work(study, 1, 0, area="bad")
    sync(offering_for(study, "local"), market, now)
    return study


def text_of(client: Client, address: str) -> str:
    """What one reads, without tags."""
    response = client.get(f"/studies/demo/{address}")
    assert response.status_code == 200, (address, response.status_code)
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


def messages_of(response: object) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))  # type: ignore[attr-defined]


def name_of(study: Study, who: int) -> str:
    return pseudonym(study, people()[who].worker_id)


def events() -> list[str]:
    return [event.text for event in Event.objects.order_by("pk")]


# --- To look at ------------------------------------------------------------------------------------------------------


def test_the_monitor_says_how_far_a_study_is(researcher_client: Client, worked: Study) -> None:
    page = text_of(researcher_client, "monitor/")

    for words in ("published 24", "accepted 3", "submitted 2", "approved 2", "returned or run out 0"):
        assert words in page
    assert "Spent $1.08" in page
    assert "Still open, at most $13.20" in page
    assert "7.5 minutes median of 2; half of them between 6.2 and 8.8" in page
    assert "$3.20 by the reward alone" in page
    assert "50.0 % 3 of 6; 95 % interval 18.8 to 81.2 %" in page
    assert "2 submissions from" in page
    assert "left out: same answer share 0.95, counts dialogs −2 −2 −20" in page
    assert "are updated every five seconds" in page


def test_before_anything_has_happened_the_pages_say_what_is_missing(
    researcher_client: Client, demo_study: Study
) -> None:
    page = text_of(researcher_client, "monitor/")

    assert "Nothing of this study is published on this marketplace yet" in page
    assert "not known yet: at least two submissions with answers are needed" in page
    assert "No rate yet: nothing is submitted" in page
    assert "Nothing is under way, so this page does not update" in page
    assert "0 workers" in text_of(researcher_client, "workers/")
    assert "0 assignments" in text_of(researcher_client, "assignments/")
    assert "0 lines" in text_of(researcher_client, "ledger/")
    assert "Nobody has done anything" in text_of(researcher_client, "events/")


def test_the_number_of_queries_does_not_grow_with_the_work(
    researcher_client: Client, worked: Study, market: MTurkMarket
) -> None:
    addresses = [*LISTS, f"workers/{name_of(worked, 0)}/", f"assignments/{Assignment.objects.earliest('pk').pk}/"]

    def count_queries() -> dict[str, int]:
        found = {}
        for address in addresses:
            with CaptureQueriesContext(connection) as queries:
                text_of(researcher_client, address)
            found[address] = len(queries)
        return found

    before = count_queries()
    for who in range(4):
        work(worked, who, 2 + who % 2, wins=who % 2 == 0)
    sync(offering_for(worked, "local"), market, now)
    screen_work_of_offering(offering_for(worked, "local").pk)

    assert count_queries() == before
    assert max(before.values()) <= 60  # of them seven are about interim results: how much is collected, and looks


def test_log_in_is_required_everywhere(client: Client, demo_study: Study) -> None:
    for address in (*LISTS, "ledger.csv", "workers/W-1/", "assignments/1/"):
        assert client.get(f"/studies/demo/{address}").status_code == 302


def test_no_page_shows_who_a_worker_is_unless_asked_and_asking_is_noted(
    researcher_client: Client, researcher: User, worked: Study
) -> None:
    name, worker_id = name_of(worked, 0), people()[0].worker_id
    addresses = [*LISTS, "ledger.csv", f"workers/{name}/", f"assignments/{Assignment.objects.earliest('pk').pk}/"]
    for address in addresses:
        response = researcher_client.get(f"/studies/demo/{address}")
        assert worker_id not in b"".join(response).decode(), address

    revealed = researcher_client.post(f"/studies/demo/workers/{name}/id/", {"market": "local"})
    ledger = b"".join(researcher_client.post("/studies/demo/ledger.csv", {"market": "local"})).decode()

    assert worker_id in html_of(revealed)
    assert "no-store" in revealed.headers["Cache-Control"]
    assert worker_id in ledger
    asked = Event.objects.filter(actor=researcher).order_by("pk")
    assert [event.text for event in asked] == [
        f"looked at the marketplace's own id of {name}",
        "downloaded the ledger (local) with the workers' own ids",
    ]
    assert worker_id not in text_of(researcher_client, "events/")


def test_the_ledger_has_a_line_for_each_payment_with_sums_that_fit(researcher_client: Client, worked: Study) -> None:
    Payment.objects.filter(kind="bonus").update(paid_at=None, paid_by="", refusal="InsufficientFunds")

    page, refused = text_of(researcher_client, "ledger/"), text_of(researcher_client, "ledger/?state=refused")
    response = researcher_client.get("/studies/demo/ledger.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(response).decode())))

    assert "reward 2 $0.96 $0.00 $0.00 bonus 1 $0.00 $0.12 $0.00 all 3 $0.96 $0.12 $0.00" in page
    assert "1 line " in refused
    assert sorted((row["kind"], row["cents"], row["fee_cents"], row["state"]) for row in rows) == [
        ("bonus", "10", "2", "refused"),
        ("reward", "40", "8", "paid"),
        ("reward", "40", "8", "paid"),
    ]
    assert {row["worker"] for row in rows} == {name_of(worked, 0), name_of(worked, 1)}
    assert {row["hit"] for row in rows} == {"1"}  # as the pages call it
    assert "1 payment could not be made: InsufficientFunds" in text_of(researcher_client, "monitor/")


def data_in(frame: str) -> dict[str, Any]:
    """The data that the worker's page in a frame begins with."""
    found = re.search(r'<script id="hit" type="application/json">(.*?)</script>', frame, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def test_an_assignment_is_shown_as_its_worker_saw_and_answered_it(
    researcher_client: Client, market: MTurkMarket, demo_study: Study
) -> None:
    publish(demo_study, market, 1)
    worker = CrowdWorker(demo_study.hits.get(number=0), people()[0])
    position = worker.checkpoint()
    worker.check(position, worker.all_in(position, "bad"))
    worker.check(position, worker.all_in(position, "okay"), attempt=2, revision=1)
    worker.open()
    cards = worker.data["dialogs"][0]["cards"]
    worker.save(0, {str(place): "good" if place % 2 else "bad" for place in range(len(cards))}, hidden_ms=4_000)
    worker.open()
    dialogs = worker.everything("okay")
    dialogs[0]["areas"] = worker.data["dialogs"][0]["answer"]["areas"]
    worker.hand_in(worker.submit(dialogs, feedback="<b>Nice</b> task").json()["fields"])
    worker.took(timedelta(minutes=5))
    sync(offering_for(demo_study, "local"), market, now)

    context = researcher_client.get(f"/studies/demo/assignments/{worker.assignment.pk}/").context
    page = text_of(researcher_client, f"assignments/{worker.assignment.pk}/")

    shown = data_in(context["dialogs"][0].frame)
    assert (shown["mode"], shown["token"], shown["dialogs"][0]["cards"]) == ("shown", "", cards)
    assert shown["dialogs"][0]["answer"]["areas"] == dialogs[0]["areas"]
    replies = context["dialogs"][0].replies
    assert [reply.said for reply in replies] == ["Good" if place % 2 else "Bad" for place in range(len(cards))]
    assert {reply.writers for reply in replies} >= {"generic", "parrot"}
    assert not [name for name in ("generic", "parrot") if name in context["dialogs"][0].frame]
    assert [(one.is_passed, one.said_of_gold) for one in context["dialogs"][position].attempts] == [
        (False, "was in Bad"),
        (True, "was in Okay"),
    ]
    assert "4 in a hidden tab" in page
    assert "<b>Nice</b> task" in page
    assert "Bonus points 3 of 3" in page  # by where they stand, asked for or not


def test_workers_are_listed_with_checkpoints_and_flags(researcher_client: Client, worked: Study) -> None:
    alice, bruno, carla = (name_of(worked, who) for who in range(3))

    page = text_of(researcher_client, "workers/?order=passed")
    bruno_page = text_of(researcher_client, f"workers/{bruno}/")

    assert page.index(bruno) < page.index(alice) < page.index(carla)
    assert f"{bruno} 1 0 10.0 min 0 of 3 0 % (0 to 56)" in page
    assert f"{alice} 1 0 5.0 min 3 of 3 100 % (44 to 100)" in page
    # PostgreSQL has an order of its own for the facts.
    for words in ("same_answer", "too_few_points HIT 1", "share 1", "answer all bad", "checkpoints 3"):
        assert words in bruno_page
    assert "exploratory" not in bruno_page
    screen(offering_for(worked, "local"), now(), [StraightLines()])
    explored = text_of(researcher_client, f"workers/{bruno}/")
    assert "straight_lines exploratory" in explored
    assert "same_answer share" in explored or "same_answer answer" in explored
    assert "By other rules than the study was frozen with" in text_of(researcher_client, "monitor/")
    assert carla not in text_of(researcher_client, "workers/?show=flagged")
    assert researcher_client.get("/studies/demo/workers/W-NOBODY/").status_code == 404


def test_hours_without_submissions_are_shown_and_long_studies_in_wider_bars(worked: Study) -> None:
    first, second = Submission.objects.order_by("pk")
    Submission.objects.filter(pk=second.pk).update(submitted_at=first.submitted_at + timedelta(hours=3))
    short = submissions_per_hour(offering_for(worked, "local"))
    Submission.objects.filter(pk=second.pk).update(submitted_at=first.submitted_at + timedelta(hours=200))
    long = submissions_per_hour(offering_for(worked, "local"))

    assert short is not None
    assert long is not None
    assert ([one.count for one in short.bins], short.hours_per_bin, short.mean_per_hour) == ([1, 0, 0, 1], 1, 0.5)
    assert (len(long.bins), long.hours_per_bin, long.total) == (67, 3, 2)


# --- To do -----------------------------------------------------------------------------------------------------------


def test_a_worker_is_blocked_softly_and_unblocked_with_reasons(
    researcher_client: Client, researcher: User, worked: Study
) -> None:
    name = name_of(worked, 1)
    address = f"/studies/demo/workers/{name}/"

    refused = researcher_client.post(f"{address}block/", {"market": "local", "reason": " "})
    assert "Give a reason for the block" in messages_of(refused)
    researcher_client.post(f"{address}block/", {"market": "local", "reason": "All the same."})
    standing = Standing.objects.get()
    assert (standing.kind, standing.made_by, standing.crowd_worker_id) == (
        "soft block",
        researcher,
        people()[1].worker_id,
    )
    assert name in text_of(researcher_client, "workers/?show=blocked")
    researcher_client.post(f"{address}unblock/", {"market": "local", "reason": "A mistake."})

    assert "soft block, lifted All the same." in text_of(researcher_client, f"workers/{name}/")
    assert events()[-2:] == [f"soft block of {name}: All the same.", f"unblocked {name}: A mistake."]


def test_work_is_approved_by_hand_and_then_paid(
    researcher_client: Client, researcher: User, by_hand: Study, market: MTurkMarket
) -> None:
    first = Submission.objects.earliest("pk")
    assert "2 wait for approval" in text_of(researcher_client, "monitor/")

    address = f"/studies/demo/assignments/{first.assignment_id}/approve/"
    done, again = researcher_client.post(address), researcher_client.post(address)
    stale = researcher_client.post("/studies/demo/assignments/approve/", {"market": "local", "count": "2"})
    rest = researcher_client.post("/studies/demo/assignments/approve/", {"market": "local", "count": "1"})
    sync(offering_for(by_hand, "local"), market, now)

    assert "1 assignment is approved" in messages_of(done)
    assert "decided before" in messages_of(again)
    assert "Look again" in messages_of(stale)
    assert "1 assignment is approved" in messages_of(rest)
    assert Payment.objects.paid().cents() == 2 * 48 + 12
    assert [one.actor for one in Event.objects.filter(text__startswith="approved")] == [researcher] * 2
    assert TurkAssignment.objects.filter(status="Approved").count() == 2


def test_one_assignment_is_rejected_with_a_reason_and_never_by_a_slip(
    researcher_client: Client, researcher: User, by_hand: Study, market: MTurkMarket
) -> None:
    second = Submission.objects.latest("pk")
    address = f"/studies/demo/assignments/{second.assignment_id}/"

    slip = researcher_client.post(f"{address}reject/", {"reason": "Empty."})
    mute = researcher_client.post(f"{address}reject/", {"reason": " ", "is_meant": "yes"})
    assert "Tick that you mean it" in html_of(slip)
    assert ">Empty.</textarea>" in html_of(slip)
    assert "Write a reason" in html_of(mute)
    assert not TurkAssignment.objects.filter(status="Rejected").exists()
    researcher_client.post(f"{address}reject/", {"reason": "Nothing was done.", "is_meant": "yes"})
    sync(offering_for(by_hand, "local"), market, now)

    assert TurkAssignment.objects.get(status="Rejected").requester_feedback == "Nothing was done."
    assert "Decide" not in text_of(researcher_client, f"assignments/{second.assignment_id}/")
    event = Event.objects.get(text__startswith="rejected")
    assert (event.actor, event.text) == (
        researcher,
        f"rejected the assignment of {name_of(by_hand, 1)} on HIT 1: Nothing was done.",
    )
    assert Payment.objects.count() == 0


def test_a_top_up_is_shown_first_and_only_what_was_shown_is_confirmed(
    researcher_client: Client, worked: Study, market: MTurkMarket
) -> None:
    page = text_of(researcher_client, "monitor/?hourly=8.00")
    assert "$0.60 each for 2 submissions: $1.44 with fees" in page
    stale = researcher_client.post("/studies/demo/top-up/", {"market": "local", "hourly": "8.00", "total_cents": "72"})
    assert "Look again" in messages_of(stale)

    fields = {"market": "local", "hourly": "8.00", "total_cents": "144"}
    researcher_client.post("/studies/demo/top-up/", fields)
    researcher_client.post("/studies/demo/top-up/", fields)
    sync(offering_for(worked, "local"), market, now)

    assert [one.amount_cents for one in BonusPayment.objects.filter(reason__contains="top-up")] == [60, 60]
    assert "has had its top-up already" in text_of(researcher_client, "monitor/?hourly=8.00")
    assert "'much'; write an amount in USD" in text_of(researcher_client, "monitor/?hourly=much")
    assert sum("confirmed a top-up" in text for text in events()) == 1


def test_syncing_screening_and_pausing_are_asked_for_and_answered_in_the_log(
    researcher_client: Client, researcher: User, worked: Study
) -> None:
    work(worked, 3, 0)
    Event.objects.all().delete()
    for verb in ("sync", "screen", "screen/undo"):
        assert "Requested." in messages_of(researcher_client.post(f"/studies/demo/{verb}/", {"market": "local"}))
    sync_hits_of_offering(offering_for(worked, "local").pk, researcher.pk)
    screen_work_of_offering(offering_for(worked, "local").pk, researcher.pk)
    screen_work_of_offering(offering_for(worked, "local").pk, researcher.pk)
    undo_screening_of_offering(offering_for(worked, "local").pk, researcher.pk)
    paused = researcher_client.post("/studies/demo/stop/", {"market": "local", "back": "monitor"})
    researcher_client.post("/studies/demo/resume/", {"market": "local", "back": "monitor"})

    assert paused.headers["Location"] == "/studies/demo/monitor/?market=local"
    assert Publication.objects.open().count() == 6
    assert set(Event.objects.values_list("actor", flat=True)) == {researcher.pk}
    said = events()
    assert said[:4] == [
        "asked for a sync (local)",
        "asked for the work to be screened by the study's own rules (local)",
        "asked for the last screening to be undone (local)",
        "synced on local: 1 new submission; 1 reward and 0 bonuses paid ($0.48 with fees)",
    ]
    assert said[4].startswith("screened the work on local by the study's own rules")
    assert said[5] == "screened the work on local again: nothing has changed"
    assert said[6].startswith("undid the screening")
    assert said[7:] == ["took 6 HITs off the local market", "put 6 HITs back on the local market"]


def test_what_is_lost_is_replaced_after_a_look_at_the_cost_and_never_beyond_it(
    researcher_client: Client, researcher: User, worked: Study
) -> None:
    assert "2 assignments do not count: 2 are left out" in text_of(researcher_client, "monitor/")
    shown = researcher_client.get("/studies/demo/monitor/?replace=show")
    assert "2 assignments would be on offer for other workers, at most $1.20" in html_of(shown)

    unseen = researcher_client.post("/studies/demo/replace/", {"market": "local"})
    budget_cents = shown.context["replacing"]["budget_cents"]
    asked = researcher_client.post("/studies/demo/replace/", {"market": "local", "budget_cents": budget_cents})
    replace_assignments_of_offering(offering_for(worked, "local").pk, budget_cents, researcher.pk)
    replace_assignments_of_offering(offering_for(worked, "local").pk, budget_cents, researcher.pk)

    assert "Look at what it costs first" in messages_of(unseen)
    assert "Requested." in messages_of(asked)
    assert TurkHit.objects.filter(max_assignments=6).count() == 1
    page = text_of(researcher_client, "monitor/?replace=show")
    assert "published 26" in page
    assert "2 were offered again" in page
    assert "There is nothing to replace" in page
    assert events()[-2:] == [
        "asked for replacements of what was lost (local)",
        "asked for 2 more assignments and reopened 0: at most $1.20",
    ]


def test_the_budget_is_shown_and_changed_on_the_monitor_and_never_by_an_empty_field(
    researcher_client: Client, researcher: User, worked: Study
) -> None:
    def change(**fields: str) -> Any:
        return researcher_client.post("/studies/demo/budget/", {"market": "local", "hourly": "11", **fields})

    assert "No budget is set." in text_of(researcher_client, "monitor/")
    assert change(budget="20").status_code == 302
    shown = text_of(researcher_client, "monitor/")
    assert "are left of the budget of $20.00 that was set for the local marketplace" in shown

    for typed in ("", "$30", "1,000"):
        refused = change(budget=typed)
        assert refused.status_code == 422
        assert refused.context["refused"].field == "study-budget"
        assert refused.context["budget"]["typed"] == typed
        assert refused.context["top_up"]["hourly"] == "11"
    assert typed_cap_cents(offering_for(worked, "local")) == 20_00
    change(budget="", is_meant="yes")
    assert typed_cap_cents(offering_for(worked, "local")) is None
    assert events()[-2:] == ["set the budget to $20.00 (local)", "removed the budget of $20.00 (local)"]


def test_visits_that_nobody_confirmed_are_counted_apart(researcher_client: Client, worked: Study) -> None:
    Assignment.objects.filter(submission=None).update(confirmed_at=None)

    page = text_of(researcher_client, "monitor/")

    assert "opened, not confirmed 1 accepted 2" in page
    assert "0 are being worked on; 1 more was opened, and the marketplace has not confirmed by whom" in page
    listed = researcher_client.get("/studies/demo/assignments/", {"state": "opened, not confirmed"})
    assert len(listed.context["assignments"]) == 1
    assert not researcher_client.get("/studies/demo/assignments/", {"state": "in hand"}).context["assignments"]


def test_an_assignment_s_cards_have_the_letters_that_its_worker_saw(researcher_client: Client, worked: Study) -> None:
    page = text_of(researcher_client, f"assignments/{Assignment.objects.earliest('pk').pk}/")

    assert "Reply A " in page
    assert not re.search(r"(Card|Reply) 1\b", page)
    assert [letter_of(place) for place in (0, 25, 26, 52)] == ["A", "Z", "AA", "BA"]
