"""Studies: drafts, states, places. Letters say how sure the facts are: A to D, as in localprolific/behaviour.py."""

import re
from datetime import timedelta
from typing import Any

import pytest

from localprolific.behaviour import set_behaviour
from localprolific.by_hand import delete_study
from localprolific.errors import Refused
from localprolific.in_process import issue_token
from localprolific.models import Participant, ProlificStudy
from localprolific.panel_clock import Clock
from tests.localprolific.conftest import CODES, STUDY, ProlificApi
from tests.localprolific.taking_part import begin, do, give_back, reserve
from tests.localprolific.test_money_at_prolific import REJECTION

People = dict[str, Participant]


def transition(api: ProlificApi, study_id: str, action: str) -> int:
    return api.call("POST", f"studies/{study_id}/transition/", {"action": action})[0]


def test_a_new_study_is_a_draft_with_all_that_was_sent(prolific: ProlificApi) -> None:  # A
    sent = {**STUDY, "metadata": "ours", "study_labels": ["ai_evaluation"], "content_warnings": ["sensitive"]}

    status, made = prolific.call("POST", "studies/", sent)

    assert (status, made["status"]) == (201, "UNPUBLISHED")
    shown = prolific.get(f"studies/{made['id']}/")
    assert {name: shown[name] for name in sent} == sent
    assert len(made["id"]) == 24
    assert int(made["id"], 16)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"reward": 1.5}, "reward"),
        ({"reward": "150"}, "reward"),
        ({"name": None}, "name"),
        ({"total_available_places": 0}, "total_available_places"),
        ({"prolific_id_option": "guess"}, "prolific_id_option"),
        ({"device_compatibility": ["watch"]}, "device_compatibility"),
        ({"external_study_url": None}, "external_study_url"),
        ({"completion_codes": [{"code": "A", "code_type": "DONE", "actions": []}]}, "completion_codes"),
        ({"filters": [{"filter_id": "shoe-size", "selected_values": ["0"]}]}, "filters"),
    ],
)
def test_a_bad_field_is_named(api: ProlificApi, changes: dict[str, Any], named: str) -> None:  # A
    status, answer = api.call("POST", "studies/", {**STUDY, **changes})

    assert status == 400
    assert named in answer["error"]["detail"]


@pytest.mark.parametrize(
    "actions",
    [
        [{"action": "AUTOMATICALLY_APPROVE"}, {"action": "MANUALLY_REVIEW"}],
        [{"action": "REQUEST_RETURN"}],
        [{"action": "FIXED_SCREEN_OUT_PAYMENT", "reward": 10, "slots": 5}],  # in an enabled workspace only
    ],
)
def test_actions_that_do_not_go_together_are_refused(api: ProlificApi, actions: list[Any]) -> None:  # A
    code = {"code": "X1", "code_type": "OTHER", "actions": actions}

    assert api.call("POST", "studies/", {**STUDY, "completion_codes": [code]})[0] == 400


def test_addresses_are_given_in_one_of_two_ways(api: ProlificApi) -> None:  # A
    details = [
        {"external_url": "https://a.example.org/", "total_allocation": 2},
        {"external_url": "https://b.example.org/", "total_allocation": 1},
    ]
    without_url = {name: value for name, value in STUDY.items() if name != "external_study_url"}

    assert api.call("POST", "studies/", {**STUDY, "access_details": details})[0] == 400
    assert api.call("POST", "studies/", {**without_url, "access_details": details[:1]})[0] == 400
    made = api.post("studies/", {**without_url, "access_details": details})
    progress = api.get(f"studies/{made['id']}/access-details-progress/")
    assert [(one["total_allocation"], one["allocated"]) for one in progress] == [(2, 0), (1, 0)]


def test_publishing_passes_through_publishing(prolific: ProlificApi, clock: Clock) -> None:  # A
    study_id = prolific.draft()

    answer = prolific.post(f"studies/{study_id}/transition/", {"action": "PUBLISH"})
    seen = [answer["status"], prolific.study_status(study_id)]
    clock.advance(timedelta(seconds=3))

    assert [*seen, prolific.study_status(study_id)] == ["PUBLISHING", "PUBLISHING", "ACTIVE"]


def test_an_undocumented_processing_may_be_shown(api: ProlificApi) -> None:  # C
    set_behaviour(is_processing_shown=True)
    study_id = api.draft()

    transition(api, study_id, "PUBLISH")

    assert api.study_status(study_id) == "PROCESSING"


def test_a_second_publish_is_refused_or_ignored_and_costs_nothing(api: ProlificApi) -> None:  # D
    study_id = api.publish()
    before = api.balance()

    refused = transition(api, study_id, "PUBLISH")
    set_behaviour(second_publish="ignored")
    ignored = transition(api, study_id, "PUBLISH")

    assert (refused, ignored) == (400, 200)
    assert api.balance() == before


def test_pausing_leaves_those_inside_alone(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish()
    inside, reserved = begin(study_id, people["Asha"]), reserve(study_id, people["Ben"])

    transition(api, study_id, "PAUSE")

    with pytest.raises(Refused, match="not on offer"):
        reserve(study_id, people["Cora"])
    assert [api.status_of(one.submission_id) for one in (inside, reserved)] == ["ACTIVE", "RESERVED"]
    begin(study_id, people["Ben"])
    assert do(study_id, people["Asha"]) == inside.submission_id
    assert transition(api, study_id, "START") == 200
    reserve(study_id, people["Cora"])


def test_stop_is_final(api: ProlificApi) -> None:  # A
    study_id = api.publish()

    statuses = [transition(api, study_id, action) for action in ("STOP", "STOP", "START", "PUBLISH", "PAUSE")]

    assert statuses == [200, 200, 400, 400, 400]
    assert api.study_status(study_id) == "COMPLETED"
    assert api.call("PATCH", f"studies/{study_id}/", {"total_available_places": 9})[0] == 400


def test_places_are_an_absolute_number_that_only_grows(prolific: ProlificApi) -> None:  # A
    study_id = prolific.publish()

    for _ in range(2):  # a repeat is harmless
        assert prolific.patch(f"studies/{study_id}/", {"total_available_places": 5})["total_available_places"] == 5

    assert prolific.call("PATCH", f"studies/{study_id}/", {"total_available_places": 4})[0] == 400
    assert prolific.call("PATCH", f"studies/{study_id}/", {"reward": 149})[0] == 400
    assert prolific.call("PATCH", f"studies/{study_id}/", {"name": "Other"})[0] == 400
    assert prolific.balance()[1] == 1_000_000 - 5 * 210


def test_a_draft_can_change_in_everything(api: ProlificApi) -> None:  # A
    study_id = api.draft()

    shown = api.patch(f"studies/{study_id}/", {"name": "Other", "reward": 90, "total_available_places": 1})

    assert (shown["name"], shown["reward"], shown["total_available_places"]) == ("Other", 90, 1)


def test_a_study_ends_with_its_last_submission(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish(total_available_places=1)
    begin(study_id, people["Asha"])
    seen = [api.study_status(study_id)]

    submission_id = do(study_id, people["Asha"])
    seen.append(api.study_status(study_id))
    api.post(f"submissions/{submission_id}/transition/", {"action": "APPROVE"})
    seen.append(api.study_status(study_id))

    assert seen == ["ACTIVE", "AWAITING REVIEW", "COMPLETED"]


@pytest.mark.parametrize(("reopens", "becomes"), [(True, "ACTIVE"), (False, "PAUSED")])
def test_more_places_open_a_full_study_again(
    api: ProlificApi, people: People, reopens: bool, becomes: str
) -> None:  # C
    set_behaviour(are_more_places_reopening=reopens)
    study_id = api.publish(total_available_places=1)
    do(study_id, people["Asha"], "GOOD1")
    assert api.study_status(study_id) == "COMPLETED"

    api.patch(f"studies/{study_id}/", {"total_available_places": 2})

    assert api.study_status(study_id) == becomes


def test_a_full_study_pauses_when_work_under_review_is_rejected(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish(total_available_places=2)
    first = do(study_id, people["Asha"])
    begin(study_id, people["Ben"])

    api.post(f"submissions/{first}/transition/", REJECTION)

    assert api.study_status(study_id) == "PAUSED"
    transition(api, study_id, "START")
    reserve(study_id, people["Cora"])


def test_a_full_study_pauses_when_work_under_review_is_returned(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish(total_available_places=1)
    submission_id = do(study_id, people["Asha"])
    api.post(f"submissions/{submission_id}/request-return/", {"request_return_reasons": ["Nothing arrived."]})

    give_back(submission_id)

    assert api.study_status(study_id) == "PAUSED"


def test_a_study_with_free_places_goes_on_when_work_is_rejected(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish()

    api.post(f"submissions/{do(study_id, people['Asha'])}/transition/", REJECTION)

    assert api.study_status(study_id) == "ACTIVE"


def test_a_study_is_found_in_its_project_by_our_name(prolific: ProlificApi) -> None:  # A
    project = prolific.post(f"workspaces/{prolific.workspace_id()}/projects/", {"title": "Ours"})["id"]
    ours = prolific.draft(project=project, internal_name="meed2 1")
    prolific.draft()

    found = prolific.get(f"projects/{project}/studies/")["results"]

    assert [(one["id"], one["internal_name"]) for one in found] == [(ours, "meed2 1")]


def test_creating_twice_makes_two_studies(api: ProlificApi) -> None:  # A
    assert api.draft() != api.draft()


def test_only_a_draft_can_be_deleted_by_the_api(prolific: ProlificApi) -> None:  # C
    draft, published = prolific.draft(), prolific.publish()

    assert prolific.call("DELETE", f"studies/{draft}/") == (204, None)
    assert prolific.call("GET", f"studies/{draft}/")[0] == 404
    assert prolific.call("DELETE", f"studies/{published}/")[0] == 400


def test_a_study_that_was_deleted_by_hand_is_gone_with_its_work(api: ProlificApi, people: People) -> None:
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])

    delete_study(ProlificStudy.objects.get(study_id=study_id), Clock().now())

    paths = [f"studies/{study_id}/", f"submissions/{submission_id}/", f"submissions/?study={study_id}"]
    assert [api.call("GET", path)[0] for path in paths] == [404, 404, 404]
    assert api.get("studies/")["results"] == []
    assert api.balance() == (1_000_000, 1_000_000)


def test_another_workspace_finds_nothing_of_ours(api: ProlificApi) -> None:  # A
    study_id = api.draft()
    other = ProlificApi(issue_token("USD", title="Other"))

    assert other.call("GET", f"studies/{study_id}/")[0] == 404
    assert other.get("studies/")["results"] == []
    assert other.call("GET", f"workspaces/{api.workspace_id()}/balance/")[0] == 404


def test_a_workspace_has_one_currency(db: None) -> None:  # A
    dollars = ProlificApi(issue_token("USD"))

    assert dollars.get(f"workspaces/{dollars.workspace_id()}/balance/")["currency_code"] == "USD"
    assert dollars.get("reward-recommendations/") == {
        "currency": "USD",
        "min_reward_per_hour": 800,
        "recommended_reward_per_hour": 1200,
    }


def test_a_test_of_a_draft_costs_nothing(api: ProlificApi) -> None:  # A
    draft = api.draft()
    participant_id = api.post("researchers/participants/", {"email": "me@example.org"})["participant_id"]

    test_id = api.post(f"studies/{draft}/test-study")["study_id"]
    do(test_id, Participant.objects.get(participant_id=participant_id), "GOOD1")

    assert api.balance() == (1_000_000, 1_000_000)
    assert api.study_status(draft) == "UNPUBLISHED"


def test_filters_keep_out_whom_they_name(api: ProlificApi, people: People) -> None:  # A, the blocklist's name D
    group = api.post("participant-groups/", {"name": "Seen", "workspace_id": api.workspace_id()})["id"]
    known = {one["filter_id"] for one in api.get("filters/")["results"]}
    study_id = api.publish(
        filters=[
            {"filter_id": "current-country-of-residence", "selected_values": ["0"]},
            {"filter_id": "approval_rate", "selected_range": {"lower": 95}},
            {"filter_id": "participant_group_blocklist", "selected_values": [group]},
        ]
    )
    api.post(f"participant-groups/{group}/participants/", {"participant_ids": [people["Dewi"].participant_id]})

    def is_let_in(name: str) -> bool:
        try:
            return bool(reserve(study_id, people[name]))
        except Refused:
            return False

    assert "participant_group_blocklist" in known
    assert {name for name in people if is_let_in(name)} == {"Asha"}
    body = {"participant_ids": [people["Dewi"].participant_id]}
    api.delete(f"participant-groups/{group}/participants/", body)  # live studies follow
    assert is_let_in("Dewi")


def test_a_code_may_change_groups(api: ProlificApi, people: People) -> None:  # A
    group = api.post("participant-groups/", {"name": "Done", "workspace_id": api.workspace_id()})["id"]
    action = {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group}
    code = {**CODES[0], "actions": [{"action": "MANUALLY_REVIEW"}, action]}
    study_id = api.publish(completion_codes=[code])

    do(study_id, people["Asha"])

    members = api.get(f"participant-groups/{group}/participants/")["results"]
    assert [one["participant_id"] for one in members] == [people["Asha"].participant_id]


def test_ids_may_have_another_form(api: ProlificApi) -> None:  # C that they are hexadecimal
    assert re.fullmatch(r"[0-9a-f]{24}", api.draft())
    set_behaviour(are_ids_hex=False)

    assert re.fullmatch(r"[0-9A-Za-z]{22}", api.draft())


def test_a_balance_may_be_shown_on_the_website_only(api: ProlificApi) -> None:  # A, contradicted by one page
    set_behaviour(is_balance_told=False)

    assert api.call("GET", f"workspaces/{api.workspace_id()}/balance/")[0] == 404
