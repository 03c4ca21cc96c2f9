"""What a study has cost, owes and may still cost; and nothing is offered above its budget."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from hits.budgeting import Budget, budget_of, refuse_over_budget, set_cap
from hits.budgeting.budget import OverBudget
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.models import Publication, Replacement, Study, Submission, offering_for
from hits.paying import confirm_top_up, pay, reject
from hits.paying.fair_pay import TopUp
from hits.publishing import check_budget, plan_publishing, request_run, resume_study, stop_study
from hits.replacing import replace_lost_assignments
from localturk.clock import Clock
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish

EACH = 40 + 8 + 10 + 2  # the reward, the bonus, and both fees


@pytest.fixture
def study(example_corpus: None) -> Study:
    """By hand, so that confirmed work stays owed; with a budget for the first two HITs and one assignment more."""
    made = create_study({**DEMO, "pay": {"approval": "by hand", "budget": f"{9 * EACH / 100:.2f}"}})
    snapshots.build(made)
    made.refresh_from_db()
    return made


def test_every_cent_is_open_then_owed_then_spent(study: Study, market: MTurkMarket) -> None:
    publish(study, market, hits=1)
    assert budget_of(offering_for(study, "local")) == Budget(9 * EACH, 0, 0, 4 * EACH)

    winner = CrowdWorker(study.hits.get(number=0), people()[0])
    winner.win_all_bonuses()
    winner.finish()
    CrowdWorker(study.hits.get(number=0), people()[1]).finish()
    collect(offering_for(study, "local"), market, now())
    assert budget_of(offering_for(study, "local")) == Budget(9 * EACH, 0, 48 + EACH, 2 * EACH)

    Submission.objects.filter(assignment__crowd_assignment_id=winner.assignment_id).update(status="Approved")
    pay(offering_for(study, "local"), market, now)
    after = budget_of(offering_for(study, "local"))
    assert after == Budget(9 * EACH, EACH, 48, 2 * EACH)
    assert after.left_cents == 9 * EACH - EACH - 48 - 2 * EACH


def test_rejected_work_costs_nothing(study: Study, market: MTurkMarket) -> None:
    publish(study, market, hits=1)
    CrowdWorker(study.hits.get(number=0), people()[0]).finish()
    collect(offering_for(study, "local"), market, now())

    reject(Submission.objects.get(), "It was empty.", market, None, now())

    assert budget_of(offering_for(study, "local")) == Budget(9 * EACH, 0, 0, 3 * EACH)


def test_publishing_counts_what_is_owed_and_open(study: Study, market: MTurkMarket) -> None:
    publish(study, market, hits=1)

    check_budget(plan_publishing(offering_for(study, "local"), 1), None)
    with pytest.raises(OverBudget, match=r"2 HITs .* at most \$7.20, above the study's budget of \$5.40"):
        check_budget(plan_publishing(offering_for(study, "local"), 2), None)
    with pytest.raises(OverBudget, match=r"at most \$4.80, above the given budget of \$4.79"):
        check_budget(plan_publishing(offering_for(study, "local"), 1), 4_79)


def test_hits_that_nobody_can_fill_any_more_cost_nothing_until_they_are_put_back(
    study: Study, market: MTurkMarket
) -> None:
    publish(study, market, hits=2)
    holder = CrowdWorker(study.hits.get(number=0), people()[0])
    stop_study(offering_for(study, "local"), market, now)
    collect(offering_for(study, "local"), market, now())
    assert budget_of(offering_for(study, "local")).open_cents == 4 * EACH  # of the HIT that somebody still works on

    holder.finish()
    collect(offering_for(study, "local"), market, now())
    assert budget_of(offering_for(study, "local")) == Budget(9 * EACH, 0, 48, 0)

    publish(study, market, hits=2)
    with pytest.raises(OverBudget, match="Putting the HITs back on offer would bring the study to at most"):
        resume_study(offering_for(study, "local"), market, now)
    assert Publication.objects.stopped().count() == 2


def test_expired_hits_are_noted_when_the_marketplace_says_so(study: Study, market: MTurkMarket) -> None:
    publish(study, market, hits=1)
    Clock().advance(timedelta(days=15))

    collect(offering_for(study, "local"), market, now())

    assert budget_of(offering_for(study, "local")).open_cents == 0


def test_what_is_begun_may_be_there_and_what_was_refused_is_not(bare_study: Study) -> None:
    hits = list(bare_study.hits.all())
    Publication.objects.create(hit=hits[0], offering=offering_for(hits[0].study, "local"), intended_at=now())
    Publication.objects.create(
        hit=hits[1], offering=offering_for(hits[1].study, "local"), intended_at=now(), refusal="no"
    )
    Replacement.objects.create(
        hit=hits[0], offering=offering_for(hits[0].study, "local"), places=6, added=2, reopened=0, intended_at=now()
    )

    assert budget_of(offering_for(bare_study, "local")).open_cents == 6 * EACH
    assert budget_of(offering_for(bare_study, "sandbox")).open_cents == 0


def test_without_a_budget_nothing_is_refused() -> None:
    budget = Budget(None, 1, 2, 3)

    refuse_over_budget(budget, 10**9, "All of it", "")

    assert budget.left_cents is None


def test_a_typed_budget_holds_for_everything_that_spends_until_it_is_changed(
    demo_study: Study, market: MTurkMarket, researcher: User
) -> None:
    request_run(offering_for(demo_study, "local"), 1, 4 * EACH, researcher, now())
    publish(demo_study, market, hits=1)
    CrowdWorker(demo_study.hits.get(number=0), people()[0]).finish()
    CrowdWorker(demo_study.hits.get(number=0), people()[1]).finish()
    collect(offering_for(demo_study, "local"), market, now())
    reject(Submission.objects.earliest("pk"), "It was empty.", market, None, now())
    set_cap(offering_for(demo_study, "local"), 3 * EACH, researcher, now())

    assert budget_of(offering_for(demo_study, "local")).cap_cents == 3 * EACH
    assert budget_of(offering_for(demo_study, "sandbox")).cap_cents is None
    assert replace_lost_assignments(offering_for(demo_study, "local"), market, now).beyond_budget == 1
    with pytest.raises(OverBudget, match="above the given budget"):
        check_budget(plan_publishing(offering_for(demo_study, "local"), 1))
    with pytest.raises(OverBudget, match="above the given budget"):
        confirm_top_up(
            TopUp(offering_for(demo_study, "local"), 900, 100, list(Submission.objects.all())), researcher, now()
        )

    set_cap(offering_for(demo_study, "local"), None, researcher, now())
    assert replace_lost_assignments(offering_for(demo_study, "local"), market, now).added == 1
    assert [event.text for event in demo_study.events.filter(text__contains="budget")] == [
        "removed the budget of $1.80 (local)",
        "set the budget to $1.80 (local)",
        "set the budget to $2.40 (local)",
    ]


def test_the_lower_of_the_design_s_and_the_typed_budget_holds(study: Study) -> None:
    set_cap(offering_for(study, "local"), 10 * EACH, None, now())
    assert budget_of(offering_for(study, "local")).cap_cents == 9 * EACH

    set_cap(offering_for(study, "local"), 2 * EACH, None, now())
    with pytest.raises(OverBudget, match=r"above the given budget of \$1.20"):
        check_budget(plan_publishing(offering_for(study, "local"), 1))
