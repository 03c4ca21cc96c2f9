"""`subscribe_webhooks`: the secret, the subscriptions and their confirmation; then real deliveries with signatures."""

import io

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from hits.models import HookEvent, Offering
from localprolific import misbehaving
from localprolific.behaviour import set_behaviour
from localprolific.hook_sending import deliver_due
from localprolific.models import HookDelivery, HookSecret, HookSubscription
from localprolific.panel_clock import Clock
from tests.hits.prolific_people import Rater
from tests.hits.prolific_study import drafted, no_faults, offering

__all__ = ["drafted", "no_faults", "offering"]

ELSEWHERE = "https://other.example.org/hook"


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("subscribe_webhooks", *words, stdout=out)
    return out.getvalue()


def ours() -> list[tuple[str, bool]]:
    found = HookSubscription.objects.exclude(target_url=ELSEWHERE).order_by("event_type")
    return list(found.values_list("event_type", "is_confirmed"))


CONFIRMED = [("study.status.change", True), ("submission.status.change", True)]


def test_it_subscribes_confirms_and_says_where_the_secret_belongs(offering: Offering, settings: Settings) -> None:
    said = run()
    settings.PROLIFIC_HOOK_SECRET = HookSecret.objects.get().value
    again = run()

    assert f"restart:\nPROLIFIC_HOOK_SECRET={HookSecret.objects.get().value}" in said
    assert "submission.status.change to http://127.0.0.1:8000/work/hooks/prolific/: on, this server" in said
    assert ours() == CONFIRMED
    assert HookSecret.objects.get().value not in again  # shown only while this server does not have it
    assert "has the secret in PROLIFIC_HOOK_SECRET already" in again


@pytest.mark.parametrize("timestamp", ["seconds", "iso"])
def test_real_deliveries_are_taken_and_wake_a_sync(
    offering: Offering, settings: Settings, live_server: LiveServer, timestamp: str
) -> None:
    set_behaviour(hook_timestamp=timestamp)
    settings.PUBLIC_URL = live_server.url
    run()
    settings.PROLIFIC_HOOK_SECRET = HookSecret.objects.get().value

    Rater(offering).finish()
    delivered = deliver_due(Clock().now())

    assert delivered >= 2  # began, done
    assert not HookDelivery.objects.filter(delivered_at=None).exists()
    assert HookEvent.objects.filter(crowd="prolific").count() == delivered
    assert HookEvent.objects.filter(wakes=True).count() == 1


def test_another_secret_is_refused_until_the_setting_is_right(
    offering: Offering, settings: Settings, live_server: LiveServer
) -> None:
    settings.PUBLIC_URL, settings.PROLIFIC_HOOK_SECRET = live_server.url, "another"
    run()
    Rater(offering).open()

    refused = deliver_due(Clock().now())
    settings.PROLIFIC_HOOK_SECRET = HookSecret.objects.get().value
    HookDelivery.objects.update(due_at=Clock().now())
    taken = deliver_due(Clock().now())

    assert (refused, HookEvent.objects.count()) == (0, taken)
    assert taken >= 1


@pytest.mark.parametrize("operation", ["create_hook_secret", "create_subscription", "confirm_subscription"])
@pytest.mark.parametrize("fault", ["drop-after", "fail-before"])
def test_a_run_that_failed_halfway_is_simply_started_again(offering: Offering, operation: str, fault: str) -> None:
    misbehaving.add_process_fault(fault, operation=operation, times_left=5)
    with pytest.raises(CommandError, match=r"does not accept requests|did not answer|answered"):
        run()
    misbehaving.clear_process_faults()

    run()

    assert ours() == CONFIRMED
    assert HookSecret.objects.count() == 1


def test_a_subscription_that_cannot_be_confirmed_is_one_line(offering: Offering) -> None:
    set_behaviour(is_hook_proof_answered=False)

    with pytest.raises(CommandError, match=r"has no X-Hook-Secret.*collected every few minutes"):
        run()


def test_the_subscriptions_of_others_and_their_secret_stay(offering: Offering) -> None:
    run()
    secret = HookSecret.objects.get()
    HookSubscription.objects.create(
        subscription_id="5f00a1c3b2d4e6f708192aff",
        workspace=secret.workspace,
        event_type="study.status.change",
        target_url=ELSEWHERE,
    )

    run()
    shown = run("--show")
    removed = run("--remove")
    again = run("--remove")

    assert HookSecret.objects.get().value == secret.value
    assert f"study.status.change to {ELSEWHERE}: on, another address" in shown
    assert HookSubscription.objects.get().target_url == ELSEWHERE
    assert "Nothing is subscribed to http://127.0.0.1:8000/work/hooks/prolific/." in removed
    assert again == removed


def test_a_new_secret_replaces_the_old_one_when_asked_for(offering: Offering) -> None:
    run()
    first = HookSecret.objects.get().value

    said = run("--new-secret")

    assert HookSecret.objects.get().value != first
    assert f"PROLIFIC_HOOK_SECRET={HookSecret.objects.get().value}" in said


def test_the_real_prolific_needs_a_setting_and_an_address_from_outside(db: None, settings: Settings) -> None:
    with pytest.raises(CommandError, match="set PROLIFIC_ENVIRONMENT=production"):
        run("--environment", "production")

    settings.PROLIFIC_ENVIRONMENT, settings.PROLIFIC_TOKEN = "production", "t0ken"
    with pytest.raises(CommandError, match="need a public HTTPS address"):
        run("--environment", "production")
