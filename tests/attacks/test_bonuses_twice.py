"""Ways to have a bonus on Prolific paid twice, or never: another SECRET_KEY after a restore, equal amounts."""

from datetime import timedelta

from pytest_django import Settings

from hits.models import BonusList, Offering, Payment, Submission
from localprolific.behaviour import set_behaviour
from localprolific.models import BonusOrder
from localprolific.panel_clock import Clock
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater
from tests.hits.prolific_study import drafted, no_faults, offering, sync_now
from tests.hits.test_prolific_bonuses import LATE

__all__ = ["drafted", "no_faults", "offering"]


def test_the_note_at_prolific_is_found_after_the_secret_key_has_changed(offering: Offering, settings: Settings) -> None:
    """The database is restored to before the order, and comes back under another key; the bonus is not visible yet."""
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()
    sync_now(offering)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key" * 10
    Payment.objects.update(sending_at=None, bonus_list=None, refusal="")
    BonusList.objects.all().delete()

    for _ in range(2):
        sync_now(offering)
    Clock().advance(timedelta(minutes=11))
    sync_now(offering)

    assert (BonusOrder.objects.count(), rater.paid_cents) == (1, [150, 10])


def test_a_top_up_of_the_same_amount_is_not_taken_for_the_bonus_that_is_under_way(offering: Offering) -> None:
    set_behaviour(**LATE)
    rater = Rater(offering)
    rater.finish()
    sync_now(offering)
    submission = Submission.objects.get()
    Payment.objects.create(submission=submission, kind="top-up", cents=10, fee_cents=1, intended_at=now())

    for _ in range(3):
        Clock().advance(timedelta(minutes=11))
        sync_now(offering)

    assert rater.paid_cents == [150, 10, 10]
    assert set(Payment.objects.values_list("paid_by", flat=True)) == {"our call"}
