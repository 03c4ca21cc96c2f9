"""Many at once: on SQLite one writer after the other, on PostgreSQL by the lock of a row."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.db import connection

from localturk import working
from localturk.clock import Clock
from localturk.models import Account, BonusPayment, TurkAssignment, TurkHit, WorkerAccount
from localturk.working import Reason, Refused
from tests.localturk.acting import create_hit, do_hit, hit_params

THREADS = 8


def at_once(call: Callable[[int], Any], count: int) -> list[Any]:
    def in_thread(number: int) -> Any:
        try:
            return call(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(in_thread, range(count)))


def test_never_more_workers_than_assignments(transactional_db: None, in_process_turk: Any, clock: Clock) -> None:
    hit = TurkHit.objects.get(hit_id=create_hit(in_process_turk, MaxAssignments=5))
    crowd = [
        WorkerAccount.objects.create(worker_id=f"A{number:013}", name=str(number), country="US") for number in range(24)
    ]

    def take(number: int) -> Reason | None:
        try:
            working.accept(crowd[number], hit, clock.now())
        except Refused as refused:
            return refused.refusal.reason
        return None

    outcomes = at_once(take, len(crowd))

    assert outcomes.count(None) == 5
    assert outcomes.count(Reason.NONE_LEFT) == 19
    assert TurkAssignment.objects.live().values("assignment_id").distinct().count() == 5
    hit.refresh_from_db()
    assert (hit.pending_count, hit.available_count) == (5, 0)


def test_a_worker_in_many_windows_holds_a_hit_once(
    transactional_db: None, in_process_turk: Any, alice: WorkerAccount, clock: Clock
) -> None:
    hit = TurkHit.objects.get(hit_id=create_hit(in_process_turk, MaxAssignments=9))

    def take(_: int) -> bool:
        try:
            working.accept(alice, hit, clock.now())
        except Refused:
            return False
        return True

    assert sum(at_once(take, 12)) == 1


def test_one_token_makes_one_hit_however_many_ask_at_once(turk: Any, transactional_db: None) -> None:
    def ask(_: int) -> str:
        try:
            return create_hit(turk, UniqueRequestToken="the same")
        except ClientError as error:
            return str(error.response["TurkErrorCode"])

    answers = at_once(ask, 16)

    assert TurkHit.objects.count() == 1
    assert answers.count("AWS.MechanicalTurk.HitAlreadyExists") == 15


def test_the_last_cent_is_spent_once(turk: Any, transactional_db: None) -> None:
    Account.objects.create(pk=1, balance_cents=3 * 96)

    def ask(_: int) -> bool:
        try:
            turk.create_hit(**hit_params())
        except ClientError:
            return False
        return True

    assert sum(at_once(ask, 12)) == 3
    account = Account.objects.get()
    assert (account.balance_cents, account.held_cents) == (288, 288)


@pytest.mark.parametrize("operation", ["approve_assignment", "get_assignment"])
def test_an_assignment_is_paid_once_however_it_is_approved(
    turk: Any, transactional_db: None, alice: WorkerAccount, operation: str
) -> None:
    """By many calls at once, or by many reads at once after its time has come."""
    delay = 0 if operation == "get_assignment" else 3600
    assignment_id = do_hit(create_hit(turk, MaxAssignments=1, AutoApprovalDelayInSeconds=delay), alice)

    def ask(_: int) -> bool:
        try:
            getattr(turk, operation)(AssignmentId=assignment_id)
        except ClientError:
            return False
        return True

    succeeded = sum(at_once(ask, 12))

    assert succeeded == (1 if operation == "approve_assignment" else 12)
    assert Account.objects.get().balance_cents == 10_000_00 - 48


def test_bonuses_and_approvals_of_one_hit_do_not_wait_for_each_other(
    transactional_db: None, in_process_turk: Any, workers: dict[str, WorkerAccount]
) -> None:
    able = [workers[name] for name in ("Alice", "Bruno", "Clare", "Dario")]
    hit_id = create_hit(in_process_turk, MaxAssignments=4)
    done = [do_hit(hit_id, worker) for worker in able]

    def settle(number: int) -> None:
        assignment, worker = done[number % 4], able[number % 4]
        if number < 4:
            in_process_turk.approve_assignment(AssignmentId=assignment)
        else:
            in_process_turk.send_bonus(
                AssignmentId=assignment, WorkerId=worker.worker_id, BonusAmount="0.10", Reason="Thanks."
            )

    at_once(settle, 8)

    assert TurkAssignment.objects.filter(status="Approved").count() == 4
    assert BonusPayment.objects.count() == 4
