"""Decisions of a person about work from Prolific: rejecting with a ground, and asking for work to be given back."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.batching import build_hits
from hits.budgeting import waiting_for_decision
from hits.crowds import open_crowd
from hits.crowds.prolific.rejection_rules import RULES
from hits.designing import create_study
from hits.errors import MarketUnavailable
from hits.models import Event, Offering, Payment, Submission, offering_for
from hits.monitoring import assignment_rows, count_progress
from hits.paying import ReasonRefused, approve_by_hand, reject, request_return
from hits.replacing import replace_lost_assignments
from hits.syncing import sync
from localprolific import misbehaving, participating
from localprolific.behaviour import set_behaviour
from localprolific.lifecycle_rules import Status
from localprolific.panel_clock import Clock
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater, study_there
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, ledger, no_faults, run, sync_now

__all__ = ["no_faults"]

LONG = "Every one of the ten dialogs has the same answer, and each was given within a second, so they were not read."
BACK = "Your answers did not reach us, so we ask you to give the work back. We are sorry."


@pytest.fixture
def offering(example_corpus: None, researcher: User, transactional_db: None) -> Offering:
    """A published study whose work is approved by hand."""
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0)
    study = create_study({**DEMO, "crowd": PARTICIPANTS, "pay": {**POUNDS, "approval": "by hand"}})
    study.owner = researcher
    study.save()
    build_hits(study)
    run("publish_hits", "--hits", "2")
    return offering_for(study, "prolific.local")


@pytest.fixture
def rater(offering: Offering) -> Rater:
    """Somebody whose work waits for a decision."""
    rater = Rater(offering)
    rater.finish()
    sync_now(offering)
    return rater


def submission() -> Submission:
    return Submission.objects.select_related("assignment__hit__study", "assignment__offering__study").get()


def address(rater: Rater, action: str) -> str:
    return f"/studies/demo/assignments/{rater.assignment.pk}/{action}"


# --- Rejecting -------------------------------------------------------------------------------------------------------


def test_rejecting_wants_a_ground_and_an_explanation(offering: Offering, rater: Rater) -> None:
    market = open_crowd(offering)

    with pytest.raises(ReasonRefused, match="one of LOW_EFFORT, TOO_QUICKLY") as without_ground:
        reject(submission(), LONG, market, None, now())
    with pytest.raises(ReasonRefused, match="at least 100 letters; these are 8") as short:
        reject(submission(), " Too bad. ", market, None, now(), "LOW_EFFORT")
    reject(submission(), LONG, market, None, now(), "LOW_EFFORT")

    assert (without_ground.value.part, short.value.part) == ("category", "reason")
    assert (rater.there.status, rater.there.rejection_category) == (Status.REJECTED, "LOW_EFFORT")
    assert Payment.objects.owed().count() == 0


def test_hidden_human_replies_are_no_ground() -> None:
    assert "FAILED_CHECK" not in RULES.categories
    assert "hidden human replies is no ground" in RULES.advice


def test_the_page_says_at_the_field_what_is_missing_and_keeps_what_was_typed(
    rater: Rater, researcher_client: Client
) -> None:
    page = researcher_client.get(address(rater, "")).content.decode()
    typed = {"is_meant": "yes", "category": "NO_DATA", "reason": "Nothing <came>."}
    short = researcher_client.post(address(rater, "reject/"), typed)
    no_ground = researcher_client.post(address(rater, "reject/"), {"is_meant": "yes", "reason": LONG})

    assert RULES.advice in page
    assert "FAILED_CHECK" not in page
    assert (short.status_code, no_ground.status_code) == (422, 422)
    text = short.content.decode()
    assert 'id="reject-reason-problem">Explain in at least 100 letters; these are 15.' in text
    assert 'aria-describedby="reject-reason-problem"' in text
    assert "Nothing &lt;came&gt;.</textarea>" in text
    assert text.split('value="NO_DATA"')[1].split(">")[0].strip() == "selected"
    assert 'id="reject-category-problem">Choose the ground' in no_ground.content.decode()
    assert rater.there.status == Status.AWAITING_REVIEW


def test_the_page_and_the_command_reject(offering: Offering, rater: Rater, researcher_client: Client) -> None:
    other = Rater(offering, "Ben")
    other.finish()
    sync_now(offering)

    done = {"is_meant": "yes", "category": "LOW_EFFORT", "reason": LONG}
    assert researcher_client.post(address(rater, "reject/"), done).status_code == 302
    told = run("reject_assignment", other.assignment_id, "--category", "OTHER", "--reason", LONG)

    assert "is rejected" in told
    assert (rater.there.rejection_category, other.there.rejection_category) == ("LOW_EFFORT", "OTHER")
    with pytest.raises(CommandError, match=r"no assignment 99999 on prolific\.local"):
        run("reject_assignment", "99999", "--category", "OTHER", "--reason", LONG)
    with pytest.raises(CommandError, match="Choose the ground"):
        run("reject_assignment", str(rater.assignment.pk), "--reason", LONG)


def test_all_empty_ones_are_rejected_with_a_ground(offering: Offering, researcher_client: Client) -> None:
    rater = Rater(offering).reserve()
    participating.complete(rater.who, Offering.objects.get().crowd_notes["code finished"], Clock().now())
    sync_now(offering)
    form = {"market": "prolific.local", "is_meant": "yes", "shown": submission().pk, "reason": LONG}

    refused = researcher_client.post("/studies/demo/assignments/reject-empty/", form)
    done = researcher_client.post("/studies/demo/assignments/reject-empty/", {**form, "category": "NO_DATA"})

    assert 'id="reject-empty-category-problem"' in refused.content.decode()
    assert (done.status_code, rater.there.rejection_category) == (302, "NO_DATA")


def test_a_crowd_without_grounds_takes_none(demo_study: object) -> None:
    from hits.models import Study
    from hits.paying.reasons import check_rejection

    offering = offering_for(Study.objects.get(), "local")

    check_rejection(offering, "Nothing was done.", "")
    with pytest.raises(ReasonRefused, match="no grounds to choose from on local"):
        check_rejection(offering, "Nothing was done.", "OTHER")


# --- Asking for work to be given back --------------------------------------------------------------------------------


def test_work_that_is_given_back_is_not_paid_and_its_place_is_free(offering: Offering, rater: Rater) -> None:
    market = open_crowd(offering)

    asked = [request_return(submission(), BACK, market, None, now()) for _ in range(2)]
    waits = waiting_for_decision(offering)[submission().pk]
    sync(offering, market, lambda: now() + timedelta(days=2))
    participating.return_submission(rater.there, Clock().now())
    sync_now(offering)

    assert asked == [True, False]
    assert rater.there.request_reasons == [BACK]
    assert waits.startswith("You asked its worker on ")
    assert (submission().status, count_progress(offering).returned) == ("Returned", 1)
    assert assignment_rows(offering.study, [rater.assignment])[0].state == "returned"
    assert (ledger(offering), rater.paid_cents) == ([], [])
    assert replace_lost_assignments(offering, open_crowd(offering), now).added == 1
    assert replace_lost_assignments(offering, open_crowd(offering), now).added == 0
    assert study_there(offering).total_available_places == 8  # Prolific has freed the place itself


@pytest.mark.parametrize("fault", ["drop-after", "fail-after", "fail-before"])
def test_a_request_whose_answer_was_lost_is_made_again(offering: Offering, rater: Rater, fault: str) -> None:
    misbehaving.add_process_fault(fault, operation="request_return")
    with pytest.raises(MarketUnavailable):
        request_return(submission(), BACK, open_crowd(offering, 2), None, now())
    lost = submission()
    misbehaving.clear_process_faults()

    assert request_return(submission(), BACK, open_crowd(offering), None, now())

    assert (lost.return_wanted_at is None, lost.return_asked_at) == (False, None)
    assert waiting_for_decision(offering).keys() == {lost.pk}
    assert rater.there.return_requested_at is not None
    assert Event.objects.filter(text__startswith="asked for the assignment of").count() == 1


def test_a_request_that_is_refused_leaves_nothing_behind(offering: Offering, rater: Rater) -> None:
    type(rater.there).objects.update(status=Status.APPROVED)

    with pytest.raises(EvalPlatformError, match="A return can't be requested"):
        request_return(submission(), BACK, open_crowd(offering), None, now())

    assert (submission().return_wanted_at, submission().return_reason) == (None, "")


def test_who_was_asked_back_can_still_be_approved_and_is_then_paid(offering: Offering, rater: Rater) -> None:
    request_return(submission(), BACK, open_crowd(offering), None, now())

    approve_by_hand([submission()], now())
    for _ in range(2):
        sync_now(offering)

    assert rater.paid_cents == [150, 10]
    with pytest.raises(EvalPlatformError, match="is approved already"):
        request_return(submission(), BACK, open_crowd(offering), None, now())


def test_what_is_in_the_ledger_is_not_asked_back(offering: Offering, rater: Rater) -> None:
    approve_by_hand([submission()], now())

    with pytest.raises(EvalPlatformError, match="pay is in the ledger already"):
        request_return(submission(), BACK, open_crowd(offering), None, now())


def test_what_was_given_back_there_after_it_was_approved_here_is_owed_no_more(offering: Offering, rater: Rater) -> None:
    """Somebody has asked for it on Prolific's own pages."""
    approve_by_hand([submission()], now())
    type(rater.there).objects.update(return_requested_at=Clock().now())
    participating.return_submission(rater.there, Clock().now())

    sync_now(offering)

    assert Payment.objects.owed().count() == 0
    assert set(Payment.objects.values_list("refusal", flat=True)) == {"returned on the marketplace"}
    assert rater.paid_cents == []


def test_the_page_and_the_command_ask_for_it_back(offering: Offering, rater: Rater, researcher_client: Client) -> None:
    offered = researcher_client.get(address(rater, "")).content.decode()
    mute = researcher_client.post(address(rater, "return/"), {"reason": " "})
    asked = researcher_client.post(address(rater, "return/"), {"reason": BACK}, follow=True).content.decode()
    rows = researcher_client.get("/studies/demo/assignments/?market=prolific.local").content.decode()
    again = run("request_return", str(rater.assignment.pk), "--reason", "Please.")

    assert "Ask for it back instead" in offered
    assert 'id="return-reason-problem">Write a reason' in mute.content.decode()
    assert "The worker is asked to give it back" in asked
    assert BACK in asked
    assert "Ask for it back instead" not in asked
    assert "return asked on " in rows
    assert again == "The worker was asked before.\n"
    assert rater.there.request_reasons == [BACK]


def test_where_nobody_can_be_asked_a_sentence_says_so(demo_study: object, researcher_client: Client) -> None:
    with pytest.raises(CommandError, match="Nobody can be asked to give work back on local"):
        call_command("request_return", "demo", "1", "--reason", BACK)
