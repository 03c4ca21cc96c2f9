"""A study on Prolific, from its draft to paid work, against the Prolific that runs here."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.batching import build_hits
from hits.crowds import open_crowd
from hits.designing import create_study
from hits.errors import MarketRefused
from hits.models import Assignment, Offering, Payment, Publication, Submission, offering_for
from hits.paying import reject
from hits.publishing import block, resume_study, stop_study
from hits.replacing import replace_lost_assignments
from localprolific import by_hand, misbehaving, participating
from localprolific.behaviour import set_behaviour
from localprolific.in_process import issue_token
from localprolific.models import BonusOrder, ProlificStudy, Workspace
from localprolific.panel_clock import Clock
from localprolific.signed_links import rotate_key
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater, study_there
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, drafted, ledger, no_faults, offering, run, sync_now

__all__ = ["drafted", "no_faults", "offering"]

# Each setting of which the facts are not sure, the other way round.
OTHERWISE: dict[str, Any] = {
    "link_audience": "url",
    "are_links_signed": False,
    "are_ids_hex": False,
    "publishing_seconds": 0.2,
    "second_publish": "ignored",
    "are_more_places_reopening": False,
    "is_processing_shown": True,
    "blocklist_filter": "participants_in_group_blocklist",
    "lapsed_reservation": "TIMED-OUT",
    "arrival_seconds": 1,
    "can_finish_after_time_out": False,
    "can_approve_rejected": True,
    "bulk_approval_seconds": 60,
    "most_rows_per_page": 2,
    "are_newest_first": False,
    "are_pages_short": True,
    "bonus_payment_seconds": 60,
    "most_bonus_rows": 1,
    "are_bonus_duplicates_taken": False,
    "need_bonuses_approval": True,
    "are_bonus_fees_fractions": False,
    "flat_error_paths": [],
    "hook_timestamp": "iso",
    "is_hook_proof_answered": False,
    "are_unconfirmed_hooks_silent": False,
}
LONG = "Every one of the ten dialogs has the same answer, and each was given within a second, so they were not read."


def state(offering: Offering) -> tuple[str, int]:
    there = study_there(offering)
    return there.status, there.total_available_places


# --- The whole way ---------------------------------------------------------------------------------------------------


def test_a_study_is_published_worked_on_and_paid(offering: Offering) -> None:
    there = study_there(offering)
    rater = Rater(offering)
    rater.finish()

    first = sync_now(offering)
    sync_now(offering)

    assert (there.status, there.total_available_places, there.reward_cents) == ("ACTIVE", 8, 150)
    assert (first.collected.new, first.paid.rewards, first.paid.ordered) == (1, 1, 1)
    assert ledger(offering) == [("bonus", 10, "our call"), ("reward", 150, "our call")]
    assert rater.paid_cents == [150, 10]


def test_a_prolific_that_is_otherwise_in_all_that_is_not_sure_gets_its_work_done_and_paid_once(
    drafted: Offering,
) -> None:
    set_behaviour(**OTHERWISE)
    run("publish_hits", "--hits", "1")
    run("publish_hits", "--hits", "2")
    raters = [Rater(drafted, f"Rater {number}") for number in range(5)]
    for one in raters:
        one.finish()
        Clock().advance(timedelta(seconds=1))

    for _ in range(5):
        sync_now(drafted)
        Clock().advance(timedelta(minutes=2))

    assert [one.paid_cents for one in raters] == [[150, 10]] * 5
    assert ProlificStudy.objects.undeleted().count() == 1
    assert not Payment.objects.owed().exists()
    assert BonusOrder.objects.count() == 5  # lists of one row, since longer ones are refused here


def test_publishing_stopping_and_resuming_set_absolute_states(offering: Offering) -> None:
    published = state(offering)
    run("publish_hits")
    grown = state(offering)
    stop_study(offering, open_crowd(offering), now)
    stopped = state(offering)
    resume_study(offering, open_crowd(offering), now)

    every_place = sum(offering.study.hits.values_list("assignments", flat=True))
    assert (published, grown, stopped) == (("ACTIVE", 8), ("ACTIVE", every_place), ("PAUSED", every_place))
    assert state(offering) == ("ACTIVE", every_place)
    assert ProlificStudy.objects.count() == 1


def test_participants_may_take_several_hits_if_the_design_allows(offering: Offering) -> None:
    first = Rater(offering)
    second = Rater(offering, who=first.who)

    hits = {first.finish(), second.finish()}
    for _ in range(2):
        sync_now(offering)

    assert len(hits) == 2
    assert (first.paid_cents, second.paid_cents) == ([150, 10], [150, 10])


@pytest.mark.parametrize("reopening", [True, False], ids=["opens by itself", "pauses"])
def test_more_places_reopen_a_full_study(offering: Offering, reopening: bool) -> None:
    set_behaviour(
        publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0, are_more_places_reopening=reopening
    )
    for number in range(8):
        Rater(offering, f"Rater {number}").finish()
    full = state(offering)[0]
    sync_now(offering)

    run("publish_hits", "--hits", "1")

    assert full == "AWAITING REVIEW"
    assert state(offering) == ("ACTIVE", 12)


def test_a_simulated_crowd_works_on_the_local_prolific(offering: Offering) -> None:
    out = io.StringIO()

    call_command("simulate_crowd", "demo", "--crowd", "prolific", "--workers", "20", stdout=out)
    for _ in range(2):
        sync_now(offering)

    assert "8 assignments submitted" in out.getvalue()
    assert Submission.objects.filter(origin="simulation", problem="").count() == 8
    assert Payment.objects.filter(kind="reward").paid().count() == 8
    assert Payment.objects.owed().count() == 0


# --- Created and published once --------------------------------------------------------------------------------------

LOST = ["drop-after", "fail-after"]


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("operation", ["create_study", "transition_study"])
def test_a_lost_answer_makes_no_second_study(drafted: Offering, fault: str, operation: str) -> None:
    misbehaving.add_process_fault(fault, operation=operation, times_left=1)

    with pytest.raises(CommandError, match="whether it acted is not known"):
        run("publish_hits", "--hits", "2")
    sync_now(drafted)

    assert ProlificStudy.objects.count() == 1
    assert state(drafted) == ("ACTIVE", 8)


def test_a_restored_database_finds_its_study_again(offering: Offering) -> None:
    codes = dict(Offering.objects.get(pk=offering.pk).crowd_notes)
    Offering.objects.update(crowd_notes={})

    sync_now(offering)

    assert ProlificStudy.objects.count() == 1
    assert Offering.objects.get(pk=offering.pk).crowd_notes == codes


@pytest.mark.parametrize("second", ["refused", "ignored"])
def test_a_second_publish_is_settled_by_the_status(drafted: Offering, second: str) -> None:
    set_behaviour(publishing_seconds=3600, second_publish=second)
    misbehaving.add_process_fault("fail-after", operation="transition_study", times_left=1)
    with pytest.raises(CommandError):
        run("publish_hits", "--hits", "2")

    sync_now(drafted)

    assert study_there(drafted).status == "PUBLISHING"
    assert Workspace.objects.get().held_cents == study_there(drafted).held_cents > 0


def test_a_study_that_claims_to_be_ours_without_our_signature_stops_us(drafted: Offering, settings: Settings) -> None:
    run("publish_hits", "--hits", "2")
    Offering.objects.update(crowd_notes={})
    before, settings.SECRET_KEY = settings.SECRET_KEY, "another secret, of at least fifty letters, as it should be"

    with pytest.raises(MarketRefused, match="names this study without our signature"):
        sync_now(drafted)

    assert ProlificStudy.objects.count() == 1
    settings.SECRET_KEY_FALLBACKS = [before]
    sync_now(drafted)
    assert ProlificStudy.objects.count() == 1


def test_a_study_deleted_there_by_hand_is_noted_and_creates_no_other(offering: Offering) -> None:
    by_hand.delete_study(study_there(offering), Clock().now())

    synced = sync_now(offering)
    sync_now(offering)

    assert synced.collected.gone == 2
    assert Publication.objects.filter(gone_at=None).count() == 0
    assert ProlificStudy.objects.undeleted().count() == 0


def test_a_study_stopped_there_for_good_is_said_to_be_over_until_it_is_stopped_here(offering: Offering) -> None:
    by_hand.stop_study(study_there(offering), Clock().now())

    with pytest.raises(MarketRefused, match=r"has stopped the study .* for good, with 8 places free"):
        sync_now(offering)
    stopped = stop_study(offering, open_crowd(offering), now)
    resumed = resume_study(offering, open_crowd(offering), now)

    assert stopped.early_end == ""
    assert "nobody comes any more" in resumed.early_end
    stop_study(offering, open_crowd(offering), now)
    sync_now(offering)


# --- What is refused, with one line ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"filters": [{"filter_id": "shoe-size", "selected_values": ["9"]}]}, "Prolific has no filter shoe-size."),
        ({"filters": [{"filter_id": "sex", "selected_values": ["7"]}]}, "no choice 7; it has 0 \\(Male\\)"),
        ({"filters": [{"filter_id": "age", "selected_values": ["7"]}]}, "The filter age needs a selected_range."),
    ],
)
def test_filters_are_checked_against_prolifics_own_list(
    example_corpus: None, transactional_db: None, options: dict[str, Any], problem: str
) -> None:
    study = create_study({**DEMO, "crowd": {**PARTICIPANTS, "options": options}, "pay": POUNDS})
    build_hits(study)

    with pytest.raises(CommandError, match=problem):
        run("publish_hits", "--hits", "1")
    assert ProlificStudy.objects.count() == 0


@pytest.mark.parametrize(
    ("settings_of_study", "problem"),
    [
        ({"crowd": {**PARTICIPANTS, "options": {"filter": []}}}, "is no setting of prolific; known are filters"),
        ({"crowd": {**PARTICIPANTS, "options": {"filters": [{}]}}}, "has an entry without a filter_id"),
        ({"crowd": {**PARTICIPANTS, "options": {"devices": ["watch"]}}}, "must be a list of desktop, tablet, mobile"),
        ({"pay": {**POUNDS, "currency": "EUR"}}, "set pay.currency to GBP or USD"),
        ({"pay": {**POUNDS, "reward": "0.99"}}, "at least £6.00 an hour: for 10 minutes, set pay.reward to £1.00"),
    ],
)
def test_a_draft_hears_at_once_what_prolific_will_not_take(
    example_corpus: None, settings_of_study: dict[str, Any], problem: str
) -> None:
    with pytest.raises(EvalPlatformError, match=problem):
        create_study({**DEMO, "crowd": PARTICIPANTS, "pay": POUNDS, **settings_of_study})


def test_fees_that_are_set_too_low_stop_publishing(drafted: Offering, settings: Settings) -> None:
    settings.PROLIFIC_FEE_PERCENT = 10

    with pytest.raises(CommandError, match=r"calculator says £16\.80 for 8 places.*PROLIFIC_FEE_PERCENT"):
        run("publish_hits", "--hits", "2")

    assert study_there(drafted).status == "UNPUBLISHED"


def test_the_real_prolific_needs_a_setting_and_a_token(drafted: Offering, settings: Settings) -> None:
    with pytest.raises(CommandError, match="set PROLIFIC_ENVIRONMENT=production"):
        run("publish_hits", "--environment", "production", "--dry-run")

    settings.PROLIFIC_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://eval.example.org"
    with pytest.raises(CommandError, match="There is no token for Prolific"):
        run("publish_hits", "--environment", "production", "--dry-run")


# --- Who arrives -----------------------------------------------------------------------------------------------------


def test_an_arrival_counts_once_prolific_confirms_it(offering: Offering) -> None:
    rater = Rater(offering).open()

    assert rater.assignment.confirmed_at is not None


@pytest.mark.parametrize(
    "forged",
    [{"PROLIFIC_PID": "0" * 24}, {"SESSION_ID": "0" * 24}, {"SESSION_ID": "x' OR 1=1"}, {"prolific": "production"}],
    ids=["somebody else's", "no submission", "no id", "another environment"],
)
def test_forged_arrivals_are_refused(offering: Offering, forged: dict[str, str]) -> None:
    rater = Rater(offering).reserve()

    assert rater.visit(**forged).status_code == 403
    assert not Assignment.objects.exists()


def test_a_submission_of_another_study_there_is_refused(offering: Offering) -> None:
    rater = Rater(offering).reserve()
    Offering.objects.update(crowd_notes={**Offering.objects.get().crowd_notes, "study": "0" * 24})

    assert rater.visit().status_code == 403


def test_whoever_has_returned_their_place_is_refused(offering: Offering) -> None:
    rater = Rater(offering).open()
    participating.return_submission(rater.there, Clock().now())

    assert rater.visit().status_code == 403


def test_when_all_places_are_taken_people_go_back_with_the_code_that_frees_them(offering: Offering) -> None:
    ProlificStudy.objects.update(total_available_places=9)  # as if somebody had added one on Prolific's pages
    for number in range(8):
        Rater(offering, f"Rater {number}").open()

    late = Rater(offering, "late").reserve()
    refused = late.visit()
    code = Offering.objects.get().crowd_notes["code study full"]
    participating.complete(late.who, code, Clock().now())
    sync_now(offering)

    assert refused.status_code == 403
    assert f"/submissions/complete?cc={code}" in refused.content.decode()
    assert "return your submission" in refused.content.decode()
    assert late.there.return_requested_at is not None
    assert not Submission.objects.exists()


@pytest.fixture
def signed(example_corpus: None, transactional_db: None) -> Offering:
    set_behaviour(publishing_seconds=0)
    study = create_study({**DEMO, "crowd": {**PARTICIPANTS, "options": {"signed_links": True}}, "pay": POUNDS})
    build_hits(study)
    run("publish_hits", "--hits", "1")
    return offering_for(study, "prolific.local")


@pytest.mark.parametrize("audience", ["origin", "domain", "url"])
def test_signed_links_are_checked(signed: Offering, settings: Settings, audience: str) -> None:
    set_behaviour(publishing_seconds=0, link_audience=audience)
    rater = Rater(signed).reserve()
    other = Rater(signed, "Ben").reserve()
    foreign = {"prolific_token": other.parameters()["prolific_token"]}
    rotate_key()
    later = Rater(signed, "Cora").reserve()  # signed with a key that we have not read yet

    statuses = [rater.visit().status_code, rater.visit(**foreign).status_code, later.visit().status_code]

    assert statuses[:2] == [200, 403]
    assert rater.visit(prolific_token="e30.e30.e30").status_code == 403


def test_a_token_that_is_left_out_is_missed(signed: Offering) -> None:
    """By who changes the address, and where the workspace does not sign at all: then the study must not ask for it."""
    changed = Rater(signed).reserve()
    set_behaviour(publishing_seconds=0, are_links_signed=False)
    unsigned = Rater(signed, "Ben").reserve()

    refused = [changed.visit(prolific_token=""), unsigned.visit()]

    assert "prolific_token" not in unsigned.parameters()
    for page in refused:
        assert page.status_code == 403
        assert "Please open this page from Prolific" in page.content.decode()
    assert not Assignment.objects.exists()
    assert changed.visit().status_code == 200


def test_a_study_that_asks_for_no_token_leaves_it_to_the_api(offering: Offering) -> None:
    rater = Rater(offering).reserve()

    assert "prolific_token" not in rater.parameters()
    assert rater.visit().status_code == 200


def test_ids_of_another_form_are_confirmed_and_paid_all_the_same(drafted: Offering) -> None:
    at_once = {"publishing_seconds": 0, "bulk_approval_seconds": 0, "bonus_payment_seconds": 0}
    set_behaviour(are_ids_hex=False, **at_once)
    run("publish_hits", "--hits", "1")
    rater = Rater(drafted)
    rater.finish()

    for _ in range(2):
        sync_now(drafted)

    assert len(rater.assignment_id) == 22
    assert rater.paid_cents == [150, 10]


def test_a_balance_that_only_the_website_tells_stops_publishing(drafted: Offering) -> None:
    set_behaviour(is_balance_told=False)

    with pytest.raises(CommandError, match="does not tell the balance of this workspace"):
        run("publish_hits", "--hits", "1")
    assert ProlificStudy.objects.count() == 0


def test_a_link_for_another_server_is_refused(signed: Offering, settings: Settings) -> None:
    rater = Rater(signed).reserve()
    settings.PUBLIC_URL = "https://eval.example.org"

    assert rater.visit().status_code == 403


def test_a_signed_link_that_ran_out_is_left_to_the_api(signed: Offering) -> None:
    ahead = Clock().advance(timedelta(hours=-3))
    rater = Rater(signed).reserve()
    Clock().reset()

    assert ahead < now()
    assert rater.visit().status_code == 200


# --- Decisions -------------------------------------------------------------------------------------------------------


def test_the_place_of_rejected_work_is_asked_for_again_once(offering: Offering) -> None:
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=3600)
    Rater(offering).finish()
    sync_now(offering)
    market = open_crowd(offering)
    reject(Submission.objects.get(), LONG, market, None, now(), "LOW_EFFORT")

    added = [replace_lost_assignments(offering, market, now).added for _ in range(2)]

    assert added == [1, 0]
    assert state(offering) == ("ACTIVE", 8)  # Prolific itself has freed the place of the rejected work


def test_who_is_kept_out_sees_the_study_no_more(offering: Offering) -> None:
    rater = Rater(offering)
    block(offering, rater.worker_id, "soft block", "Enough.", None, now())

    sync_now(offering)

    offers = participating.studies_on_offer(rater.who, Clock().now())
    assert offers == []
    assert len(participating.studies_on_offer(Rater(offering, "Ben").who, Clock().now())) == 1


def test_work_without_our_page_waits_for_a_person(offering: Offering) -> None:
    rater = Rater(offering).reserve()
    participating.complete(rater.who, Offering.objects.get().crowd_notes["code finished"], Clock().now())

    synced = sync_now(offering)

    assert (synced.collected.without_answers, synced.waiting.count) == (1, 1)
    assert rater.paid_cents == []
    assert sync_now(offering).collected.new == 0


def test_another_workspaces_token_changes_nothing(offering: Offering) -> None:
    Workspace.objects.update(title="The other one")
    issue_token("GBP", "Local workspace")

    with pytest.raises(CommandError, match="from another workspace"):
        run("publish_hits", "--hits", "1")
    assert ProlificStudy.objects.count() == 1
