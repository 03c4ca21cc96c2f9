from datetime import timedelta
from typing import Any

import pytest

from localturk import working
from localturk.clock import Clock
from localturk.ids import new_id, seeded_ids
from localturk.models import TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from localturk.working import Reason, Refused
from tests.localturk.acting import accept, create_hit, do_hit, get_hit, submit
from tests.localturk.conftest import Worker

FIVE = [{"Country": country} for country in ("US", "CA", "GB", "AU", "NZ")]
OF_THE_PAPER: list[dict[str, Any]] = [
    {"QualificationTypeId": "00000000000000000071", "Comparator": "In", "LocaleValues": FIVE},
    {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [100]},
    {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [95]},
]


@pytest.fixture
def turk(db: None, in_process_turk: Any) -> Any:
    return in_process_turk


def reason_for(worker: Worker, hit_id: str, clock: Clock) -> Reason | None:
    refusal = working.can_accept(worker, TurkHit.objects.get(hit_id=hit_id), clock.now())
    return refusal.reason if refusal else None


def test_the_papers_requirements_sort_the_workers(turk: Any, workers: dict[str, Worker], clock: Clock) -> None:
    hit = TurkHit.objects.get(hit_id=create_hit(turk, QualificationRequirements=OF_THE_PAPER))

    refusals = {name: working.can_accept(worker, hit, clock.now()) for name, worker in workers.items()}

    assert {name: refusal.requirement for name, refusal in refusals.items() if refusal} == {
        "Ines": "Location is one of US, CA, GB, AU, NZ",
        "Finn": "Number of HITs approved at least 100",
        "Hugo": "Number of HITs approved at least 100",
        "Gita": "HIT approval rate (%) at least 95",
    }


def test_work_done_here_counts_towards_approval(turk: Any, workers: dict[str, Worker], clock: Clock) -> None:
    hugo = workers["Hugo"]
    requirement = {"QualificationTypeId": "00000000000000000040", "Comparator": "EqualTo", "IntegerValues": [1]}
    wanted = create_hit(turk, QualificationRequirements=[requirement])
    before = reason_for(hugo, wanted, clock)

    turk.approve_assignment(AssignmentId=do_hit(create_hit(turk), hugo))

    assert before == Reason.NOT_QUALIFIED
    assert reason_for(hugo, wanted, clock) is None


@pytest.mark.parametrize(
    ("comparator", "values", "meets"),
    [
        ("EqualTo", [5], True),
        ("NotEqualTo", [5], False),
        ("LessThan", [6], True),
        ("LessThanOrEqualTo", [4], False),
        ("GreaterThan", [5], False),
        ("In", [4, 5], True),
        ("NotIn", [4, 5], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
    ],
)
def test_each_comparator_is_enforced(
    turk: Any, alice: Worker, clock: Clock, comparator: str, values: list[int] | None, meets: bool
) -> None:
    made = turk.create_qualification_type(Name="Score", Description="A score.", QualificationTypeStatus="Active")
    kind = made["QualificationType"]["QualificationTypeId"]
    turk.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=alice.worker_id, IntegerValue=5)
    requirement = {"QualificationTypeId": kind, "Comparator": comparator}

    hit_id = create_hit(
        turk, QualificationRequirements=[requirement if values is None else {**requirement, "IntegerValues": values}]
    )

    assert reason_for(alice, hit_id, clock) == (None if meets else Reason.NOT_QUALIFIED)


def test_every_refusal_has_its_own_reason(turk: Any, workers: dict[str, Worker], clock: Clock) -> None:
    alice, bruno, clare, dario = (workers[name] for name in ("Alice", "Bruno", "Clare", "Dario"))
    full, over = create_hit(turk, MaxAssignments=2), create_hit(turk, LifetimeInSeconds=60)
    accept(full, alice)
    do_hit(full, bruno)
    turk.create_worker_block(WorkerId=dario.worker_id, Reason="Spam")
    clock.advance(timedelta(seconds=61))

    assert reason_for(alice, full, clock) == Reason.ALREADY_HELD
    assert reason_for(bruno, full, clock) == Reason.ALREADY_DONE
    assert reason_for(clare, full, clock) == Reason.NONE_LEFT
    assert reason_for(clare, over, clock) == Reason.EXPIRED
    assert reason_for(dario, full, clock) == Reason.BLOCKED
    with pytest.raises(Refused) as refused:
        accept(full, clare)
    assert refused.value.refusal.reason == Reason.NONE_LEFT


def test_offers_are_one_line_a_type_less_what_the_worker_met(
    turk: Any, workers: dict[str, Worker], clock: Clock
) -> None:
    alice, finn = workers["Alice"], workers["Finn"]
    easy = [create_hit(turk, MaxAssignments=2) for _ in range(3)]
    create_hit(turk, Title="Difficult", QualificationRequirements=OF_THE_PAPER)
    do_hit(easy[0], alice)

    def seen(worker: Worker, **options: bool) -> list[tuple[str, int, bool]]:
        found = working.offers(worker, clock.now(), **options)
        return [(offer.hit_type.title, offer.hit_count, offer.refusal is None) for offer in found]

    assert seen(alice) == [("Difficult", 1, True), ("Rate replies", 2, True)]
    assert seen(finn) == [("Rate replies", 3, True)]
    assert seen(finn, qualified_only=False) == [("Difficult", 1, False), ("Rate replies", 3, True)]
    hit = working.next_hit(alice, TurkHit.objects.get(hit_id=easy[0]).hit_type)
    assert hit is not None
    assert hit.hit_id == easy[1]


@pytest.mark.parametrize(
    ("guarded", "is_offered", "can_preview"),
    [("Accept", True, True), ("PreviewAndAccept", True, False), ("DiscoverPreviewAndAccept", False, False)],
)
def test_guarded_actions_are_withheld(
    turk: Any, workers: dict[str, Worker], clock: Clock, guarded: str, is_offered: bool, can_preview: bool
) -> None:
    ines = workers["Ines"]
    hit_id = create_hit(turk, QualificationRequirements=[{**OF_THE_PAPER[0], "ActionsGuarded": guarded}])

    found = working.offers(ines, clock.now(), qualified_only=False)

    assert [offer.can_preview for offer in found] == ([can_preview] if is_offered else [])
    assert (working.can_preview(ines, TurkHit.objects.get(hit_id=hit_id)) is None) == can_preview
    assert reason_for(ines, hit_id, clock) == Reason.NOT_QUALIFIED
    assert [offer.can_preview for offer in working.offers(workers["Alice"], clock.now())] == [True]


def test_a_returned_assignment_comes_back_to_another_worker(
    turk: Any, alice: Worker, bruno: Worker, clock: Clock
) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    first = accept(hit_id, alice)
    working.return_assignment(first.assignment_id, alice, clock.now())

    second = accept(hit_id, bruno)
    with pytest.raises(Refused) as refused:
        working.submit(first.assignment_id, alice, {"rating": ["good"]}, clock.now())
    submit(second)

    assert first.assignment_id == second.assignment_id
    assert refused.value.refusal.reason == Reason.NOT_HELD
    found = turk.get_assignment(AssignmentId=second.assignment_id)["Assignment"]
    assert found["WorkerId"] == bruno.worker_id
    with pytest.raises(Refused):
        working.return_assignment(second.assignment_id, bruno, clock.now())


def test_a_worker_may_take_again_what_was_returned_and_hold_several(turk: Any, alice: Worker, clock: Clock) -> None:
    one, other = create_hit(turk), create_hit(turk)
    accept(other, alice)
    working.return_assignment(accept(one, alice).assignment_id, alice, clock.now())

    do_hit(one, alice)

    assert get_hit(turk, other)["NumberOfAssignmentsPending"] == 1
    assert reason_for(alice, one, clock) == Reason.ALREADY_DONE


def test_too_late_is_not_the_same_as_twice(turk: Any, alice: Worker, bruno: Worker, clock: Clock) -> None:
    hit_id = create_hit(turk)
    late, twice = accept(hit_id, alice), accept(hit_id, bruno)
    submit(twice)
    clock.advance(timedelta(seconds=3601))

    reasons = []
    for assignment in (late, twice):
        with pytest.raises(Refused) as refused:
            submit(assignment)
        reasons.append(refused.value.refusal.reason)

    assert reasons == [Reason.TOO_LATE, Reason.ALREADY_DONE]


def test_earnings_are_what_was_paid_and_what_waits(turk: Any, alice: Worker) -> None:
    paid, refused, _waiting = (do_hit(create_hit(turk), alice) for _ in range(3))
    turk.approve_assignment(AssignmentId=paid)
    turk.reject_assignment(AssignmentId=refused, RequesterFeedback="Empty")
    turk.send_bonus(WorkerId=alice.worker_id, AssignmentId=paid, BonusAmount="0.10", Reason="Thanks")

    found = working.earnings(alice)

    assert (found.reward_cents, found.bonus_cents, found.pending_cents, found.total_cents) == (40, 10, 40, 50)
    assert (found.approved_count, found.rejected_count, found.submitted_count) == (1, 1, 1)


def test_workers_are_made_once_and_keep_their_history(workers: dict[str, Worker]) -> None:
    WorkerAccount.objects.filter(name="Finn").update(approved_count=51)

    again = ensure_worker_accounts()

    assert len(again) == len(workers) == WorkerAccount.objects.count()
    assert all(len(worker.worker_id) == 14 and worker.worker_id[0] == "A" for worker in again)
    assert {worker.name: worker.approved_count for worker in again}["Finn"] == 51


def test_seeded_ids_repeat_and_others_do_not() -> None:
    with seeded_ids(1):
        first = [new_id(), new_id()]
    with seeded_ids(1):
        again = [new_id(), new_id()]

    assert first == again
    assert first[0] != first[1]
    assert new_id() != new_id()
