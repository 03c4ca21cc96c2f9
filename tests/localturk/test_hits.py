from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from localturk.clock import Clock
from tests.localturk.acting import (
    TYPE_PARAMS,
    UNKNOWN,
    accept,
    code_of,
    create_hit,
    do_hit,
    external_question,
    get_hit,
    refusal_of,
    submit,
)
from tests.localturk.conftest import Worker


def test_a_hit_comes_back_as_it_was_made(turk: Any) -> None:
    before = datetime.now(UTC)

    hit_id = create_hit(turk, Keywords="rating, dialog", RequesterAnnotation="study:7", MaxAssignments=4)

    hit = get_hit(turk, hit_id)
    assert len(hit_id) == 30
    assert hit_id.isalnum()
    assert hit_id.isupper()
    assert (hit["Title"], hit["Reward"], hit["Keywords"]) == ("Rate replies", "0.40", "rating, dialog")
    assert (hit["RequesterAnnotation"], hit["Question"]) == ("study:7", external_question())
    assert (hit["HITStatus"], hit["HITReviewStatus"], hit["MaxAssignments"]) == ("Assignable", "NotReviewed", 4)
    assert before - timedelta(seconds=1) < hit["CreationTime"] < hit["Expiration"]
    assert hit["Expiration"] - hit["CreationTime"] == timedelta(days=1)


def test_equal_parameters_give_the_same_hit_type(turk: Any) -> None:
    first = turk.create_hit_type(**TYPE_PARAMS)["HITTypeId"]

    again = turk.create_hit_type(**{**TYPE_PARAMS, "Reward": "0.4"})["HITTypeId"]
    other = turk.create_hit_type(**{**TYPE_PARAMS, "Reward": "0.41"})["HITTypeId"]
    made = turk.create_hit_with_hit_type(HITTypeId=first, LifetimeInSeconds=60, Question=external_question())["HIT"]
    by_itself = get_hit(turk, create_hit(turk))

    assert first == again != other
    assert made["HITTypeId"] == by_itself["HITTypeId"] == first
    assert made["HITGroupId"] == by_itself["HITGroupId"]


def test_the_status_follows_what_workers_do(turk: Any, alice: Worker, bruno: Worker) -> None:
    hit_id = create_hit(turk, MaxAssignments=2)
    seen = []

    def look() -> None:
        hit = get_hit(turk, hit_id)
        counts = tuple(hit[f"NumberOfAssignments{name}"] for name in ("Pending", "Available", "Completed"))
        seen.append((hit["HITStatus"], *counts))

    look()
    first = accept(hit_id, alice)
    look()
    do_hit(hit_id, bruno)
    look()
    assignment_id = submit(first)
    look()
    turk.approve_assignment(AssignmentId=assignment_id)
    look()

    assert seen == [
        ("Assignable", 0, 2, 0),
        ("Assignable", 1, 1, 0),
        ("Unassignable", 1, 0, 0),
        ("Reviewable", 0, 0, 0),
        ("Reviewable", 0, 0, 1),
    ]


def test_a_hit_expires_in_time_but_its_workers_may_finish(turk: Any, alice: Worker, clock: Clock) -> None:
    hit_id = create_hit(turk, LifetimeInSeconds=600)
    held = accept(hit_id, alice)

    clock.advance(timedelta(seconds=601))
    during = get_hit(turk, hit_id)["HITStatus"]
    submit(held)

    assert during == "Unassignable"
    assert get_hit(turk, hit_id)["HITStatus"] == "Reviewable"
    assert turk.list_assignments_for_hit(HITId=hit_id)["NumResults"] == 1


def test_expiry_to_a_past_time_ends_a_hit_and_to_a_later_one_opens_it_again(turk: Any) -> None:
    hit_id = create_hit(turk)

    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    ended = get_hit(turk, hit_id)
    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime.now(UTC) + timedelta(hours=1))

    assert (ended["HITStatus"], ended["Expiration"].year) == ("Reviewable", 2015)
    assert get_hit(turk, hit_id)["HITStatus"] == "Assignable"
    too_far = datetime.now(UTC) + timedelta(days=400)
    assert code_of(turk.update_expiration_for_hit, HITId=hit_id, ExpireAt=too_far) == "InvalidParameterValue"


def test_a_hit_is_deleted_only_when_it_is_reviewable_and_all_is_judged(turk: Any, alice: Worker) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    still_open = refusal_of(turk.delete_hit, HITId=hit_id)
    assignment_id = do_hit(hit_id, alice)
    unjudged = refusal_of(turk.delete_hit, HITId=hit_id)
    turk.approve_assignment(AssignmentId=assignment_id)

    turk.delete_hit(HITId=hit_id)

    gone = refusal_of(turk.delete_hit, HITId=hit_id)
    assert get_hit(turk, hit_id)["HITStatus"] == "Disposed"
    assert turk.list_hits()["HITs"] == []
    assert {code for code, _ in (still_open, unjudged, gone)} == {"AWS.MechanicalTurk.InvalidHITState"}
    # Dallinger looks for these words.
    assert "currently in the state 'Assignable'" in still_open[1]
    assert "currently in the state 'Reviewable'" in unjudged[1]
    assert "currently in the state 'Disposed'" in gone[1]


def test_a_hit_under_review_can_be_deleted_too(turk: Any) -> None:
    hit_id = create_hit(turk)
    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    turk.update_hit_review_status(HITId=hit_id)

    turk.delete_hit(HITId=hit_id)

    assert get_hit(turk, hit_id)["HITStatus"] == "Disposed"


def test_fewer_than_ten_assignments_never_become_ten(turk: Any) -> None:
    small, large = create_hit(turk, MaxAssignments=8), create_hit(turk, MaxAssignments=10)

    turk.create_additional_assignments_for_hit(HITId=small, NumberOfAdditionalAssignments=1)
    turk.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=5)
    code = code_of(turk.create_additional_assignments_for_hit, HITId=small, NumberOfAdditionalAssignments=1)

    assert code == "InvalidMaximumAssignmentsIncrease"
    assert get_hit(turk, small)["MaxAssignments"] == 9
    assert get_hit(turk, large)["MaxAssignments"] == 15


def test_reviewable_hits_are_listed_by_status_and_type(turk: Any, alice: Worker) -> None:
    done, other, _still_open = (
        create_hit(turk, MaxAssignments=1),
        create_hit(turk, MaxAssignments=1, Title="Another"),
        create_hit(turk),
    )
    do_hit(done, alice)
    do_hit(other, alice)

    turk.update_hit_review_status(HITId=other)

    def listed(**filters: str) -> list[str]:
        return [hit["HITId"] for hit in turk.list_reviewable_hits(**filters)["HITs"]]

    assert listed() == [done]
    assert listed(Status="Reviewing") == [other]
    assert listed(HITTypeId=get_hit(turk, done)["HITTypeId"]) == [done]
    assert listed(HITTypeId=get_hit(turk, other)["HITTypeId"]) == []
    assert code_of(turk.update_hit_review_status, HITId=other) == "InvalidHITState"
    turk.update_hit_review_status(HITId=other, Revert=True)
    assert sorted(listed()) == sorted([done, other])


def test_a_hit_takes_on_another_type(turk: Any) -> None:
    hit_id = create_hit(turk)
    other = turk.create_hit_type(**{**TYPE_PARAMS, "Title": "Rate more replies", "Reward": "0.50"})["HITTypeId"]

    turk.update_hit_type_of_hit(HITId=hit_id, HITTypeId=other)

    hit = get_hit(turk, hit_id)
    assert (hit["HITTypeId"], hit["Title"], hit["Reward"]) == (other, "Rate more replies", "0.50")
    assert turk.get_account_balance()["OnHoldBalance"] == "1.20"


@pytest.mark.parametrize(("page_size", "pages"), [(100, 3), (40, 4)])
def test_every_hit_is_on_exactly_one_page(turk: Any, page_size: int, pages: int) -> None:
    hit_type = turk.create_hit_type(**TYPE_PARAMS)["HITTypeId"]
    made = [
        turk.create_hit_with_hit_type(HITTypeId=hit_type, LifetimeInSeconds=60, Question=external_question())["HIT"][
            "HITId"
        ]
        for _ in range(105)
    ]

    listed = list(turk.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": page_size}))

    assert [hit["HITId"] for page in listed for hit in page["HITs"]] == made[::-1]
    assert len(listed) == pages
    assert listed[0]["NumResults"] == page_size
    assert turk.list_hits()["NumResults"] == 10


def test_the_last_page_is_an_empty_one_as_clients_of_mturk_expect(turk: Any, alice: Worker) -> None:
    """Mephisto and oTree read on while a page has rows, with the token that such a page always has on MTurk."""
    do_hit(create_hit(turk), alice)
    for hit in turk.list_hits()["HITs"]:
        first = turk.list_assignments_for_hit(HITId=hit["HITId"])

    last = turk.list_assignments_for_hit(HITId=hit["HITId"], NextToken=first["NextToken"])

    assert (first["NumResults"], last["NumResults"], last["Assignments"]) == (1, 0, [])
    assert "NextToken" not in last


def test_a_page_token_of_another_listing_is_refused(turk: Any) -> None:
    for _ in range(2):
        create_hit(turk)
    token = turk.list_hits(MaxResults=1)["NextToken"]

    assert code_of(turk.list_reviewable_hits, NextToken=token) == "InvalidParameterValue"
    assert code_of(turk.list_hits, NextToken="made up") == "InvalidParameterValue"


def test_what_does_not_exist_is_named(turk: Any) -> None:
    assert refusal_of(turk.get_hit, HITId=UNKNOWN) == (
        "AWS.MechanicalTurk.HITDoesNotExist",
        f"Hit {UNKNOWN} does not exist.",
    )
    wanted = {"HITTypeId": UNKNOWN, "LifetimeInSeconds": 60, "Question": external_question()}
    assert code_of(turk.create_hit_with_hit_type, **wanted) == "HITTypeDoesNotExist"
    assert code_of(turk.get_assignment, AssignmentId=UNKNOWN) == "AssignmentDoesNotExist"
    assert code_of(turk.approve_assignment, AssignmentId=UNKNOWN) == "AssignmentDoesNotExist"
    assert code_of(turk.get_qualification_type, QualificationTypeId=UNKNOWN) == "QualificationTypeDoesNotExist"
    assert code_of(turk.list_assignments_for_hit, HITId=UNKNOWN) == "HITDoesNotExist"
