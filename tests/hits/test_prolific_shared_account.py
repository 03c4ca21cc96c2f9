"""One account on Prolific, and not only we work there: other servers, copies of ours, rows that come while we read."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from benchmarks.restored_rows import Snapshot
from hits.batching import build_hits
from hits.crowds.prolific.study_fields import mark_of
from hits.designing import create_study
from hits.models import Offering, Payment, offering_for
from localprolific import by_hand, misbehaving
from localprolific.behaviour import set_behaviour
from localprolific.models import BonusOrder, GroupMember, ProlificStudy
from localprolific.panel_clock import Clock
from tests.conftest import DEMO
from tests.hits.prolific_people import Rater, study_there
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, bonus_of, drafted, ledger, no_faults, offering, sync_now
from tests.hits.test_prolific_bonuses import LATE

__all__ = ["drafted", "no_faults", "offering"]


def test_another_server_with_a_copy_of_our_database_pays_nothing_again(offering: Offering) -> None:
    """Each knows only what it ordered itself; what was noted at Prolific tells the other."""
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()
    copy = Snapshot(offering.study)
    sync_now(offering)
    ours = Snapshot(offering.study)

    copy.restore()
    for _ in range(3):
        sync_now(Offering.objects.get())
    theirs = Snapshot(offering.study)
    ours.restore()
    sync_now(Offering.objects.get())
    Clock().advance(timedelta(minutes=11))
    sync_now(Offering.objects.get())
    after = ledger(offering)
    theirs.restore()
    sync_now(Offering.objects.get())

    assert (BonusOrder.objects.count(), rater.paid_cents) == (1, [150, 10])
    assert after == [("bonus", 10, "our call"), ("reward", 150, "our call")]
    assert [cents for _, cents, _ in ledger(offering)] == [10, 150]
    assert not Payment.objects.owed().exists()


def test_work_on_the_studies_of_others_stays_as_it_is(offering: Offering) -> None:
    """Another study on the same account, with the same participant, as another installation's."""
    other_study = create_study({**DEMO, "name": "other", "crowd": PARTICIPANTS, "pay": POUNDS})
    build_hits(other_study)
    other = offering_for(other_study, "prolific.local")
    publish(other)
    ours = Rater(offering)
    theirs = Rater(other, who=ours.who)
    ours.finish()
    theirs.finish()

    for _ in range(3):
        sync_now(offering)

    assert (ours.paid_cents, theirs.paid_cents) == ([150, 10], [])
    assert theirs.there.status == "AWAITING REVIEW"
    groups = set(GroupMember.objects.values_list("group__name", flat=True))
    assert groups == {f"{mark_of(offering)[:70]} bonus asked 1"}

    for _ in range(3):
        sync_now(other)

    assert (ours.paid_cents, theirs.paid_cents) == ([150, 10], [150, 10])


def publish(offering: Offering) -> None:
    call_command("publish_hits", offering.study.name, "--crowd", "prolific", "--hits", "2", stdout=StringIO())


@pytest.mark.parametrize("short", [False, True], ids=["whole pages", "short pages"])
def test_rows_that_come_while_we_read_lose_nobody(offering: Offering, short: bool) -> None:
    raters = [Rater(offering, f"Rater {number}") for number in range(6)]
    for one in raters:
        one.finish()
    at_once = {"publishing_seconds": 0, "bulk_approval_seconds": 0, "bonus_payment_seconds": 0}
    set_behaviour(most_rows_per_page=3, are_pages_short=short, **at_once)
    misbehaving.add_process_fault("rows-between-pages")

    for _ in range(3):
        sync_now(offering)
    misbehaving.clear_process_faults()
    sync_now(offering)

    assert [one.paid_cents for one in raters] == [[150, 10]] * 6


def test_a_study_that_is_deleted_with_a_bonus_under_way_orders_nothing_again(offering: Offering) -> None:
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()
    sync_now(offering)
    by_hand.delete_study(study_there(offering), Clock().now())

    for _ in range(2):
        sync_now(offering)

    assert BonusOrder.objects.count() == 1
    assert bonus_of(offering).sending_at is not None
    assert bonus_of(offering).paid_at is None
    assert ProlificStudy.objects.undeleted().count() == 0
