from datetime import timedelta
from typing import Any

from localturk.clock import Clock
from localturk.models import Account
from tests.localturk.acting import (
    TYPE_PARAMS,
    code_of,
    create_hit,
    do_hit,
    external_question,
    get_hit,
    hit_params,
    refusal_of,
)
from tests.localturk.conftest import Worker


def test_a_repeated_token_names_the_hit_that_exists_even_when_the_money_is_gone(turk: Any) -> None:
    hit_id = create_hit(turk, UniqueRequestToken="study-7-hit-1")
    Account.objects.update(balance_cents=96, held_cents=96)

    code, message = refusal_of(turk.create_hit, **hit_params(UniqueRequestToken="study-7-hit-1"))

    assert code == "AWS.MechanicalTurk.HitAlreadyExists"
    assert hit_id in message
    assert turk.list_hits()["NumResults"] == 1


def test_both_ways_to_make_a_hit_share_their_tokens(turk: Any) -> None:
    hit_type = turk.create_hit_type(**TYPE_PARAMS)["HITTypeId"]
    wanted = {"HITTypeId": hit_type, "LifetimeInSeconds": 60, "Question": external_question()}
    made = turk.create_hit_with_hit_type(**wanted, UniqueRequestToken="one")["HIT"]["HITId"]

    code, message = refusal_of(turk.create_hit, **hit_params(UniqueRequestToken="one"))

    assert code == "AWS.MechanicalTurk.HitAlreadyExists"
    assert made in message


def test_a_token_is_forgotten_after_24_hours(turk: Any, clock: Clock) -> None:
    first = create_hit(turk, UniqueRequestToken="one")

    clock.advance(timedelta(hours=24, seconds=-5))
    code = code_of(turk.create_hit, **hit_params(UniqueRequestToken="one"))
    clock.advance(timedelta(seconds=10))
    second = create_hit(turk, UniqueRequestToken="one")

    assert code == "HitAlreadyExists"
    assert first != second
    assert code_of(turk.create_hit, **hit_params(UniqueRequestToken="one")) == "HitAlreadyExists"


def test_a_refused_call_does_not_use_up_its_token(turk: Any) -> None:
    Account.objects.create(pk=1, balance_cents=0)
    assert code_of(turk.create_hit, **hit_params(UniqueRequestToken="one")) == "InsufficientFunds"
    Account.objects.update(balance_cents=1000)

    assert create_hit(turk, UniqueRequestToken="one")


def test_a_bonus_with_the_same_token_is_paid_once(turk: Any, alice: Worker, clock: Clock) -> None:
    assignment_id = do_hit(create_hit(turk), alice)
    bonus = {"WorkerId": alice.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.10", "Reason": "Thanks"}
    turk.send_bonus(**bonus, UniqueRequestToken="one")

    code = code_of(turk.send_bonus, **bonus, UniqueRequestToken="one")

    assert code == "DuplicateRequest"
    assert turk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 1
    clock.advance(timedelta(hours=25))
    turk.send_bonus(**bonus, UniqueRequestToken="one")
    assert turk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 2


def test_assignments_with_the_same_token_are_added_once(turk: Any) -> None:
    hit_id = create_hit(turk, MaxAssignments=2)
    more = {"HITId": hit_id, "NumberOfAdditionalAssignments": 3, "UniqueRequestToken": "one"}
    turk.create_additional_assignments_for_hit(**more)

    assert code_of(turk.create_additional_assignments_for_hit, **more) == "DuplicateRequest"
    assert get_hit(turk, hit_id)["MaxAssignments"] == 5
