import http.client
import json
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError
from django.test import Client
from pytest_django import Settings

from localturk.operations import NOT_OFFERED, OPERATIONS
from localturk.requester_api import TARGET_PREFIX, handle
from localturk.server import MarketplaceServer
from localturk.validation import service_model
from tests.localturk.acting import create_hit
from tests.localturk.conftest import boto_client

JSON = "application/x-amz-json-1.1"


def test_every_operation_of_the_service_model_is_answered() -> None:
    assert sorted([*OPERATIONS, *NOT_OFFERED]) == sorted(service_model().operation_names)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("get_file_upload_url", {"AssignmentId": "3A", "QuestionIdentifier": "q"}),
        ("list_review_policy_results_for_hit", {"HITId": "3A"}),
        ("update_notification_settings", {"HITTypeId": "3A", "Active": False}),
    ],
)
def test_what_is_not_offered_says_so(db: None, in_process_turk: Any, method: str, params: dict[str, Any]) -> None:
    with pytest.raises(ClientError, match="not offered by the local marketplace"):
        getattr(in_process_turk, method)(**params)


@pytest.mark.parametrize(
    ("operation", "body", "code"),
    [
        ("MakeCoffee", b"{}", "AWS.MechanicalTurk.InvalidOperation"),
        ("", b"{}", "AWS.MechanicalTurk.InvalidOperation"),
        ("GetHIT", b"{", "SerializationException"),
        ("GetHIT", b"[]", "SerializationException"),
        ("GetHIT", b"\xff", "SerializationException"),
        ("GetHIT", b"{}", "AWS.MissingParameters"),
        ("GetHIT", b'{"HITId": 7}', "AWS.MechanicalTurk.InvalidParameterValue"),
        ("GetHIT", b'{"HITId": null}', "AWS.MechanicalTurk.InvalidParameterValue"),
        ("GetHIT", b'{"HITId": "3A", "Colour": "red"}', "AWS.MechanicalTurk.InvalidParameterValue"),
        ("ListHITs", b'{"MaxResults": 0}', "AWS.MechanicalTurk.InvalidParameterValue"),
        ("UpdateExpirationForHIT", b'{"HITId": "3A", "ExpireAt": "soon"}', "AWS.MechanicalTurk.InvalidParameterValue"),
    ],
)
def test_a_broken_request_is_an_error_in_the_shape_of_the_wire(
    db: None, operation: str, body: bytes, code: str
) -> None:
    status, headers, answer = handle(operation, body)

    error = json.loads(answer)
    assert (status, headers["Content-Type"]) == (400, JSON)
    assert (error["__type"], error["TurkErrorCode"]) == ("RequestError", code)
    assert error["Message"]


def test_times_are_numbers_on_the_wire(db: None, in_process_turk: Any) -> None:
    hit_id = create_hit(in_process_turk)

    _, _, answer = handle("GetHIT", json.dumps({"HITId": hit_id}).encode())

    assert isinstance(json.loads(answer)["HIT"]["CreationTime"], float)


def test_the_web_process_answers_too_and_asks_for_no_login(db: None, in_process_turk: Any) -> None:
    hit_id = create_hit(in_process_turk)
    client = Client(enforce_csrf_checks=True)
    target = {"X-Amz-Target": f"{TARGET_PREFIX}GetHIT"}

    answer = client.post("/localturk/api/", json.dumps({"HITId": hit_id}), content_type=JSON, headers=target)

    assert (answer.status_code, answer["Content-Type"]) == (200, JSON)
    assert json.loads(answer.content)["HIT"]["HITId"] == hit_id
    assert client.get("/localturk/api/").status_code == 405


@pytest.mark.parametrize(("name", "value"), [("LOCAL_MARKET", False), ("MTURK_ENVIRONMENT", "production")])
def test_the_web_process_answers_only_while_the_marketplace_is_open(
    db: None, settings: Settings, name: str, value: object
) -> None:
    setattr(settings, name, value)
    target = {"X-Amz-Target": f"{TARGET_PREFIX}ListHITs"}

    assert Client().post("/localturk/api/", "{}", content_type=JSON, headers=target).status_code == 404
    assert Client().get("/market/").status_code == 404


def test_an_open_connection_keeps_nobody_waiting(transactional_db: None, localturk_url: str) -> None:
    idle = http.client.HTTPConnection(urlsplit(localturk_url).netloc, timeout=10)
    headers = {"X-Amz-Target": f"{TARGET_PREFIX}GetAccountBalance", "Content-Type": JSON}
    for _ in range(2):
        idle.request("POST", "/", b"{}", headers)
        assert idle.getresponse().read()

    assert boto_client(localturk_url).get_account_balance()["AvailableBalance"] == "10000.00"
    idle.close()


def test_only_the_root_is_served(localturk_url: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(localturk_url).netloc, timeout=10)

    connection.request("POST", "/elsewhere", b"{}")

    assert connection.getresponse().status == 404
    connection.close()


def test_a_server_that_is_asked_to_tells_each_call_with_its_status(transactional_db: None) -> None:
    told: list[str] = []
    server = MarketplaceServer("127.0.0.1", 0, told.append)
    server.daemon_threads = False  # so that closing it waits for their connections to the database
    threading.Thread(target=server.serve_forever).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)

    for operation in ("GetAccountBalance", "GetHIT"):
        connection.request("POST", "/", b"{}", {"X-Amz-Target": f"{TARGET_PREFIX}{operation}", "Content-Type": JSON})
        connection.getresponse().read()

    connection.close()
    server.shutdown()
    server.server_close()
    assert told == ["GetAccountBalance 200", "GetHIT 400"]
