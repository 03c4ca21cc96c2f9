"""Prolific away, or its keys lying: who gets the code that pays, who is turned away, and where the token goes."""

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from evalplatform.environment import BadSettings, read_environment
from evalplatform.errors import EvalPlatformError
from hits.crowds.noting import crowd_notes
from hits.crowds.prolific.link_tokens import KeyStore, Verdict, check_token
from hits.crowds.prolific.prolific_transport import Answer, AnswerLost, Transport, token_for
from hits.models import Assignment, Offering
from localprolific import misbehaving, participating
from localprolific.panel_clock import Clock
from localprolific.signed_links import key_set, sign
from tests.hits.prolific_people import Rater, study_there
from tests.hits.prolific_study import drafted, ledger, no_faults, offering, sync_now
from tests.hits.working import page_data

__all__ = ["drafted", "no_faults", "offering"]


def invented(offering: Offering) -> dict[str, str]:
    there = {"STUDY_ID": study_there(offering).study_id, "prolific": "local"}
    return {"PROLIFIC_PID": "a" * 24, "SESSION_ID": "b" * 24, **there}


def work(client: Client, page: dict[str, Any]) -> Any:
    """Agree, answer everything alike, and hand in."""
    headers = {"Authorization": f"Assignment {page['token']}"}
    dialogs = [
        {"position": position, "revision": 0, "areas": {str(place): "good" for place in range(len(dialog["cards"]))}}
        for position, dialog in enumerate(page["dialogs"])
    ]
    answer = None
    for name, body in [("save", {"consent": page["consent_version"], "dialogs": []}), ("submit", {"dialogs": dialogs})]:
        answer = client.post(f"/work/api/{name}/", json.dumps(body), "application/json", headers=headers)
        assert answer.status_code == 200, answer.content.decode()
    return answer.json() if answer else None


def test_somebody_whom_prolific_never_sent_gets_no_code_that_pays(offering: Offering) -> None:
    """Whoever asks often enough is why Prolific answers 429, and everybody finishes with the same code."""
    misbehaving.add_process_fault("throttle", operation="show_submission")
    client = Client()

    opened = client.get(f"/work/{offering.study.key}/", invented(offering))
    told = work(client, page_data(opened.content.decode()))

    assert crowd_notes(offering)["code finished"] not in json.dumps(told)
    assert told["way"] == "code"


def test_whoever_came_while_prolific_was_away_finishes_as_always(offering: Offering) -> None:
    misbehaving.add_process_fault("throttle", operation="show_submission", times_left=2)
    back, away = Rater(offering, "back"), Rater(offering, "away")

    back.finish()  # Prolific answers again when they hand in
    misbehaving.add_process_fault("throttle", operation="show_submission", times_left=4)
    away.open()
    told = away.submit(away.win()).json()
    misbehaving.clear_process_faults()
    participating.complete(away.who, told["code"], Clock().now())
    for _ in range(2):
        sync_now(offering)

    assert told["way"] == "code"
    assert [kind for kind, _, _ in ledger(offering)] == ["bonus", "bonus", "reward", "reward"]
    assert all(paid_by == "our call" for _, _, paid_by in ledger(offering))
    assert not Assignment.objects.filter(confirmed_at=None).exists()


class Lying(KeyStore):
    """Reads its keys from somewhere else than Prolific."""

    def __init__(self, shape: object) -> None:
        super().__init__("production")
        self.shape, self.looks = shape, 0

    def _read(self, transport: Transport) -> dict[str, Any]:
        self.looks += 1

        def answer(*_: object) -> Answer:
            if self.shape is None:
                raise AnswerLost("it hangs")
            return Answer(200, {}, json.dumps(self.shape).encode())

        return KeyStore._read(self, answer)  # type: ignore[arg-type]


def signed(offering: Offering) -> tuple[str, dict[str, str]]:
    there = Rater(offering).reserve().there
    names = {"participant_id": there.participant.participant_id, "study_id": there.study.study_id}
    return sign(there, there.url), {**names, "submission_id": there.submission_id}


def test_one_odd_key_turns_nobody_away(offering: Offering) -> None:
    token, ids = signed(offering)
    odd: list[object] = [{"kty": "RSA", "kid": "odd", "n": "!", "e": "AQAB"}, {"kty": "RSA", "kid": "empty"}, "text"]

    assert check_token(token, "production", ids, Lying({"keys": [*odd, *key_set()["keys"]]})) == Verdict.GOOD


@pytest.mark.parametrize("shape", [[], "text", {"keys": None}, {"keys": "text"}], ids=str)
def test_a_key_set_that_is_none_decides_nothing(offering: Offering, shape: object) -> None:
    token, ids = signed(offering)

    assert check_token(token, "production", ids, Lying(shape)) == Verdict.UNDECIDED


def test_keys_that_can_not_be_had_are_not_waited_for_by_everybody(offering: Offering) -> None:
    token, ids = signed(offering)
    store = Lying(None)

    verdicts = {check_token(token, "production", ids, store) for _ in range(5)}

    assert (verdicts, store.looks) == ({Verdict.UNDECIDED}, 1)


def test_the_real_token_goes_to_no_local_prolific(db: None, settings: Settings) -> None:
    settings.PROLIFIC_ENVIRONMENT, settings.PROLIFIC_TOKEN = "production", "the-real-one"
    settings.PROLIFIC_LOCAL_URL = "http://127.0.0.1:8010"

    with pytest.raises(EvalPlatformError, match="goes to no other address"):
        token_for("local", "GBP")


def test_a_local_prolific_is_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROLIFIC_LOCAL_URL", "http://prolific.example")

    with pytest.raises(BadSettings, match="must be an address of this machine"):
        read_environment()
