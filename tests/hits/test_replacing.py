"""What a HIT has lost is offered again: once, within nine assignments and the budget."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from hits.budgeting import budget_of
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Exclusion, Hit, Replacement, ScreeningRun, Study, Submission, offering_for
from hits.paying import reject
from hits.publishing import stop_study
from hits.replacing import Replaced, replace_lost_assignments
from hits.syncing import sync, unsettled_offerings
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish

EACH = 60


def make(**settings: Any) -> Study:
    study = create_study({**DEMO, "pay": {"approval": "by hand"}, **settings})
    snapshots.build(study)
    study.refresh_from_db()
    return study


@pytest.fixture
def hit(example_corpus: None, market: MTurkMarket) -> Hit:
    """With its four assignments handed in."""
    study = make()
    publish(study, market, hits=1)
    work(study.hits.get(number=0), 4, market)
    return study.hits.get(number=0)


def work(hit: Hit, count: int, market: MTurkMarket, skip: int = 0) -> None:
    ensure_worker_accounts()
    WorkerAccount.objects.update(country="US", approved_count=500, rejected_count=0)
    for account in WorkerAccount.objects.all()[skip : skip + count]:
        CrowdWorker(hit, account).finish()
    collect(offering_for(hit.study, "local"), market, now())


def exclude(*submissions: Submission, worker: str = "", is_frozen_rules: bool = True) -> ScreeningRun:
    study = Study.objects.get()
    run = ScreeningRun.objects.create(
        offering=offering_for(study, "local"), rules=[], is_frozen_rules=is_frozen_rules, funnel={}, made_at=now()
    )
    for one in submissions:
        Exclusion.objects.create(run=run, step=0, rule="too_few_points", parameters={}, submission=one, evidence={})
    if worker:
        Exclusion.objects.create(
            run=run, step=1, rule="same_answer", parameters={}, crowd_worker_id=worker, evidence={}
        )
    return run


def replace(hit: Hit, market: MTurkMarket, **more: Any) -> Replaced:
    return replace_lost_assignments(offering_for(hit.study, "local"), market, now, **more)


def test_what_the_studys_own_rules_leave_out_is_offered_again_once(hit: Hit, market: MTurkMarket) -> None:
    one, two, *_ = Submission.objects.order_by("pk")
    exclude(one, worker=two.assignment.crowd_worker_id)

    first, again = replace(hit, market), replace(hit, market)

    assert (first.added, first.cents, again.added) == (2, 2 * EACH, 0)
    assert TurkHit.objects.get().max_assignments == 6
    row = Replacement.objects.get()
    assert (row.places, row.excluded, row.rejected, row.confirmed_at is None) == (6, 2, 0, False)
    assert budget_of(offering_for(hit.study, "local")).open_cents == 2 * EACH
    assert hit.study.events.get().text == "asked for 2 more assignments and reopened 0: at most $1.20"


def test_workers_are_served_the_additional_assignments_in_further_turns_and_no_more(
    hit: Hit, market: MTurkMarket
) -> None:
    exclude(Submission.objects.earliest("pk"))
    replace(hit, market)

    work(hit, 1, market, skip=4)

    assert sorted(Submission.objects.values_list("assignment__rotation", flat=True)) == [0, 1, 2, 3, 4]
    assert Submission.objects.filter(problem="").count() == 5
    assert unsettled_offerings() == [offering_for(hit.study, "local")]  # for the approvals by hand
    assert budget_of(offering_for(hit.study, "local")).open_cents == 0


def test_a_replacement_that_is_left_out_too_is_replaced_up_to_nine(hit: Hit, market: MTurkMarket) -> None:
    Submission.objects.update(problem="It was submitted without our page.", decided_at=now())
    assert replace(hit, market).added == 4
    work(hit, 4, market, skip=4)
    exclude(*Submission.objects.filter(problem=""))

    third = replace(hit, market)

    assert (third.added, third.beyond_most, third.refused) == (1, 3, {})
    assert TurkHit.objects.get().max_assignments == 9


def test_an_exploration_or_an_undone_screening_asks_nobody_to_work(hit: Hit, market: MTurkMarket) -> None:
    submission = Submission.objects.earliest("pk")
    exclude(submission, is_frozen_rules=False)
    undone = exclude(submission)
    ScreeningRun.objects.filter(pk=undone.pk).update(undone_at=now())

    assert replace(hit, market) == Replaced()


def test_what_was_rejected_is_replaced(hit: Hit, market: MTurkMarket) -> None:
    reject(Submission.objects.earliest("pk"), "All in one area.", market, None, now())

    assert replace(hit, market).added == 1


def test_what_was_returned_is_no_loss(example_corpus: None, market: MTurkMarket) -> None:
    study = make()
    publish(study, market, hits=1)
    CrowdWorker(study.hits.get(number=0), people()[0]).give_back()

    assert replace(study.hits.get(number=0), market) == Replaced()


def test_expired_places_are_reopened_and_not_doubled(example_corpus: None, market: MTurkMarket) -> None:
    study = make()
    publish(study, market, hits=1)
    hit = study.hits.get(number=0)
    work(hit, 2, market)
    Clock().advance(timedelta(days=15))
    exclude(Submission.objects.earliest("pk"))
    later = now() + timedelta(days=15)

    replaced = replace_lost_assignments(offering_for(study, "local"), market, lambda: later)

    assert (replaced.added, replaced.reopened, replaced.cents) == (1, 2, 3 * EACH)
    there = TurkHit.objects.get()
    assert (there.status, there.max_assignments, there.available_count) == ("Assignable", 5, 3)
    assert replace_lost_assignments(offering_for(study, "local"), market, lambda: later) == Replaced()
    assert budget_of(offering_for(study, "local")).open_cents == 3 * EACH


def test_a_stopped_hit_stays_stopped(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))
    stop_study(offering_for(hit.study, "local"), market, now)

    assert replace(hit, market) == Replaced(stopped=1)


def test_replacements_end_where_the_budget_does(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))
    owed = budget_of(offering_for(hit.study, "local")).owed_cents

    assert replace(hit, market, budget_cents=owed + EACH - 1) == Replaced(beyond_budget=1)
    assert replace(hit, market, budget_cents=owed + EACH).added == 1


def test_a_run_that_was_killed_after_its_call_has_asked_for_ever(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))
    replace(hit, market)
    Replacement.objects.update(confirmed_at=None)
    Clock().advance(timedelta(hours=25))

    assert replace(hit, market).added == 0
    assert (TurkHit.objects.get().max_assignments, Replacement.objects.unconfirmed().count()) == (5, 0)


def test_a_run_that_was_killed_before_its_call_asks_for_it_later(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))
    Replacement.objects.create(
        hit=hit, offering=offering_for(hit.study, "local"), places=5, added=1, reopened=0, intended_at=now()
    )

    assert replace(hit, market).added == 1
    assert (TurkHit.objects.get().max_assignments, Replacement.objects.count()) == (5, 1)


def test_a_restored_database_learns_of_replacements_when_it_collects(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))
    replace(hit, market)
    Replacement.objects.all().delete()

    collect(offering_for(hit.study, "local"), market, now())

    assert Replacement.objects.get().places == 5
    work(hit, 1, market, skip=4)
    assert Submission.objects.count() == 5


def test_two_runs_at_once_ask_once(hit: Hit, market: MTurkMarket) -> None:
    exclude(Submission.objects.earliest("pk"))

    def run(_: int) -> None:
        try:
            replace(hit, market)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run, range(2)))
    replace(hit, market)

    assert (TurkHit.objects.get().max_assignments, Replacement.objects.standing().count()) == (5, 1)


def test_a_sync_replaces_where_the_study_says_so(example_corpus: None, market: MTurkMarket) -> None:
    study = make(hits={"replacements": "at each sync"}, pay={"approval": "at once"})
    publish(study, market, hits=1)
    hit = study.hits.get(number=0)
    work(hit, 4, market)
    sync(offering_for(study, "local"), market, now)
    assert unsettled_offerings() == []
    exclude(Submission.objects.earliest("pk"))
    assert unsettled_offerings() == [offering_for(study, "local")]

    synced = sync(offering_for(study, "local"), market, now)

    assert synced.replaced is not None
    assert (synced.replaced.added, TurkHit.objects.get().max_assignments) == (1, 5)


def test_the_command_says_what_it_does(hit: Hit) -> None:
    exclude(Submission.objects.earliest("pk"))

    lines = []
    for options in (["--dry-run"], []):
        out = StringIO()
        call_command("replace_assignments", hit.study.name, *options, stdout=out)
        lines.append(out.getvalue())

    assert lines[0].endswith("Dry run: nothing is requested.\n")
    assert lines[1] == "1 assignment added and 0 reopened, at most $0.60.\n"
    assert Replacement.objects.count() == 1
