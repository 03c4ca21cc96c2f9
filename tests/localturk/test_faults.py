import time
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from django.core.management import CommandError, call_command

from localturk.faults import Kind, add_fault, add_process_fault, clear_faults
from localturk.models import TurkHit
from tests.localturk.acting import code_of, create_hit, hit_params
from tests.localturk.conftest import StartServer, boto_client


def outcomes(turk: Any, calls: int) -> str:
    """One letter a call: . for an answer, T for throttled, S for a service fault."""
    seen = ""
    for _ in range(calls):
        try:
            turk.get_account_balance()
            seen += "."
        except ClientError as error:
            seen += str(error.response["Error"]["Code"])[0]
    return seen


def test_calls_above_the_rate_are_throttled(turk: Any) -> None:
    add_fault(Kind.THROTTLE, 3)

    seen = outcomes(turk, 6)

    assert seen.startswith("...")
    assert "T" in seen


def test_adaptive_retries_get_through_a_throttled_server(start_server: StartServer) -> None:
    turk = boto_client(start_server("--throttle", "20"), mode="adaptive", total_max_attempts=12)

    for _ in range(40):
        create_hit(turk)

    assert TurkHit.objects.count() == 40


def test_a_service_fault_happens_before_anything_is_done(turk: Any) -> None:
    add_fault(Kind.FAIL_BEFORE, times_left=1)

    with pytest.raises(ClientError) as caught:
        create_hit(turk)
    made = create_hit(turk)

    assert caught.value.response["Error"]["Code"] == "ServiceFault"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert [hit.hit_id for hit in TurkHit.objects.all()] == [made]


def test_a_service_fault_may_come_although_the_call_acted(turk: Any) -> None:
    add_fault(Kind.FAIL_AFTER, times_left=1)

    with pytest.raises(ClientError) as caught:
        create_hit(turk)

    assert caught.value.response["Error"]["Code"] == "ServiceFault"
    assert TurkHit.objects.count() == 1


def test_a_dropped_connection_leaves_a_hit_behind(turk: Any) -> None:
    add_fault(Kind.DROP_AFTER, times_left=1)

    with pytest.raises(ConnectionClosedError):
        create_hit(turk, UniqueRequestToken="one")

    assert TurkHit.objects.count() == 1
    assert code_of(turk.create_hit, **hit_params(UniqueRequestToken="one")) == "HitAlreadyExists"


def test_funds_run_out_on_request_and_only_where_money_is_needed(turk: Any) -> None:
    add_fault(Kind.INSUFFICIENT_FUNDS)

    assert code_of(turk.create_hit, **hit_params()) == "InsufficientFunds"
    assert turk.get_account_balance()["AvailableBalance"] == "10000.00"


def test_an_answer_is_as_late_as_asked_for(turk: Any) -> None:
    add_fault(Kind.LATENCY, 120)
    began = time.monotonic()

    turk.get_account_balance()

    assert time.monotonic() - began >= 0.12


def test_a_fault_strikes_only_what_it_is_meant_for(turk: Any) -> None:
    add_fault(Kind.FAIL_BEFORE, operation="CreateHIT,GetHIT")

    with pytest.raises(ClientError):
        create_hit(turk)
    assert outcomes(turk, 3) == "..."


def test_the_same_seed_gives_the_same_faults(turk: Any) -> None:
    seen = []
    for seed in (1, 1, 2):
        clear_faults()
        add_fault(Kind.FAIL_BEFORE, probability=0.5, seed=seed)
        seen.append(outcomes(turk, 20))

    assert seen[0] == seen[1] != seen[2]
    assert 4 <= seen[0].count("S") <= 16


def test_faults_of_a_process_are_its_own(transactional_db: None, in_process_turk: Any, http_turk: Any) -> None:
    add_process_fault(Kind.FAIL_BEFORE, times_left=2)

    assert outcomes(http_turk, 1) == "."
    assert outcomes(in_process_turk, 3) == "SS."


def test_a_server_is_told_its_faults_when_it_starts(start_server: StartServer) -> None:
    options = ["--latency-ms", "60", "--drop-after", "1", "--fail-before", "1", "--insufficient-funds"]
    turk = boto_client(start_server(*options, "--operations", "CreateHIT", "--times", "1", "--seed", "3"))
    began = time.monotonic()

    with pytest.raises(ClientError):
        create_hit(turk)

    assert time.monotonic() - began >= 0.06
    assert create_hit(turk)
    assert outcomes(turk, 2) == ".."


def test_a_taken_port_is_one_clear_line(transactional_db: None, localturk_url: str) -> None:
    with pytest.raises(CommandError, match="Address already in use"):
        call_command("localturk", port=int(localturk_url.rpartition(":")[2]))


def test_a_list_that_lags_leaves_out_what_is_young_and_the_hit_itself_does_not(turk: Any) -> None:
    made = create_hit(turk)
    add_fault(Kind.LIST_LAG, 3600)

    assert turk.list_hits()["HITs"] == []
    assert turk.get_hit(HITId=made)["HIT"]["HITId"] == made
    clear_faults()
    assert [hit["HITId"] for hit in turk.list_hits()["HITs"]] == [made]


def test_pages_by_offset_skip_and_repeat_when_rows_come_and_go(turk: Any) -> None:
    made = [create_hit(turk) for _ in range(6)][::-1]
    add_fault(Kind.OFFSET_PAGES, 2)

    first = turk.list_hits(MaxResults=100)
    TurkHit.objects.filter(hit_id=made[0]).delete()
    second = turk.list_hits(MaxResults=100, NextToken=first["NextToken"])
    create_hit(turk)
    third = turk.list_hits(MaxResults=100, NextToken=second["NextToken"])

    pages = [[hit["HITId"] for hit in page["HITs"]] for page in (first, second, third)]
    assert pages == [made[:2], made[3:5], made[4:6]]  # the third is left out, the fifth comes twice
