"""Webhooks: secrets, confirmation, signatures, retries. Letters say how sure the facts are: A to D."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from localprolific.hook_sending import deliver_due, post
from localprolific.models import Participant
from localprolific.panel_clock import Clock
from tests.localprolific.conftest import ProlificApi
from tests.localprolific.taking_part import begin, do

People = dict[str, Participant]
TARGET = "http://127.0.0.1:9/hooks/"


@dataclass
class Receiver:
    """Takes deliveries, or answers as it is told."""

    status: int = 200
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        assert url == TARGET
        self.got.append((dict(headers), body))
        return self.status

    def events(self) -> list[Any]:
        return [json.loads(body) for _, body in self.got]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def subscribe(api: ProlificApi, event_type: str, confirmed: bool = True) -> tuple[str, str]:
    """The subscription's id, and the secret that signs."""
    workspace_id = api.workspace_id()
    secret = api.post("hooks/secrets/", {"workspace_id": workspace_id})["value"]
    body = {"workspace_id": workspace_id, "event_type": event_type, "target_url": TARGET}
    headers = {"Authorization": f"Token {api.token}"}
    answer = api.send("POST", "/api/v1/hooks/subscriptions/", json.dumps(body).encode(), headers)
    assert answer.status == 201
    subscription_id = json.loads(answer.body)["id"]
    if confirmed:
        api.post(f"hooks/subscriptions/{subscription_id}/", {"secret": answer.headers["X-Hook-Secret"]})
    return subscription_id, secret


def test_each_change_of_a_submission_is_told_with_a_signature(
    prolific: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A, raw bytes B
    _, secret = subscribe(prolific, "submission.status.change")
    submission_id = do(prolific.publish(), people["Asha"])

    deliver_due(clock.now(), receiver)

    assert [(one["resource_id"], one["status"]) for one in receiver.events()] == [
        (submission_id, "ACTIVE"),
        (submission_id, "AWAITING REVIEW"),
    ]
    assert {one["participant_id"] for one in receiver.events()} == {people["Asha"].participant_id}
    for headers, body in receiver.got:
        signed = headers["X-Prolific-Request-Timestamp"].encode() + body
        expected = base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest()).decode()
        assert headers["X-Prolific-Request-Signature"] == expected
        assert headers["X-Timestamp"]
    assert len({headers["X-Event-ID"] for headers, _ in receiver.got}) == 2


def test_studies_tell_of_their_status_and_progress(
    api: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A
    subscribe(api, "study.status.change")
    subscribe(api, "study.progress.change")
    study_id = api.publish(total_available_places=1)
    do(study_id, people["Asha"])

    deliver_due(clock.now(), receiver)

    told = {(one["event_type"], one.get("status")) for one in receiver.events()}
    assert ("study.status.change", "PUBLISHING") in told
    assert ("study.status.change", "ACTIVE") in told
    assert ("study.status.change", "AWAITING REVIEW") in told
    assert {one["resource_id"] for one in receiver.events()} == {study_id}


def test_a_subscription_must_be_confirmed(
    api: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A
    subscription_id, _ = subscribe(api, "submission.status.change", confirmed=False)
    begin(api.publish(), people["Asha"])

    deliver_due(clock.now(), receiver)

    assert receiver.got == []
    assert api.call("POST", f"hooks/subscriptions/{subscription_id}/", {"secret": "guess"})[0] == 400


def test_a_subscription_needs_a_secret_first(api: ProlificApi) -> None:  # A
    body = {"workspace_id": api.workspace_id(), "event_type": "submission.status.change", "target_url": TARGET}

    assert api.call("POST", "hooks/subscriptions/", body)[0] == 400


def test_a_failed_delivery_is_tried_twelve_times_in_a_day(
    api: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A
    subscription_id, _ = subscribe(api, "submission.status.change")
    begin(api.publish(), people["Asha"])
    receiver.status = 503

    for _ in range(200):
        deliver_due(clock.advance(timedelta(minutes=15)), receiver)

    assert len(receiver.got) == 12
    assert len({headers["X-Event-ID"] for headers, _ in receiver.got}) == 1
    events = api.get(f"hooks/subscriptions/{subscription_id}/events/")["results"]
    assert events[-1]["status"] == "FAILED"  # the first event; another came when the time ran out


def test_a_subscription_that_fails_for_five_days_is_switched_off(
    api: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A
    subscription_id, _ = subscribe(api, "submission.status.change")
    study_id = api.publish(total_available_places=20)
    receiver.status = 500
    for name in ("Asha", "Ben", "Cora", "Dewi", "Eli", "Finn"):
        begin(study_id, people[name])
        deliver_due(clock.advance(timedelta(days=1)), receiver)

    assert api.get(f"hooks/subscriptions/{subscription_id}/")["is_enabled"] is False


def test_a_delivery_can_come_twice_and_late(
    api: ProlificApi, clock: Clock, people: People, receiver: Receiver
) -> None:  # A that both happen
    subscribe(api, "submission.status.change")
    study_id = api.publish()
    misbehaving.add_fault("double-delivery", operation="deliver_event")
    misbehaving.add_fault("late-delivery", amount=30, operation="tell_of_event", times_left=1)

    do(study_id, people["Asha"])
    deliver_due(clock.now(), receiver)
    deliver_due(clock.advance(timedelta(minutes=1)), receiver)

    assert [one["status"] for one in receiver.events()] == ["AWAITING REVIEW"] * 2 + ["ACTIVE"] * 2
    assert len({headers["X-Event-ID"] for headers, _ in receiver.got}) == 2


def test_nothing_is_sent_beyond_this_machine() -> None:
    assert post("https://example.org/hooks/", {}, b"{}") == 0


def test_the_time_that_is_signed_may_have_another_form(
    api: ProlificApi, people: People, receiver: Receiver
) -> None:  # D
    set_behaviour(hook_timestamp="iso")
    _, secret = subscribe(api, "submission.status.change")
    begin(api.publish(), people["Asha"])
    deliver_due(Clock().now(), receiver)

    headers, body = receiver.got[0]
    timestamp = headers["X-Prolific-Request-Timestamp"]
    signed = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    assert datetime.fromisoformat(timestamp).tzinfo is not None
    assert headers["X-Prolific-Request-Signature"] == base64.b64encode(signed).decode()


def test_the_answer_to_a_subscription_may_lack_its_proof(api: ProlificApi) -> None:  # D
    set_behaviour(is_hook_proof_answered=False)

    with pytest.raises(KeyError, match="X-Hook-Secret"):
        subscribe(api, "study.status.change")
