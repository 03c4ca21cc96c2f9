from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from localturk.clock import Clock
from localturk.models import Account, BonusPayment, WorkerMessage
from tests.localturk.acting import UNKNOWN, accept, code_of, create_hit, do_hit, hit_params
from tests.localturk.conftest import Worker


def balance(turk: Any) -> tuple[str, str]:
    answer = turk.get_account_balance()
    return answer["AvailableBalance"], answer["OnHoldBalance"]


def test_the_account_begins_with_ten_thousand_dollars(turk: Any) -> None:
    assert balance(turk) == ("10000.00", "0.00")


@pytest.mark.parametrize(
    ("reward", "assignments", "held"),
    [("0.40", 4, "1.92"), ("0.40", 9, "4.32"), ("0.40", 10, "5.60"), ("0.01", 3, "0.06"), ("0.33", 1, "0.40")],
)
def test_a_hit_holds_rewards_and_fees_to_the_cent(turk: Any, reward: str, assignments: int, held: str) -> None:
    create_hit(turk, Reward=reward, MaxAssignments=assignments)

    assert balance(turk)[1] == held


def test_approval_pays_and_rejection_and_expiry_release(turk: Any, workers: dict[str, Worker]) -> None:
    hit_id = create_hit(turk, MaxAssignments=4)
    paid, refused = do_hit(hit_id, workers["Alice"]), do_hit(hit_id, workers["Bruno"])
    accept(hit_id, workers["Clare"])
    seen = [balance(turk)]

    turk.approve_assignment(AssignmentId=paid)
    seen.append(balance(turk))
    turk.reject_assignment(AssignmentId=refused, RequesterFeedback="Empty")
    seen.append(balance(turk))
    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime.now(UTC))
    seen.append(balance(turk))
    turk.approve_assignment(AssignmentId=refused, OverrideRejection=True)
    seen.append(balance(turk))

    assert seen == [
        ("9998.08", "1.92"),
        ("9998.08", "1.44"),
        ("9998.56", "0.96"),
        ("9999.04", "0.48"),  # for Clare, who still works on it
        ("9998.56", "0.48"),
    ]


def test_what_expired_by_itself_is_released_too(turk: Any, clock: Clock) -> None:
    create_hit(turk, LifetimeInSeconds=60)

    clock.advance(timedelta(seconds=61))

    assert balance(turk) == ("10000.00", "0.00")


def test_a_bonus_costs_itself_and_a_fifth(turk: Any, alice: Worker) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    assignment_id = do_hit(hit_id, alice)
    turk.approve_assignment(AssignmentId=assignment_id)

    turk.send_bonus(WorkerId=alice.worker_id, AssignmentId=assignment_id, BonusAmount="0.13", Reason="All gold found")

    assert balance(turk) == ("9999.36", "0.00")  # 0.40 + 0.08 and 0.13 + 0.03
    for wanted in ({"HITId": hit_id}, {"AssignmentId": assignment_id}):
        (bonus,) = turk.list_bonus_payments(**wanted)["BonusPayments"]
        assert (bonus["BonusAmount"], bonus["Reason"]) == ("0.13", "All gold found")
        assert (bonus["WorkerId"], bonus["AssignmentId"]) == (alice.worker_id, assignment_id)
    assert code_of(turk.list_bonus_payments) == "AWS.MissingParameters"
    assert WorkerMessage.objects.get().text == "All gold found"


def test_a_bonus_needs_the_worker_who_did_the_assignment(turk: Any, alice: Worker, bruno: Worker) -> None:
    hit_id = create_hit(turk)
    held = accept(hit_id, bruno)
    done = do_hit(hit_id, alice)
    bonus = {"BonusAmount": "0.10", "Reason": "Thanks"}

    wrong = code_of(turk.send_bonus, WorkerId=bruno.worker_id, AssignmentId=done, **bonus)
    early = code_of(turk.send_bonus, WorkerId=bruno.worker_id, AssignmentId=held.assignment_id, **bonus)
    nobody = code_of(turk.send_bonus, WorkerId="AXXXXXXXXXXXXX", AssignmentId=done, **bonus)
    nothing = code_of(turk.send_bonus, WorkerId=alice.worker_id, AssignmentId=UNKNOWN, **bonus)

    assert (wrong, nobody) == ("InvalidParameterValue", "InvalidParameterValue")
    assert early == nothing == "AssignmentDoesNotExist"
    assert not BonusPayment.objects.exists()


def test_without_money_nothing_is_made_or_paid(turk: Any, alice: Worker) -> None:
    hit_id = create_hit(turk, MaxAssignments=1)
    assignment_id = do_hit(hit_id, alice)
    Account.objects.update(balance_cents=58)  # 0.48 of it are held

    short = code_of(turk.create_hit, **_dear())
    bonus = {"WorkerId": alice.worker_id, "AssignmentId": assignment_id, "Reason": "Thanks"}
    dear_bonus = code_of(turk.send_bonus, BonusAmount="0.10", **bonus)
    extension = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1}
    longer = code_of(turk.create_additional_assignments_for_hit, **extension)
    turk.send_bonus(BonusAmount="0.08", **bonus)
    turk.approve_assignment(AssignmentId=assignment_id)

    assert short == dear_bonus == longer == "InsufficientFunds"
    assert turk.list_hits()["NumResults"] == 1
    assert balance(turk) == ("0.00", "0.00")


def _dear() -> dict[str, Any]:
    return hit_params(Reward="9.00")
