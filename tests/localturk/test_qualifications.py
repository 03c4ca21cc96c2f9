from typing import Any

from localturk import working
from localturk.clock import Clock
from localturk.models import QualificationType, WorkerMessage
from tests.localturk.acting import code_of, create_hit, do_hit, hit_params, refusal_of
from tests.localturk.conftest import Worker


def create_type(turk: Any, name: str = "Took part", **more: Any) -> str:
    wanted = {"Name": name, "Description": "Rated replies before.", "QualificationTypeStatus": "Active", **more}
    return str(turk.create_qualification_type(**wanted)["QualificationType"]["QualificationTypeId"])


def test_a_qualification_type_is_made_found_changed_and_deleted(turk: Any) -> None:
    kind = create_type(turk, Keywords="dialog", AutoGranted=True, AutoGrantedValue=7)
    other = create_type(turk, "Something else")
    same_name = {"Name": "Took part", "Description": "Again.", "QualificationTypeStatus": "Active"}

    found = turk.get_qualification_type(QualificationTypeId=kind)["QualificationType"]
    listed = turk.list_qualification_types(Query="dialog", MustBeRequestable=False, MustBeOwnedByCaller=True)
    changed = turk.update_qualification_type(QualificationTypeId=kind, QualificationTypeStatus="Inactive")
    twice = code_of(turk.create_qualification_type, **same_name)
    turk.delete_qualification_type(QualificationTypeId=kind)

    assert (found["Name"], found["AutoGrantedValue"], found["IsRequestable"]) == ("Took part", 7, True)
    assert [one["QualificationTypeId"] for one in listed["QualificationTypes"]] == [kind]
    assert changed["QualificationType"]["QualificationTypeStatus"] == "Inactive"
    assert twice == "QualificationTypeAlreadyExists"
    left = turk.list_qualification_types(MustBeRequestable=False)["QualificationTypes"]
    assert [one["QualificationTypeId"] for one in left] == [other]
    assert create_type(turk) != kind


def test_a_qualification_is_granted_read_listed_and_revoked(turk: Any, alice: Worker, bruno: Worker) -> None:
    kind = create_type(turk)
    of_alice = {"QualificationTypeId": kind, "WorkerId": alice.worker_id}
    none_yet = refusal_of(turk.get_qualification_score, **of_alice)

    turk.associate_qualification_with_worker(**of_alice, IntegerValue=3, SendNotification=False)
    turk.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=bruno.worker_id)
    score = turk.get_qualification_score(**of_alice)["Qualification"]
    turk.disassociate_qualification_from_worker(**of_alice, Reason="Asked for it")

    def listed(status: str) -> list[str]:
        answer = turk.list_workers_with_qualification_type(QualificationTypeId=kind, Status=status)
        return [one["WorkerId"] for one in answer["Qualifications"]]

    assert none_yet[0] == "AWS.MechanicalTurk.QualificationDoesNotExist"
    assert "You requested a Qualification that does not exist." in none_yet[1]
    assert (score["IntegerValue"], score["Status"]) == (3, "Granted")
    assert (listed("Granted"), listed("Revoked")) == ([bruno.worker_id], [alice.worker_id])
    assert code_of(turk.get_qualification_score, **of_alice) == "InvalidQualificationState"
    assert [message.worker.name for message in WorkerMessage.objects.order_by("pk")] == ["Bruno", "Alice"]


def test_requests_are_listed_until_they_are_answered(turk: Any, alice: Worker, bruno: Worker, clock: Clock) -> None:
    kind_id = create_type(turk)
    kind = QualificationType.objects.get(qualification_type_id=kind_id)
    working.request_qualification(alice, kind, clock.now())
    working.request_qualification(bruno, kind, clock.now())
    first, second = turk.list_qualification_requests(QualificationTypeId=kind_id)["QualificationRequests"]

    turk.accept_qualification_request(QualificationRequestId=first["QualificationRequestId"], IntegerValue=9)
    turk.reject_qualification_request(QualificationRequestId=second["QualificationRequestId"], Reason="Full")

    assert (first["WorkerId"], second["WorkerId"]) == (alice.worker_id, bruno.worker_id)
    assert turk.list_qualification_requests()["NumResults"] == 0
    of_alice = {"QualificationTypeId": kind_id, "WorkerId": alice.worker_id}
    assert turk.get_qualification_score(**of_alice)["Qualification"]["IntegerValue"] == 9
    answered = code_of(turk.accept_qualification_request, QualificationRequestId=first["QualificationRequestId"])
    assert answered == "InvalidQualificationRequestState"
    unknown = code_of(turk.reject_qualification_request, QualificationRequestId="none")
    assert unknown == "QualificationRequestDoesNotExist"


def test_what_is_granted_automatically_needs_no_answer(turk: Any, alice: Worker, clock: Clock) -> None:
    kind_id = create_type(turk, AutoGranted=True, AutoGrantedValue=5)

    working.request_qualification(alice, QualificationType.objects.get(qualification_type_id=kind_id), clock.now())

    score = turk.get_qualification_score(QualificationTypeId=kind_id, WorkerId=alice.worker_id)["Qualification"]
    assert score["IntegerValue"] == 5


def test_hits_are_found_by_the_qualification_that_they_require(turk: Any) -> None:
    kind = create_type(turk)
    requirements = [{"QualificationTypeId": kind, "Comparator": "DoesNotExist"}]
    requiring = create_hit(turk, QualificationRequirements=requirements)
    create_hit(turk)

    (found,) = turk.list_hits_for_qualification_type(QualificationTypeId=kind)["HITs"]
    turk.delete_qualification_type(QualificationTypeId=kind)

    assert found["HITId"] == requiring
    assert found["QualificationRequirements"][0]["ActionsGuarded"] == "Accept"
    later = hit_params(QualificationRequirements=requirements)
    assert code_of(turk.create_hit, **later) == "QualificationTypeDoesNotExist"


def test_a_test_needs_its_duration_and_is_never_granted_automatically(turk: Any) -> None:
    wanted = {
        "Name": "Tested",
        "Description": "With a test.",
        "QualificationTypeStatus": "Active",
        "Test": "<QuestionForm/>",
    }

    assert code_of(turk.create_qualification_type, **wanted) == "AWS.MissingParameters"
    both = {**wanted, "TestDurationInSeconds": 60, "AutoGranted": True}
    assert code_of(turk.create_qualification_type, **both) == "InvalidParameterValue"


def test_a_reason_may_be_empty_where_it_is_not_required(turk: Any, alice: Worker) -> None:
    """Dallinger and Mephisto send an empty one when they take a qualification back."""
    held = {"WorkerId": alice.worker_id, "QualificationTypeId": create_type(turk)}
    turk.associate_qualification_with_worker(**held)

    turk.disassociate_qualification_from_worker(**held, Reason="")
    turk.delete_worker_block(WorkerId=alice.worker_id, Reason="")

    assert code_of(turk.get_qualification_score, **held) == "InvalidQualificationState"
    assert code_of(turk.create_worker_block, WorkerId=alice.worker_id, Reason="") == "AWS.ParameterOutOfRange"
    paid = {"AssignmentId": do_hit(create_hit(turk), alice), "WorkerId": alice.worker_id, "BonusAmount": "0.05"}
    assert code_of(turk.send_bonus, **paid, Reason="") == "AWS.ParameterOutOfRange"


def test_blocks_are_set_listed_and_lifted(turk: Any, alice: Worker) -> None:
    turk.create_worker_block(WorkerId=alice.worker_id, Reason="Random clicks")
    blocks = turk.list_worker_blocks()["WorkerBlocks"]

    turk.delete_worker_block(WorkerId=alice.worker_id)
    turk.delete_worker_block(WorkerId=alice.worker_id)

    assert blocks == [{"WorkerId": alice.worker_id, "Reason": "Random clicks"}]
    assert turk.list_worker_blocks()["WorkerBlocks"] == []


def test_a_message_reaches_those_whose_work_was_judged(turk: Any, alice: Worker, bruno: Worker) -> None:
    turk.approve_assignment(AssignmentId=do_hit(create_hit(turk), alice))
    ids = [alice.worker_id, bruno.worker_id, "AXXXXXXXXXXXXX"]

    failures = turk.notify_workers(Subject="New HITs", MessageText="From tomorrow.", WorkerIds=ids)

    assert [one["WorkerId"] for one in failures["NotifyWorkersFailureStatuses"]] == ids[1:]
    assert [message.worker.name for message in WorkerMessage.objects.all()] == ["Alice"]
