"""Calls to the local marketplace's API by who has no keys, or has overheard a signed call."""

import http.client
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from pytest_django import Settings

from hits.crowds.mturk.crowd import connect
from localturk.server import MarketplaceServer

KEY_ID, SECRET = "AKIAOURS", "thirty-characters-and-not-known"
TARGET = "MTurkRequesterServiceV20170117."
JSON = "application/x-amz-json-1.1"


@pytest.fixture
def keys(settings: Settings) -> None:
    settings.LOCAL_MARKET_KEY_ID, settings.LOCAL_MARKET_SECRET_KEY = KEY_ID, SECRET


@pytest.fixture(params=["manage.py localturk", "the web server"])
def url(request: pytest.FixtureRequest, transactional_db: None, keys: None) -> Iterator[str]:
    if request.param == "the web server":
        yield f"{request.getfixturevalue('live_server').url}/localturk/api/"
        return
    server = MarketplaceServer("127.0.0.1", 0)
    server.daemon_threads = False  # so that closing it waits for their connections to the database
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def turk(url: str, key_id: str, secret: str) -> Any:
    return boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )


def test_the_right_keys_open_and_no_others_do(url: str) -> None:
    client = turk(url, KEY_ID, SECRET)
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"

    for key_id, secret in [(KEY_ID, "another"), ("AKIATHEIRS", SECRET), ("local", "local"), ("any", "any")]:
        with pytest.raises(ClientError, match="UnrecognizedClientException"):
            turk(url, key_id, secret).get_account_balance()


def signed_headers(url: str, body: bytes, operation: str = "GetAccountBalance", **more: str) -> dict[str, str]:
    request = AWSRequest("POST", url, {"X-Amz-Target": TARGET + operation, "Content-Type": JSON, **more}, body)
    SigV4Auth(Credentials(KEY_ID, SECRET), "mturk-requester", "us-east-1").add_auth(request)
    return dict(request.headers)


def answer_to(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("POST", parts.path, body, headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer.get("__type", "")


def test_a_call_that_was_overheard_can_be_changed_in_no_part(url: str) -> None:
    body = b'{"HITId": "3OURS"}'
    headers = signed_headers(url, body, "GetHIT")
    another_body = b'{"HITId": "3THEIRS"}'

    assert answer_to(url, body, headers) == (400, "RequestError")  # there is no such HIT: the signature was right
    for changed_body, changed in [
        (another_body, {}),
        (body, {"X-Amz-Target": f"{TARGET}DeleteHIT"}),
        (body, {"X-Amz-Date": f"{datetime.now(UTC) + timedelta(seconds=60):%Y%m%dT%H%M%SZ}"}),
        (body, {"Authorization": headers["Authorization"].replace("us-east-1", "us-east-2")}),
        (body, {"Authorization": headers["Authorization"].replace("x-amz-date;x-amz-target", "x-amz-date")}),
        (body, {"Authorization": headers["Authorization"][:-64] + "0" * 64}),
        (body, {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIAOURS"}),
        (body, {"Authorization": ""}),
    ]:
        assert answer_to(url, changed_body, {**headers, **changed})[0] == 403


def test_a_hash_that_the_caller_names_does_not_stand_in_for_the_body(url: str) -> None:
    """botocore itself would believe the header X-Amz-Content-SHA256."""
    body = b'{"HITId": "3OURS"}'
    request_hash = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # of {}
    headers = signed_headers(url, b"{}", "GetHIT", **{"X-Amz-Content-SHA256": request_hash})

    assert answer_to(url, body, headers) == (403, "UnrecognizedClientException")


def test_a_call_of_yesterday_is_over(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    six_minutes_ago = datetime.now(UTC) - timedelta(minutes=6)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: six_minutes_ago)
    headers = signed_headers(url, b"{}")

    assert answer_to(url, b"{}", headers) == (403, "RequestExpired")


def test_our_own_client_signs_with_the_keys_of_the_settings(url: str, settings: Settings) -> None:
    settings.MTURK_LOCAL_URL = url

    assert connect().balance_cents() == 10_000_00


@pytest.mark.django_db
def test_in_process_needs_no_keys(keys: None) -> None:
    assert connect().balance_cents() == 10_000_00
