"""Many at once, and a server in a process of its own with real connections."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import urllib3
from django.db import connection

from localprolific import participating
from localprolific.errors import Refused
from localprolific.in_process import issue_token
from localprolific.models import BonusOrder, Participant, ProlificStudy, ProlificSubmission, WalletEntry
from localprolific.panel_clock import Clock
from localprolific.seeding import ensure_participants, new_participant
from tests.localprolific.conftest import ProlificApi
from tests.localprolific.taking_part import do
from tests.localprolific.test_money_at_prolific import bonus_list
from tests.localturk_process import database_url
from tests.processes import ROOT, as_a_user_has_it

StartServer = Callable[..., tuple[str, str]]


def at_once(call: Callable[[int], Any], count: int) -> list[Any]:
    def in_thread(number: int) -> Any:
        try:
            return call(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(in_thread, range(count)))


@pytest.fixture
def open_api(transactional_db: None) -> ProlificApi:
    return ProlificApi(issue_token("GBP"))


@pytest.fixture
def start_server(transactional_db: None) -> Iterator[StartServer]:
    """`manage.py localprolific` with options: its address and a token."""
    started: list[subprocess.Popen[str]] = []

    def start(*options: str) -> tuple[str, str]:
        command = [sys.executable, "manage.py", "localprolific", "--port", "0", *options]
        environment = {**as_a_user_has_it(), "DATABASE_URL": database_url()}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        return next(word for word in first.split() if word.startswith("http")), second.split()[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait()


def test_never_more_participants_than_places(open_api: ProlificApi) -> None:
    study = ProlificStudy.objects.get(study_id=open_api.publish(total_available_places=5))
    crowd = [new_participant(str(number)) for number in range(24)]

    def take(number: int) -> bool:
        try:
            participating.reserve(crowd[number], study, Clock().now())
        except Refused:
            return False
        return True

    assert sum(at_once(take, len(crowd))) == 5
    assert ProlificSubmission.objects.count() == 5


def test_money_calls_at_once_meet_429_and_pay_what_they_answered(open_api: ProlificApi) -> None:  # A
    study_id = open_api.publish()
    submission_id = do(study_id, ensure_participants()[0])
    list_id = bonus_list(open_api, study_id, f"{submission_id},1")

    statuses = at_once(lambda _: open_api.call("POST", f"bulk-bonus-payments/{list_id}/pay/")[0], 16)

    assert set(statuses) <= {202, 429}
    assert BonusOrder.objects.count() == statuses.count(202) >= 1
    Clock().advance(timedelta(minutes=2))
    assert len(open_api.bonuses_of(submission_id)) == statuses.count(202)


def test_a_participant_in_many_windows_has_one_place(open_api: ProlificApi) -> None:
    study = ProlificStudy.objects.get(study_id=open_api.publish())
    asha = ensure_participants()[0]

    held = at_once(lambda _: participating.reserve(asha, study, Clock().now()).submission_id, 12)

    assert len(set(held)) == 1


def test_a_payment_is_settled_once_however_many_look(open_api: ProlificApi) -> None:
    study_id = open_api.publish()
    submission_id = do(study_id, ensure_participants()[0], "GOOD1")
    open_api.post(f"bulk-bonus-payments/{bonus_list(open_api, study_id, f'{submission_id},1')}/pay/")
    Clock().advance(timedelta(minutes=2))

    seen = at_once(lambda _: open_api.bonuses_of(submission_id), 16)

    assert seen == [[100]] * 16
    assert WalletEntry.objects.filter(kind=WalletEntry.Kind.BONUS).count() == 1


def test_a_server_of_its_own_answers_and_loses_answers(start_server: StartServer) -> None:
    url, token = start_server("--drop-after", "1", "--operations", "create_group")
    headers = {"Authorization": f"Token {token}"}
    me = urllib3.request("GET", f"{url}/api/v1/users/me/", headers=headers)
    workspace = json.loads(urllib3.request("GET", f"{url}/api/v1/workspaces/", headers=headers).data)["results"][0]

    body = {"name": "Seen", "workspace_id": workspace["id"]}
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.request("POST", f"{url}/api/v1/participant-groups/", json=body, headers=headers, retries=False)

    assert me.status == 200
    shown = urllib3.request(
        "GET", f"{url}/api/v1/participant-groups/?workspace_id={workspace['id']}&limit=1", headers=headers
    )
    page = json.loads(shown.data)
    assert [one["name"] for one in page["results"]] == ["Seen"]
    assert page["_links"]["self"]["href"].startswith(url)
    keys = urllib3.request("GET", f"{url}/.well-known/study/jwks.json")
    assert json.loads(keys.data)["keys"][0]["alg"] == "RS256"
    assert urllib3.request("GET", f"{url}/elsewhere/").status == 404


def test_a_server_knows_the_same_people(start_server: StartServer) -> None:
    start_server()

    assert Participant.objects.filter(name="Asha").count() == 1
