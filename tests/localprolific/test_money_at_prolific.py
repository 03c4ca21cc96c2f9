"""Wallet, costs and bonuses. Letters say how sure the facts are: A to D, as in localprolific/behaviour.py."""

from datetime import timedelta

import pytest

from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from localprolific.errors import AnswerLost
from localprolific.in_process import issue_token
from localprolific.models import Participant, WalletEntry
from localprolific.panel_clock import Clock
from tests.localprolific.conftest import ProlificApi
from tests.localprolific.taking_part import do

People = dict[str, Participant]
FIRST = 1_000_000
PLACE = 150 + 50 + 10  # a reward of 150, its fee of 33.3 % and VAT of 20 % on the fee


def test_publishing_holds_the_cost_of_all_places(prolific: ProlificApi) -> None:  # A
    prolific.publish()

    assert prolific.balance() == (FIRST, FIRST - 3 * PLACE)


def test_the_calculator_and_the_study_say_what_publishing_holds(prolific: ProlificApi) -> None:  # A, the fee C
    study_id = prolific.draft()

    calculated = prolific.post("study-cost-calculator/", {"reward": 150, "total_available_places": 3})
    cost = prolific.get(f"studies/{study_id}/cost/")["rewards"]

    assert calculated == {"total_cost": 3 * PLACE}
    assert {name: one["amount"] for name, one in cost.items()} == {"rewards": 450, "fees": 150, "tax": 30}
    assert {one["currency"] for one in cost.values()} == {"GBP"}


def test_money_follows_each_submission(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish()
    paid, refused = do(study_id, people["Asha"]), do(study_id, people["Ben"])
    seen = [api.balance()]

    api.post(f"submissions/{paid}/transition/", {"action": "APPROVE"})
    seen.append(api.balance())
    api.post(f"submissions/{refused}/transition/", REJECTION)
    seen.append(api.balance())
    api.post(f"studies/{study_id}/transition/", {"action": "STOP"})
    seen.append(api.balance())

    assert seen == [
        (FIRST, FIRST - 3 * PLACE),
        (FIRST - PLACE, FIRST - 3 * PLACE),
        (FIRST - PLACE, FIRST - 3 * PLACE),  # the place that became free may be taken again
        (FIRST - PLACE, FIRST - PLACE),
    ]


def test_approving_twice_pays_once(api: ProlificApi, people: People) -> None:  # A
    submission_id = do(api.publish(), people["Asha"])

    for _ in range(3):
        api.post(f"submissions/{submission_id}/transition/", {"action": "APPROVE"})

    assert WalletEntry.objects.count() == 1
    assert api.balance()[0] == FIRST - PLACE


def test_a_bonus_list_is_in_pounds_and_its_answer_in_pence(prolific: ProlificApi, people: People) -> None:  # A
    study_id = prolific.publish()
    first, second = do(study_id, people["Asha"]), do(study_id, people["Ben"])

    made = prolific.post(
        "submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": f"{first},8\n{second},0.50"}
    )

    assert made["amount"] == 850
    assert (made["fees"], made["vat"], made["total_amount"]) == (283.05, 56.61, 1189.66)


def test_creating_a_bonus_list_moves_no_money_however_often(api: ProlificApi, people: People) -> None:  # A
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])
    before = api.balance()

    made = {bonus_list(api, study_id, f"{submission_id},30") for _ in range(3)}

    assert len(made) == 3
    assert api.balance() == before
    assert api.bonuses_of(submission_id) == []


def test_paying_a_list_pays_minutes_later_and_shows_pence(prolific: ProlificApi, clock: Clock, people: People) -> None:
    """A."""
    study_id = prolific.publish()
    submission_id = do(study_id, people["Asha"], "GOOD1")
    list_id = bonus_list(prolific, study_id, f"{submission_id},0.50")

    status, _ = prolific.call("POST", f"bulk-bonus-payments/{list_id}/pay/")
    at_once = prolific.bonuses_of(submission_id)
    clock.advance(timedelta(minutes=2))

    assert status == 202
    assert at_once == []
    assert prolific.bonuses_of(submission_id) == [50]
    assert prolific.balance()[0] == FIRST - PLACE - 70  # 50, a fee of 16.65 and VAT of 3.33 on it


def test_the_same_list_twice_pays_twice(api: ProlificApi, clock: Clock, people: People) -> None:  # A
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])
    list_id = bonus_list(api, study_id, f"{submission_id},0.50")

    for _ in range(2):
        api.post(f"bulk-bonus-payments/{list_id}/pay/")
    clock.advance(timedelta(minutes=2))

    assert api.bonuses_of(submission_id) == [50, 50]


def test_a_payment_whose_answer_is_lost_is_made(api: ProlificApi, clock: Clock, people: People) -> None:
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])
    list_id = bonus_list(api, study_id, f"{submission_id},0.50")
    misbehaving.add_fault("drop-after", operation="pay_bonus_payments", times_left=1)

    with pytest.raises(AnswerLost):
        api.post(f"bulk-bonus-payments/{list_id}/pay/")
    clock.advance(timedelta(minutes=2))

    assert api.bonuses_of(submission_id) == [50]


def test_a_bonus_can_be_kept_from_sight_for_minutes(api: ProlificApi, clock: Clock, people: People) -> None:
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])
    misbehaving.add_fault("bonus-lag", amount=600, operation="pay_bonus_payments")

    api.post(f"bulk-bonus-payments/{bonus_list(api, study_id, f'{submission_id},1')}/pay/")
    seen = []
    for minutes in (2, 8, 2):
        clock.advance(timedelta(minutes=minutes))
        seen.append(api.bonuses_of(submission_id))

    assert seen == [[], [], [100]]


@pytest.mark.parametrize(
    "line", ["{id};1", "{id},1.234", "{id},-1", "{id},0", "=1+1,2", "{id}", "ffffffffffffffffffffffff,1", ""]
)
def test_a_line_that_is_no_bonus_is_refused(api: ProlificApi, people: People, line: str) -> None:  # A that it must be
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])

    body = {"study_id": study_id, "csv_bonuses": line.format(id=submission_id)}
    status, answer = api.call("POST", "submissions/bonus-payments/", body)

    assert status == 400
    assert "csv_bonuses" in answer["error"]["detail"]


def test_a_line_may_name_the_participant(api: ProlificApi, clock: Clock, people: People) -> None:  # A
    study_id = api.publish()
    submission_id = do(study_id, people["Asha"])

    list_id = bonus_list(api, study_id, f"{people['Asha'].participant_id},1")
    api.post(f"bulk-bonus-payments/{list_id}/pay/")
    clock.advance(timedelta(minutes=2))

    assert api.bonuses_of(submission_id) == [100]


def test_a_long_list_is_refused_at_a_limit_that_can_be_set(api: ProlificApi, people: People) -> None:  # C
    study_id = api.publish()
    ids = [do(study_id, people[name]) for name in ("Asha", "Ben")]
    body = {"study_id": study_id, "csv_bonuses": "\n".join(f"{one},1" for one in ids)}
    set_behaviour(most_bonus_rows=1)

    assert api.call("POST", "submissions/bonus-payments/", body)[0] == 400
    set_behaviour(most_bonus_rows=2)
    assert api.call("POST", "submissions/bonus-payments/", body)[0] == 201


def test_an_empty_wallet_refuses_to_publish_and_to_pay(db: None, people: People) -> None:  # A
    api = ProlificApi(issue_token("USD", balance_cents=PLACE + 10))
    study_id = api.publish(total_available_places=1)
    submission_id = do(study_id, people["Asha"])
    list_id = bonus_list(api, study_id, f"{submission_id},1")

    answers = [
        api.call("POST", f"bulk-bonus-payments/{list_id}/pay/"),
        api.call("POST", f"studies/{api.draft()}/transition/", {"action": "PUBLISH"}),
    ]

    assert [status for status, _ in answers] == [400, 400]
    assert all("funds" in answer["error"]["detail"] for _, answer in answers)
    assert api.balance() == (PLACE + 10, 10)


def test_a_busy_wallet_answers_429(api: ProlificApi, people: People) -> None:  # A
    set_behaviour(wallet_busy_seconds=60)
    study_id = api.draft()
    api.post(f"studies/{study_id}/transition/", {"action": "PUBLISH"})

    status, answer = api.call("POST", f"studies/{api.draft()}/transition/", {"action": "PUBLISH"})

    assert (status, answer["error"]["status"]) == (429, 429)
    assert api.call("GET", f"studies/{study_id}/")[0] == 200


REJECTION = {
    "action": "REJECT",
    "rejection_category": "LOW_EFFORT",
    "message": "You gave the same answer to every one of the forty questions, in less than two seconds each, "
    "although the task asked you to read.",
}


def bonus_list(api: ProlificApi, study_id: str, lines: str) -> str:
    return str(api.post("submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": lines})["id"])
