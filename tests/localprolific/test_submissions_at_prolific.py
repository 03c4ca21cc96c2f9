"""Submissions: states, reviews, lists, arrivals. Letters say how sure the facts are: A to D."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

from localprolific import misbehaving, participating
from localprolific.behaviour import set_behaviour
from localprolific.errors import AnswerLost, Refused
from localprolific.in_process import issue_token
from localprolific.models import Participant, ProlificStudy, WalletEntry
from localprolific.panel_clock import Clock
from localprolific.seeding import new_participant
from localprolific.signed_links import rotate_key
from tests.localprolific.conftest import CODES, STUDY, ProlificApi, this_machine
from tests.localprolific.taking_part import begin, do, give_back, reserve
from tests.localprolific.test_money_at_prolific import REJECTION

People = dict[str, Participant]


def review(api: ProlificApi, submission_id: str, **body: Any) -> int:
    return api.call("POST", f"submissions/{submission_id}/transition/", body)[0]


def test_one_submission_names_its_participant_and_the_list_names_it_otherwise(
    prolific: ProlificApi, people: People
) -> None:  # A
    study_id = prolific.publish()
    submission_id = do(study_id, people["Asha"])

    one = prolific.get(f"submissions/{submission_id}/")
    row = prolific.get(f"submissions/?study={study_id}")["results"][0]

    asha = people["Asha"].participant_id
    assert (one["participant"], one["study_id"], one["entered_code"]) == (asha, study_id, "DONE1")
    assert (row["participant_id"], row["study_code"], row["status"]) == (asha, "DONE1", "AWAITING REVIEW")
    assert "participant" not in row
    assert datetime.fromisoformat(one["started_at"]) <= datetime.fromisoformat(one["completed_at"])


def test_every_status_is_spelled_as_prolific_does(api: ProlificApi, clock: Clock, people: People) -> None:  # A
    study_id = api.publish(total_available_places=8)
    late = begin(study_id, people["Finn"])
    clock.advance(timedelta(minutes=41))
    review(api, do(study_id, people["Asha"]), action="APPROVE")
    api.post(f"submissions/{do(study_id, people['Ben'])}/transition/", REJECTION)
    do(study_id, people["Cora"])
    begin(study_id, people["Dewi"])
    reserve(study_id, people["Eli"])
    give_back(begin(study_id, people["Gita"]).submission_id)

    counts = api.get(f"studies/{study_id}/submissions/counts/")

    assert api.status_of(late.submission_id) == "TIMED-OUT"
    assert counts == {
        "RESERVED": 1,
        "ACTIVE": 1,
        "AWAITING REVIEW": 1,
        "APPROVED": 1,
        "REJECTED": 1,
        "RETURNED": 1,
        "TIMED-OUT": 1,
        "SCREENED OUT": 0,
        "PARTIALLY APPROVED": 0,
        "TOTAL": 7,
    }


def test_a_reservation_lasts_ten_minutes(api: ProlificApi, clock: Clock, people: People) -> None:  # A, then D
    study_id = api.publish(total_available_places=1)
    held = reserve(study_id, people["Asha"])
    clock.advance(timedelta(minutes=9))
    with pytest.raises(Refused, match="All places"):
        reserve(study_id, people["Ben"])

    clock.advance(timedelta(minutes=2))

    assert api.status_of(held.submission_id) == "RETURNED"
    reserve(study_id, people["Ben"])


def test_returned_and_rejected_work_frees_its_place(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish(total_available_places=2)
    give_back(begin(study_id, people["Asha"]).submission_id)
    api.post(f"submissions/{do(study_id, people['Ben'])}/transition/", REJECTION)

    taken = [begin(study_id, people[name]) for name in ("Cora", "Dewi")]

    assert [one.status for one in taken] == ["RESERVED", "RESERVED"]  # as they were when they were reserved
    assert api.get(f"studies/{study_id}/")["places_taken"] == 2


@pytest.mark.parametrize(("most", "second"), [(1, False), (2, True), (-1, True)])
def test_how_often_somebody_may_take_part(api: ProlificApi, people: People, most: int, second: bool) -> None:  # A
    study_id = api.publish(submissions_config={"max_submissions_per_participant": most})
    do(study_id, people["Asha"])

    if second:
        assert begin(study_id, people["Asha"])
    else:
        with pytest.raises(Refused, match="already"):
            reserve(study_id, people["Asha"])


def test_unreviewed_work_is_approved_after_21_days(api: ProlificApi, clock: Clock, people: People) -> None:  # A
    submission_id = do(api.publish(), people["Asha"])

    clock.advance(timedelta(days=20, hours=23))
    before = api.status_of(submission_id)
    clock.advance(timedelta(hours=2))

    assert (before, api.status_of(submission_id)) == ("AWAITING REVIEW", "APPROVED")
    assert WalletEntry.objects.count() == 1


def test_reviews_are_idempotent_and_exclude_each_other(prolific: ProlificApi, people: People) -> None:  # A
    study_id = prolific.publish()
    good, bad = do(study_id, people["Asha"]), do(study_id, people["Ben"])

    statuses = [review(prolific, good, action="APPROVE") for _ in range(2)]
    statuses += [review(prolific, bad, **REJECTION) for _ in range(2)]

    assert statuses == [200] * 4
    assert review(prolific, good, **REJECTION) == 400
    assert review(prolific, bad, action="APPROVE") == 400  # D


@pytest.mark.parametrize(
    "changes", [{"message": "Too short."}, {"rejection_category": "LAZY"}, {"message": None}, {"action": "BLAME"}]
)
def test_a_rejection_needs_a_long_message_and_a_category(
    api: ProlificApi, people: People, changes: dict[str, Any]
) -> None:  # A
    submission_id = do(api.publish(), people["Asha"])

    assert review(api, submission_id, **{**REJECTION, **changes}) == 400
    assert api.status_of(submission_id) == "AWAITING REVIEW"


def test_an_approval_may_come_too_early(api: ProlificApi, clock: Clock, people: People) -> None:  # C
    set_behaviour(arrival_seconds=5)
    submission_id = do(api.publish(), people["Asha"])

    early = review(api, submission_id, action="APPROVE")
    clock.advance(timedelta(seconds=6))

    assert (early, api.status_of(submission_id)) == (400, "AWAITING REVIEW")
    assert review(api, submission_id, action="APPROVE") == 200


def test_a_bulk_approval_happens_later(prolific: ProlificApi, clock: Clock, people: People) -> None:  # A
    study_id = prolific.publish()
    ids = [do(study_id, people[name]) for name in ("Asha", "Ben")]

    status, _ = prolific.call("POST", "submissions/bulk-approve/", {"submission_ids": ids})
    at_once = [prolific.status_of(one) for one in ids]
    clock.advance(timedelta(seconds=3))

    assert status == 200
    assert at_once == ["AWAITING REVIEW"] * 2
    assert [prolific.status_of(one) for one in ids] == ["APPROVED"] * 2
    assert WalletEntry.objects.count() == 2


def test_a_bulk_approval_takes_so_many(api: ProlificApi, people: People) -> None:  # A, roughly
    set_behaviour(most_bulk_approvals=1)
    study_id = api.publish()
    ids = [do(study_id, people[name]) for name in ("Asha", "Ben")]

    assert api.call("POST", "submissions/bulk-approve/", {"submission_ids": ids})[0] == 400


def test_an_approval_can_act_and_answer_500(api: ProlificApi, people: People) -> None:
    submission_id = do(api.publish(), people["Asha"])
    misbehaving.add_fault("fail-after", operation="transition_submission", times_left=1)

    status = review(api, submission_id, action="APPROVE")

    assert (status, api.status_of(submission_id)) == (500, "APPROVED")
    assert review(api, submission_id, action="APPROVE") == 200
    assert WalletEntry.objects.count() == 1


@pytest.mark.parametrize(("kind", "status"), [("throttle", 429), ("fail-before", 500)])
def test_a_fault_before_acting_changes_nothing(api: ProlificApi, people: People, kind: str, status: int) -> None:
    submission_id = do(api.publish(), people["Asha"])
    misbehaving.add_fault(kind, operation="transition_submission", times_left=1)

    assert review(api, submission_id, action="APPROVE") == status
    assert api.status_of(submission_id) == "AWAITING REVIEW"


def test_a_study_can_be_made_without_an_answer(api: ProlificApi) -> None:
    misbehaving.add_fault("drop-after", operation="create_study", times_left=1)

    with pytest.raises(AnswerLost):
        api.draft()

    assert len(api.get("studies/")["results"]) == 1


def test_researchers_complete_with_codes_of_their_own(api: ProlificApi, people: People) -> None:  # A
    submission = begin(api.publish(), people["Asha"])

    theirs = review(api, submission.submission_id, action="COMPLETE", completion_code="DONE1")
    ours = [review(api, submission.submission_id, action="COMPLETE", completion_code="OURS1") for _ in range(2)]

    assert (theirs, ours) == (400, [200, 200])
    assert api.status_of(submission.submission_id) == "AWAITING REVIEW"


def test_a_code_can_approve_at_once(api: ProlificApi, people: People) -> None:  # A
    assert api.status_of(do(api.publish(), people["Asha"], "GOOD1")) == "APPROVED"


def test_an_unknown_code_is_left_to_the_researcher(api: ProlificApi, people: People) -> None:  # C
    submission_id = do(api.publish(), people["Asha"], "TYPO")

    one = api.get(f"submissions/{submission_id}/")

    assert (one["status"], one["entered_code"]) == ("AWAITING REVIEW", "TYPO")


def test_a_screen_out_pays_its_own_reward_and_frees_the_place(db: None, people: People) -> None:  # A
    api = ProlificApi(issue_token("GBP", has_screen_outs=True))
    pay = {"action": "FIXED_SCREEN_OUT_PAYMENT", "reward": 20, "slots": 1}
    out = {"code": "OUT", "code_type": "FIXED_SCREENOUT", "actor": "participant", "actions": [pay]}
    study_id = api.publish(completion_codes=[*CODES, out], total_available_places=1)

    assert api.status_of(do(study_id, people["Asha"], "OUT")) == "SCREENED OUT"
    assert WalletEntry.objects.get().amount_cents == 20
    begin(study_id, people["Ben"])


def test_a_return_is_asked_for_and_given_by_the_participant(prolific: ProlificApi, people: People) -> None:  # A
    submission_id = do(prolific.publish(), people["Asha"])
    with pytest.raises(Refused):
        give_back(submission_id)

    body = {"request_return_reasons": ["Withdrew consent."]}
    asked = prolific.post(f"submissions/{submission_id}/request-return/", body)
    give_back(submission_id)

    assert (asked["status"], bool(asked["return_requested"])) == ("AWAITING REVIEW", True)
    assert prolific.status_of(submission_id) == "RETURNED"


@pytest.mark.parametrize(("can", "becomes"), [(True, "AWAITING REVIEW"), (False, "TIMED-OUT")])
def test_late_work_is_taken_or_not(
    api: ProlificApi, clock: Clock, people: People, can: bool, becomes: str
) -> None:  # D
    set_behaviour(can_finish_after_time_out=can)
    study_id = api.publish(total_available_places=1)
    late = begin(study_id, people["Asha"])
    clock.advance(timedelta(minutes=41))
    do(study_id, people["Ben"], "GOOD1")

    if can:
        participating.complete(people["Asha"], "DONE1", clock.now())
    else:
        with pytest.raises(Refused):
            participating.complete(people["Asha"], "DONE1", clock.now())

    assert api.status_of(late.submission_id) == becomes


def test_an_empty_wallet_never_stands_in_a_participants_way(db: None, clock: Clock, people: People) -> None:
    """Their work then waits for its review, late finishers' as well."""
    api = ProlificApi(issue_token("GBP", balance_cents=210, has_screen_outs=True))
    pay = {"action": "FIXED_SCREEN_OUT_PAYMENT", "reward": 900, "slots": 1}
    out = {"code": "OUT", "code_type": "FIXED_SCREENOUT", "actor": "participant", "actions": [pay]}
    study_id = api.publish(completion_codes=[*CODES, out], total_available_places=1)
    late, early = begin(study_id, people["Asha"]), people["Ben"]
    clock.advance(timedelta(minutes=41))

    done = do(study_id, early, "OUT")
    participating.complete(people["Asha"], "GOOD1", clock.now())
    clock.advance(timedelta(days=22))

    assert sorted([api.status_of(done), api.status_of(late.submission_id)]) == ["APPROVED", "AWAITING REVIEW"]
    assert api.balance() == (0, 0)


# --- Lists -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def crowded(api: ProlificApi) -> str:
    """A study with seven submissions."""
    study_id = api.publish(total_available_places=30)
    for number in range(7):
        begin(study_id, new_participant(f"Simulated {number}"))
    return study_id


def test_pages_by_number_end_where_next_is_null(api: ProlificApi, crowded: str) -> None:  # A
    first = api.get(f"submissions/?study={crowded}&page=1&page_size=3")
    last = api.get(f"submissions/?study={crowded}&page=3&page_size=3")

    assert (len(first["results"]), len(last["results"]), first["meta"]["count"]) == (3, 1, 7)
    assert "page=2" in first["_links"]["next"]["href"]
    assert last["_links"]["next"]["href"] is None
    status, answer = api.call("GET", f"submissions/?study={crowded}&page=4&page_size=3")
    assert (status, answer["error"]["status"]) == (404, 404)


def test_links_lead_through_the_whole_list(api: ProlificApi, crowded: str) -> None:  # A
    for path in (f"submissions/?study={crowded}&page_size=2", f"studies/{crowded}/submissions/?limit=2"):
        assert len(all_ids(api, path)) == len(set(all_ids(api, path))) == 7


def test_pages_by_offset_end_without_a_404(api: ProlificApi, crowded: str) -> None:  # A
    past = api.get(f"studies/{crowded}/submissions/?limit=5&offset=10")

    assert (past["results"], past["_links"]["next"]["href"]) == ([], None)


def test_a_short_page_need_not_be_the_last(api: ProlificApi, crowded: str) -> None:  # C
    set_behaviour(are_pages_short=True)

    page = api.get(f"submissions/?study={crowded}&page_size=4")

    assert len(page["results"]) == 3
    assert page["_links"]["next"]["href"] is not None


def test_rows_that_come_between_pages_shift_them(api: ProlificApi, crowded: str) -> None:  # D that new ones stand first
    misbehaving.add_fault("rows-between-pages", operation="list_submissions")

    shifted = all_ids(api, f"submissions/?study={crowded}&page_size=3")
    set_behaviour(are_newest_first=False)
    steady = all_ids(api, f"submissions/?study={crowded}&page_size=3")

    assert len(set(shifted)) < len(shifted)
    assert len(set(steady)) == len(steady)


def test_lists_can_lag(api: ProlificApi, clock: Clock, crowded: str) -> None:
    misbehaving.add_fault("list-lag", amount=60, operation="list_submissions")

    assert api.get(f"submissions/?study={crowded}")["results"] == []
    clock.advance(timedelta(seconds=61))
    assert len(api.get(f"submissions/?study={crowded}")["results"]) == 7


def all_ids(api: ProlificApi, path: str) -> list[str]:
    found: list[str] = []
    following: str | None = path
    while following:
        page = api.get(following.partition("/api/v1/")[2] or following)
        found += [one["id"] for one in page["results"]]
        following = page["_links"]["next"]["href"]
    return found


# --- Errors ----------------------------------------------------------------------------------------------------------


def test_errors_come_in_two_forms(prolific: ProlificApi) -> None:  # A
    nested = prolific.call("GET", "studies/ffffffffffffffffffffffff/")
    flat = prolific.call("GET", "hooks/subscriptions/ffffffffffffffffffffffff/")

    assert nested[0] == flat[0] == 404
    assert nested[1]["error"].keys() == {"status", "title", "error_code", "detail", "additional_information"}
    assert flat[1].keys() == {"message", "detail"}


@pytest.mark.parametrize("header", ["", "Token wrong", "Bearer x", "Token "])
def test_only_tokens_that_were_issued_are_taken(db: None, header: str) -> None:  # A
    answer = this_machine().get("/localprolific/api/v1/users/me/", headers={"Authorization": header})

    assert answer.status_code == 401
    assert json.loads(answer.content)["error"]["title"] == "Authentication failed"


def test_the_wrong_method_and_broken_json_are_told(prolific: ProlificApi) -> None:  # A
    headers = {"Authorization": f"Token {prolific.token}"}

    assert prolific.call("DELETE", "users/me/")[0] == 405
    assert prolific.send("POST", "/api/v1/studies/", b"{", headers).status == 400
    assert prolific.call("POST", "studies/", {**STUDY, "name": "a\0b"})[0] == 400


# --- The signed link -------------------------------------------------------------------------------------------------


def test_placeholders_are_filled_in_and_the_session_is_the_submission(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish()
    submission = reserve(study_id, people["Asha"])

    url = participating.start(submission, Clock().now())

    assert parse_qs(urlsplit(url).query) == {
        "PROLIFIC_PID": [people["Asha"].participant_id],
        "STUDY_ID": [study_id],
        "SESSION_ID": [submission.submission_id],
    }


@pytest.mark.parametrize("audience", ["origin", "domain", "url"])
def test_the_link_carries_a_token_that_the_key_set_proves(
    api: ProlificApi, people: People, audience: str
) -> None:  # A, aud D
    set_behaviour(link_audience=audience)
    study_id = api.publish(is_external_study_url_secure=True)
    submission = reserve(study_id, people["Asha"])

    url = participating.start(submission, Clock().now())
    token = parse_qs(urlsplit(url).query)["prolific_token"][0]
    rotate_key()  # an earlier key stays in the set
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_json(key_set_over_http()).keys}
    kid = jwt.get_unverified_header(token)["kid"]
    expected = {
        "origin": "https://eval.example.org",
        "domain": "eval.example.org",
        "url": url.partition("&prolific_token")[0],
    }
    claims = jwt.decode(
        token, keys[kid].key, algorithms=["RS256"], issuer="https://www.prolific.com", audience=expected[audience]
    )

    assert claims["sub"] == submission.submission_id
    assert claims["prolific"] == {
        "participant_id": people["Asha"].participant_id,
        "study_id": study_id,
        "submission_id": submission.submission_id,
        "workspace_id": api.workspace_id(),
    }


def test_a_workspace_may_have_no_signed_links(api: ProlificApi, people: People) -> None:  # C
    set_behaviour(are_links_signed=False)
    submission = reserve(api.publish(is_external_study_url_secure=True), people["Asha"])

    assert "prolific_token" not in participating.start(submission, Clock().now())


def key_set_over_http() -> str:
    answer = this_machine().get("/localprolific/.well-known/study/jwks.json")
    assert "max-age=86400" in answer.headers["Cache-Control"]
    return answer.content.decode()


def test_time_is_an_argument(api: ProlificApi, people: People) -> None:
    """Whoever calls may say when that is, as long as time does not run backwards."""
    study = ProlificStudy.objects.get(study_id=api.publish())
    later = datetime.now(UTC) + timedelta(days=400)

    submission = participating.reserve(people["Asha"], study, later)

    assert submission.reserved_at == later
