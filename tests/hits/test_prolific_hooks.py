"""What Prolific tells by itself: webhooks, which only wake a sync, and returns, which free places."""

from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from celery import current_app
from django.test import Client
from pytest_django import Settings

from hits.collecting import WAKES_EVERY, note_event
from hits.crowds import HookRefused, open_crowd
from hits.crowds.prolific.prolific_market import ProlificMarket
from hits.crowds.prolific.webhooks import read_hook
from hits.models import Assignment, HookEvent, Offering, Submission
from localprolific import misbehaving, participating
from localprolific.behaviour import set_behaviour
from localprolific.hook_sending import deliver_due, sign
from localprolific.models import HookSecret
from localprolific.panel_clock import Clock
from tests.hits.crowd import now
from tests.hits.prolific_people import Rater
from tests.hits.prolific_study import drafted, no_faults, offering, sync_now

__all__ = ["drafted", "no_faults", "offering"]

ADDRESS = "/work/hooks/prolific/"
BODY = b'{"event_type": "submission.status.change", "resource_id": "5f00a1c3b2d4e6f708192a01"}'


@pytest.fixture
def subscribed(offering: Offering, settings: Settings) -> Offering:
    """The study's workspace tells this server of submissions."""
    market = open_crowd(offering)
    assert isinstance(market, ProlificMarket)
    client, workspace = market._calls.client, market._calls.workspace
    client.once("POST", "hooks/secrets/", {"workspace_id": workspace})
    where = {"target_url": f"http://testserver{ADDRESS}", "event_type": "submission.status.change"}
    made = client.once("POST", "hooks/subscriptions/", {"workspace_id": workspace, **where})
    set_behaviour(publishing_seconds=0, are_unconfirmed_hooks_silent=True)
    from localprolific.models import HookSubscription

    HookSubscription.objects.filter(subscription_id=made["id"]).update(is_confirmed=True)
    settings.PROLIFIC_HOOK_SECRET = HookSecret.objects.get().value
    return offering


def through_the_site(url: str, headers: Mapping[str, str], body: bytes) -> int:
    answer = Client().post(urlsplit(url).path, body, content_type="application/json", headers=dict(headers))
    return answer.status_code


def test_a_webhook_wakes_a_sync_that_asks_prolific_itself(subscribed: Offering, settings: Settings) -> None:
    current_app.conf.task_always_eager = True
    try:
        rater = Rater(subscribed)
        rater.finish()
        delivered = deliver_due(Clock().now(), through_the_site)
    finally:
        current_app.conf.task_always_eager = False

    assert delivered == 2  # began, done
    assert Submission.objects.get().assignment == rater.assignment
    assert HookEvent.objects.filter(wakes=True).count() == 1


def test_an_event_that_comes_twice_counts_once(subscribed: Offering) -> None:
    misbehaving.add_process_fault("double-delivery", operation="deliver_event")
    Rater(subscribed).open()

    statuses: list[int] = []

    def send(url: str, headers: Mapping[str, str], body: bytes) -> int:
        statuses.append(through_the_site(url, headers, body))
        return statuses[-1]

    deliver_due(Clock().now(), send)

    assert statuses == [204, 204]
    assert HookEvent.objects.count() == 1


def test_events_that_come_together_wake_one_sync(db: None) -> None:
    at = now()

    wakes = [note_event("prolific", name, at) for name in ("a", "b", "a")]
    later = note_event("prolific", "c", at + WAKES_EVERY + timedelta(seconds=1))

    assert (wakes, later) == ([True, False, False], True)


def headers(secret: str = "s3cret", body: bytes = BODY, timestamp: str = "") -> dict[str, str]:
    at = timestamp or str(int(now().timestamp()))
    return {
        "X-Prolific-Request-Timestamp": at,
        "X-Prolific-Request-Signature": sign(secret, at, body),
        "X-Event-ID": "e1",
    }


def test_a_good_signature_is_taken_whatever_the_case_of_its_headers() -> None:
    name = read_hook("s3cret", headers(), BODY, now())
    assert read_hook("s3cret", {name.upper(): value for name, value in headers().items()}, BODY, now()) == name


def test_one_call_is_one_event_whatever_its_unsigned_header_says() -> None:
    played_again = headers()
    assert len({read_hook("s3cret", played_again | {"X-Event-ID": one}, BODY, now()) for one in ("e1", "e2")}) == 1


@pytest.mark.parametrize("unit", [1, 1000, 1_000_000])
def test_an_old_call_is_refused_in_whatever_unit_its_time_is(unit: int) -> None:
    month_ago, just_now = (str(int((now() - timedelta(days=days)).timestamp() * unit)) for days in (30, 0))
    assert read_hook("s3cret", headers(timestamp=just_now), BODY, now())
    with pytest.raises(HookRefused):
        read_hook("s3cret", headers(timestamp=month_ago), BODY, now())


@pytest.mark.parametrize(
    ("secret", "given", "body"),
    [
        ("", headers(), BODY),
        ("", headers(""), BODY),
        ("s3cret", headers("another"), BODY),
        ("s3cret", headers(), BODY + b" "),
        ("s3cret", {}, BODY),
        ("s3cret", headers(timestamp="1500000000"), BODY),
        ("s3cret", headers() | {"X-Prolific-Request-Timestamp": "1500000000"}, BODY),
        ("s3cret", headers() | {"X-Prolific-Request-Signature": "é"}, BODY),
    ],
    ids=["no secret", "signed with none", "another secret", "changed", "unsigned", "old", "moved in time", "odd"],
)
def test_a_call_that_does_not_prove_where_it_is_from_is_refused(
    secret: str, given: dict[str, str], body: bytes
) -> None:
    with pytest.raises(HookRefused):
        read_hook(secret, given, body, now())


def test_strangers_and_wrong_addresses_wake_nothing(db: None, settings: Settings) -> None:
    settings.PROLIFIC_HOOK_SECRET = "s3cret"
    client = Client()

    assert client.post(ADDRESS, BODY, content_type="application/json").status_code == 403
    assert client.post("/work/hooks/mturk/", BODY, content_type="application/json").status_code == 404
    assert client.get(ADDRESS).status_code == 405
    big = b"x" * 100_001
    assert client.post(ADDRESS, big, content_type="application/json", headers=headers(body=big)).status_code == 413
    assert not HookEvent.objects.exists()


def test_a_place_that_was_returned_there_is_free_here_after_a_sync(offering: Offering) -> None:
    stays, leaves = Rater(offering, "stays").open(), Rater(offering, "leaves").open()
    participating.return_submission(leaves.there, Clock().now())

    sync_now(offering)

    assert stays.assignment.place == Assignment.Place.HELD
    assert leaves.assignment.place == Assignment.Place.FREED
