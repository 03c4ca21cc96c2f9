"""A worker who never opens our page: accepts on the marketplace and posts a bare externalSubmit, again and again."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.budgeting import budget_of, summarise_waiting, waiting_for_decision
from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.designing import create_study
from hits.models import Payment, Study, Submission, offering_for
from hits.paying import approve_by_hand, propose_top_up, reject
from hits.syncing import sync
from localturk import in_process, working
from localturk.clock import Clock
from localturk.models import LedgerEntry, TurkAssignment, TurkHit, WorkerAccount
from localturk.refusals import Refused
from localturk.seeding import ensure_worker_accounts
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of


@pytest.fixture
def market(transactional_db: None) -> MTurkMarket:
    client = boto_client("http://localturk.invalid", has_own_credentials=False)
    in_process.attach(client)
    return MTurkMarket(client, calls_per_second=1000)


@pytest.fixture
def study(example_corpus: None, market: MTurkMarket) -> Study:
    """One that pays at once and replaces at each sync, where a worker may do two HITs: 6 HITs of 4 assignments."""
    study = create_study({**DEMO, "hits": {"replacements": "at each sync"}, "crowd": {"max_hits_per_worker": 2}})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market)
    return study


def attack(round_: int, most: int = 7) -> int:
    """As many empty submissions as the marketplace lets two workers hand in, at most so many. New ones each round."""
    ensure_worker_accounts()
    WorkerAccount.objects.update(country="US", approved_count=500, rejected_count=0)
    done = 0
    for hit in TurkHit.objects.all():
        for account in WorkerAccount.objects.order_by("pk")[2 * round_ : 2 * round_ + 2]:
            if done == most:
                return done
            try:
                held = working.accept(account, hit, Clock().now())
            except Refused:
                continue
            working.submit(held.assignment_id, account, {}, Clock().now())
            done += 1
    return done


def paid_cents() -> int:
    return sum(entry.amount_cents + entry.fee_cents for entry in LedgerEntry.objects.all())


def test_empty_submissions_are_not_paid_and_not_replaced_round_after_round(study: Study, market: MTurkMarket) -> None:
    places = TurkHit.objects.count() * 4

    for round_ in range(3):
        attack(round_)
        sync(offering_for(study, "local"), market, now)

    handed_in = TurkAssignment.objects.count()
    assert handed_in >= 18
    assert (paid_cents(), Payment.objects.count()) == (0, 0)
    assert set(TurkAssignment.objects.values_list("status", flat=True)) == {"Submitted"}
    assert sum(TurkHit.objects.values_list("max_assignments", flat=True)) == places + 3  # a tenth of 24, rounded up
    assert budget_of(offering_for(study, "local")).waiting_cents == handed_in * 60
    assert Submission.objects.filter(problem="").count() == 0


def test_a_person_decides_about_each_and_only_then_it_is_paid_or_replaced(study: Study, market: MTurkMarket) -> None:
    attack(0)
    sync(offering_for(study, "local"), market, now)
    places = sum(TurkHit.objects.values_list("max_assignments", flat=True))
    one, two, three, *_ = Submission.objects.order_by("pk")

    approve_by_hand([one], now())
    reject(two, "Nothing was handed in.", market, None, now())
    reject(three, "Nothing was handed in.", market, None, now())
    sync(offering_for(study, "local"), market, now)

    assert (paid_cents(), Payment.objects.get().submission) == (48, one)
    assert TurkAssignment.objects.filter(status="Rejected").count() == 2
    # All seven are lost. Three were replaced at first; now the three that were decided, and three others.
    assert sum(TurkHit.objects.values_list("max_assignments", flat=True)) == places + 3
    assert summarise_waiting(offering_for(study, "local")).count == 4


def test_what_nobody_decides_the_marketplace_pays_and_the_ledger_has_it_as_found(
    study: Study, market: MTurkMarket
) -> None:
    attack(0)
    sync(offering_for(study, "local"), market, now)
    assert summarise_waiting(offering_for(study, "local")).first_paid_at is not None

    Clock().advance(timedelta(days=4))
    sync(offering_for(study, "local"), market, now)

    assert set(Payment.objects.values_list("kind", "paid_by")) == {("reward", "found there")}
    assert Payment.objects.paid().cents() == paid_cents() == 7 * 48
    assert summarise_waiting(offering_for(study, "local")).count == 0


def test_work_beyond_the_cap_waits_though_its_answers_are_complete(example_corpus: None, market: MTurkMarket) -> None:
    """Our page refuses a third HIT; here it was opened before the cap was lowered, or on a restored database."""
    study = create_study({**DEMO, "crowd": {"max_hits_per_worker": 3}})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market)
    for number in range(3):
        worker = CrowdWorker(study.hits.get(number=number), people()[0])
        worker.win_all_bonuses()
        worker.finish()
    Study.objects.update(design={**study.design, "crowd": {**study.design["crowd"], "max_hits_per_worker": 2}})
    study.refresh_from_db()

    sync(offering_for(study, "local"), market, now)
    again = sync(offering_for(study, "local"), market, now)

    assert paid_cents() == 2 * 60
    waiting = waiting_for_decision(offering_for(study, "local"))
    third = Submission.objects.get(assignment__hit__number=2)
    assert waiting == {third.pk: "Its worker has handed in more than the 2 HITs that the study allows."}
    assert (again.waiting.count, again.paid.rewards) == (1, 0)
    market.approve(third.assignment.crowd_assignment_id)
    sync(offering_for(study, "local"), market, now)
    assert paid_cents() == 2 * 60 + 48  # somebody's approval there is found, and no bonus follows
    assert Payment.objects.paid().cents() == paid_cents()


def test_no_top_up_goes_to_work_that_was_not_done(study: Study, market: MTurkMarket) -> None:
    attack(0)
    for account in people()[2:4]:
        CrowdWorker(study.hits.get(number=0), account).finish().took(timedelta(minutes=100))
    sync(offering_for(study, "local"), market, now)

    proposal = propose_top_up(offering_for(study, "local"), 1500)

    assert sorted(one.assignment.crowd_worker_id for one in proposal.submissions) == sorted(
        one.worker_id for one in people()[2:4]
    )


def test_the_pages_show_what_waits_and_until_when_and_take_the_decision(
    study: Study, market: MTurkMarket, researcher_client: Client, researcher: User
) -> None:
    Study.objects.update(owner=researcher)
    attack(0)
    sync(offering_for(study, "local"), market, now)
    due = f"{Submission.objects.earliest('auto_approval_at').auto_approval_at:%-d %b %Y, %H:%M} UTC"

    monitor = html_of(researcher_client.get("/studies/demo/monitor/"))
    listed = html_of(researcher_client.get("/studies/demo/assignments/?state=waiting+for+a+decision"))
    key = Submission.objects.earliest("pk").assignment_id
    one = html_of(researcher_client.get(f"/studies/demo/assignments/{key}/"))

    assert "7 submissions wait for your decision" in monitor
    assert "state=waiting+for+a+decision" in monitor
    assert due in monitor
    assert listed.count("waiting for a decision</span>") == 7
    assert "Approve all" not in listed
    assert f"If nobody decides, the marketplace approves and pays it on {due}." in one
    researcher_client.post(f"/studies/demo/assignments/{key}/approve/")
    assert Payment.objects.get().submission.assignment_id == key
    assert Submission.objects.exclude(decided_at=None).get().assignment_id == key


def test_all_empty_ones_are_rejected_with_one_reason_and_one_confirmation(
    study: Study, market: MTurkMarket, admin_client: Client
) -> None:
    attack(0)
    sync(offering_for(study, "local"), market, now)
    address = "/studies/demo/assignments/reject-empty/"
    page = admin_client.get("/studies/demo/assignments/")
    shown = ",".join(map(str, page.context["empty"]))
    assert f'name="shown" value="{shown}"' in html_of(page)
    whole = {"market": "local", "shown": shown, "reason": "Nothing was handed in.", "is_meant": "yes"}

    for less in ({"shown": ""}, {"is_meant": ""}, {"reason": " "}):
        refused = admin_client.post(address, {**whole, **less})
        assert refused.status_code == 422
        assert refused.context["refused"].typed["reason"] == {**whole, **less}["reason"]
    assert not Submission.objects.filter(status="Rejected").exists()
    admin_client.post(address, whole)

    assert TurkAssignment.objects.filter(status="Rejected").count() == 7
    assert summarise_waiting(offering_for(study, "local")).count == 0
    assert not Payment.objects.exists()
    assert study.events.filter(text__endswith=": Nothing was handed in.").count() == 7
