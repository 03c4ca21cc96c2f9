from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

from localturk import working
from localturk.answers_xml import NAMESPACE
from localturk.clock import Clock
from localturk.models import TurkAssignment
from tests.localturk.acting import accept, code_of, create_hit, do_hit, get_hit, refusal_of, submit
from tests.localturk.conftest import Worker


def status_of(turk: Any, assignment_id: str) -> str:
    return str(turk.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"])


def test_a_submitted_assignment_has_all_its_times_and_every_answer(turk: Any, alice: Worker) -> None:
    hit_id = create_hit(turk)
    held = accept(hit_id, alice)

    assignment_id = submit(held, assignmentId=[held.assignment_id], card=["7", "3"], note=["good & <bad>\x0b"])

    answer = turk.get_assignment(AssignmentId=assignment_id)
    found = answer["Assignment"]
    assert answer["HIT"]["HITId"] == found["HITId"] == hit_id
    assert (found["WorkerId"], found["AssignmentStatus"]) == (alice.worker_id, "Submitted")
    assert found["Deadline"] - found["AcceptTime"] == timedelta(hours=1)
    assert found["AutoApprovalTime"] - found["SubmitTime"] == timedelta(days=3)
    pairs = [tuple(part.text for part in one) for one in ElementTree.fromstring(found["Answer"])]
    assert pairs == [("card", "7"), ("card", "3"), ("note", "good & <bad>\ufffd")]
    assert NAMESPACE in found["Answer"]


def test_only_what_was_submitted_is_listed_and_by_status(turk: Any, workers: dict[str, Worker]) -> None:
    hit_id = create_hit(turk, MaxAssignments=4)
    approved, rejected, submitted = (do_hit(hit_id, workers[name]) for name in ("Alice", "Bruno", "Clare"))
    accept(hit_id, workers["Dario"])
    turk.approve_assignment(AssignmentId=approved, RequesterFeedback="Thank you")
    turk.reject_assignment(AssignmentId=rejected, RequesterFeedback="All the same")

    def listed(*statuses: str) -> list[str]:
        answer = turk.list_assignments_for_hit(HITId=hit_id, AssignmentStatuses=list(statuses))
        return [one["AssignmentId"] for one in answer["Assignments"]]

    assert listed() == [approved, rejected, submitted]
    assert listed("Approved", "Rejected") == [approved, rejected]
    assert listed("Submitted") == [submitted]
    first = turk.list_assignments_for_hit(HITId=hit_id, MaxResults=1)["Assignments"][0]
    assert first["RequesterFeedback"] == "Thank you"
    assert first["ApprovalTime"] >= first["SubmitTime"]


def test_an_assignment_is_approved_from_submitted_only(turk: Any, alice: Worker, bruno: Worker) -> None:
    hit_id = create_hit(turk)
    held = accept(hit_id, alice)
    early = refusal_of(turk.approve_assignment, AssignmentId=held.assignment_id)
    unseen = code_of(turk.get_assignment, AssignmentId=held.assignment_id)
    assignment_id = submit(held)
    turk.approve_assignment(AssignmentId=assignment_id)

    again = refusal_of(turk.approve_assignment, AssignmentId=assignment_id)

    assert early[0] == again[0] == "AWS.MechanicalTurk.InvalidAssignmentState"
    assert "This operation can be called with a status of: Submitted" in again[1]
    assert "Approved" in again[1]
    assert unseen == "InvalidAssignmentState"
    late = code_of(turk.reject_assignment, AssignmentId=assignment_id, RequesterFeedback="Too late")
    assert late == "InvalidAssignmentState"


def test_a_rejection_is_overridden_within_thirty_days_only(
    turk: Any, alice: Worker, bruno: Worker, clock: Clock
) -> None:
    hit_id = create_hit(turk)
    one, other = do_hit(hit_id, alice), do_hit(hit_id, bruno)
    for assignment_id in (one, other):
        turk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="A mistake of ours")
    unasked = code_of(turk.approve_assignment, AssignmentId=one)

    turk.approve_assignment(AssignmentId=one, OverrideRejection=True)
    clock.advance(timedelta(days=31))
    late = code_of(turk.approve_assignment, AssignmentId=other, OverrideRejection=True)

    assert unasked == late == "InvalidAssignmentState"
    assert (status_of(turk, one), status_of(turk, other)) == ("Approved", "Rejected")


def test_what_nobody_judged_is_approved_automatically_and_paid_once(turk: Any, alice: Worker, clock: Clock) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    assignment_id = do_hit(hit_id, alice)

    clock.advance(timedelta(days=3, seconds=-5))
    before = status_of(turk, assignment_id)
    clock.advance(timedelta(seconds=10))

    found = turk.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert (before, found["AssignmentStatus"]) == ("Submitted", "Approved")
    assert found["ApprovalTime"] == found["AutoApprovalTime"]
    assert turk.get_account_balance() | {"ResponseMetadata": 0} == {
        "AvailableBalance": "9999.52",
        "OnHoldBalance": "0.00",
        "ResponseMetadata": 0,
    }
    assert code_of(turk.approve_assignment, AssignmentId=assignment_id) == "InvalidAssignmentState"
    assert working.earnings(alice).total_cents == 40


def test_an_assignment_is_abandoned_when_its_time_is_over(turk: Any, alice: Worker, clock: Clock) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    held = accept(hit_id, alice)

    clock.advance(timedelta(seconds=3601))

    hit = get_hit(turk, hit_id)
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Assignable", 1)
    held.refresh_from_db()
    assert (held.status, held.given_back_at) == (TurkAssignment.Status.ABANDONED, held.deadline_at)
    assert code_of(turk.get_assignment, AssignmentId=held.assignment_id) == "AssignmentDoesNotExist"
