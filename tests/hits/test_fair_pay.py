"""What an hour really pays, and a top-up that is proposed, confirmed and paid once."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from hits.budgeting import budget_of
from hits.budgeting.budget import OverBudget
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Payment, Study, Submission, offering_for
from hits.paying import RealPay, confirm_top_up, pay, propose_top_up, real_pay, reject
from localturk.models import BonusPayment
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish


@pytest.fixture
def study(example_corpus: None, market: MTurkMarket) -> Study:
    """A reward of 40 cents; four workers who took 6, 8, 12 and 20 minutes for their ten dialogs."""
    made = create_study({**DEMO, "pay": {"budget": "20.00"}})
    snapshots.build(made)
    made.refresh_from_db()
    publish(made, market, hits=1)
    for account, minutes in zip(people(), (6, 8, 12, 20), strict=False):
        CrowdWorker(made.hits.get(number=0), account).finish().took(timedelta(minutes=minutes))
    collect(offering_for(made, "local"), market, now())
    return made


def test_the_median_its_spread_and_what_an_hour_pays(study: Study) -> None:
    assert real_pay(offering_for(study, "local")) == RealPay(4, (7.5, 10.0, 14.0), 240)


def test_with_too_few_submissions_nothing_is_made_up(study: Study, market: MTurkMarket) -> None:
    _, *others = Submission.objects.all()
    for one in others:
        reject(one, "It was empty.", market, None, now())

    assert real_pay(offering_for(study, "local")) is None
    with pytest.raises(EvalPlatformError, match="too few submissions"):
        propose_top_up(offering_for(study, "local"), 9_00)


def test_a_confirmed_top_up_brings_the_median_worker_to_the_rate_and_is_paid_once(
    study: Study, market: MTurkMarket, django_user_model: type[User]
) -> None:
    rosa = django_user_model.objects.create(username="rosa")
    pay(offering_for(study, "local"), market, now)

    proposed = propose_top_up(offering_for(study, "local"), 9_00)
    assert (proposed.cents_each, len(proposed.submissions), proposed.total_cents) == (110, 4, 4 * (110 + 22))
    assert not Payment.objects.filter(kind="top-up").exists()

    for _ in range(2):
        confirm_top_up(proposed, rosa, now())
        pay(offering_for(study, "local"), market, now)

    assert [bonus.amount_cents for bonus in BonusPayment.objects.filter(reason__contains="top-up")] == [110] * 4
    assert Payment.objects.filter(kind="top-up").paid().count() == 4
    assert propose_top_up(offering_for(study, "local"), 9_00).submissions == []
    event = study.events.first()
    assert event is not None
    assert (event.actor, event.text) == (rosa, "confirmed a top-up of $1.10 each for 4 submissions")


def test_who_gets_the_rate_already_needs_no_top_up(study: Study) -> None:
    with pytest.raises(EvalPlatformError, match=r"\$2\.40 an hour already"):
        propose_top_up(offering_for(study, "local"), 2_40)


def test_a_top_up_stops_at_the_budget(study: Study) -> None:
    assert budget_of(offering_for(study, "local")).left_cents == 20_00 - 4 * 48

    with pytest.raises(OverBudget, match=r"This top-up would bring the study to at most \$21\.12, above the study's"):
        confirm_top_up(propose_top_up(offering_for(study, "local"), 26_40), None, now())
    assert not Payment.objects.filter(kind="top-up").exists()
