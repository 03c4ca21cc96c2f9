"""A workspace, its token and a cast. `prolific` speaks to the local one, once in process and once over HTTP."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from localprolific import misbehaving
from localprolific.in_process import Response, handle, issue_token
from localprolific.models import Participant
from localprolific.panel_clock import Clock
from localprolific.seeding import ensure_participants

CODES = [
    {"code": "DONE1", "code_type": "COMPLETED", "actor": "participant", "actions": [{"action": "MANUALLY_REVIEW"}]},
    {"code": "GOOD1", "code_type": "OTHER", "actor": "participant", "actions": [{"action": "AUTOMATICALLY_APPROVE"}]},
    {"code": "OURS1", "code_type": "OTHER", "actor": "researcher", "actions": [{"action": "MANUALLY_REVIEW"}]},
]
STUDY = {
    "name": "Rate replies",
    "internal_name": "meed2 7f3a",
    "description": "Read dialogs and rate the replies.",
    "external_study_url": "https://eval.example.org/work/?PROLIFIC_PID={{%PROLIFIC_PID%}}"
    "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    "prolific_id_option": "url_parameters",
    "completion_codes": CODES,
    "total_available_places": 3,
    "estimated_completion_time": 10,
    "maximum_allowed_time": 40,
    "reward": 150,
    "device_compatibility": ["desktop", "tablet"],
}


class ProlificApi:
    """A client that says what it wants and shows what comes back, without repeating anything."""

    def __init__(self, token: str) -> None:
        self.token = token

    def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Response:
        return handle(method, path, body, headers)

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Token {token or self.token}", "Content-Type": "application/json"}
        raw = b"" if body is None else json.dumps(body).encode()
        answer = self.send(method, f"/api/v1/{path}", raw, headers)
        return answer.status, json.loads(answer.body) if answer.body else None

    def get(self, path: str) -> Any:
        return self._done("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self._done("POST", path, body)

    def patch(self, path: str, body: Any) -> Any:
        return self._done("PATCH", path, body)

    def delete(self, path: str, body: Any = None) -> Any:
        return self._done("DELETE", path, body)

    def _done(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.call(method, path, body)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer}"
        return answer

    # What tests do most

    def draft(self, **changes: Any) -> str:
        return str(self.post("studies/", {**STUDY, **changes})["id"])

    def publish(self, **changes: Any) -> str:
        study_id = self.draft(**changes)
        self.post(f"studies/{study_id}/transition/", {"action": "PUBLISH"})
        Clock().advance(timedelta(seconds=3))
        return study_id

    def workspace_id(self) -> str:
        return str(self.get("workspaces/")["results"][0]["id"])

    def balance(self) -> tuple[int, int]:
        """What is there in all, and what of it is free."""
        found = self.get(f"workspaces/{self.workspace_id()}/balance/")
        return found["total_balance"], found["available_balance"]

    def status_of(self, submission_id: str) -> str:
        return str(self.get(f"submissions/{submission_id}/")["status"])

    def study_status(self, study_id: str) -> str:
        return str(self.get(f"studies/{study_id}/")["status"])

    def bonuses_of(self, submission_id: str) -> list[int]:
        return list(self.get(f"submissions/{submission_id}/")["bonus_payments"])


def this_machine() -> Client:
    """A client that asks for this machine by its name, as a browser here does."""
    return Client(headers={"Host": "localhost"})


class HttpProlificApi(ProlificApi):
    def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Response:
        answer = this_machine().generic(method, f"/localprolific{path}", body, headers=headers)
        return Response(answer.status_code, dict(answer.headers), answer.content)


@pytest.fixture(params=["in-process", "http"])
def prolific(request: pytest.FixtureRequest, db: None) -> ProlificApi:
    return (ProlificApi if request.param == "in-process" else HttpProlificApi)(issue_token("GBP"))


@pytest.fixture
def api(db: None) -> ProlificApi:
    return ProlificApi(issue_token("GBP"))


@pytest.fixture
def clock(db: None) -> Clock:
    return Clock()


@pytest.fixture
def people(db: None) -> dict[str, Participant]:
    return {one.name: one for one in ensure_participants()}


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    yield
    misbehaving.clear_process_faults()
