"""Subscribes this server's address to Prolific's webhooks: the workspace's secret, a subscription for each event.

In: a client, and our address. Out: what is there. Guaranteed: only subscriptions to our own address are changed or
removed; running it again ends in the same state, also after a run that was killed between two calls.

Prolific does not show whether a subscription was confirmed. So every run makes new ones, confirms them, and then
removes the earlier ones: from the first run on, there is always one that delivers.
"""

from collections.abc import Iterator
from typing import Any

from hits.crowds.hooks import HookLine, HooksThere
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.prolific_client import ProlificRefused
from hits.errors import MarketRefused

# Who begins, finishes or returns; and a study that pauses, fills up or is stopped. The other events say nothing more.
EVENTS = ("submission.status.change", "study.status.change")
CONFIRMING = "x-hook-secret"


class Subscriber:
    def __init__(self, calls: ProlificCalls, address: str) -> None:
        self._client = calls.client
        self._workspace = calls.workspace
        self._address = address

    def subscribe(self, wants_new_secret: bool) -> HooksThere:
        """Subscribe, and return what is there now with the workspace's secret, or "" if Prolific does not show it."""
        secret = self._ensure_secret(wants_new_secret)
        earlier = [one for one in self._subscriptions() if one["target_url"] == self._address]
        for event in EVENTS:
            self._subscribe_to(event)
        for one in earlier:
            self._delete(one)
        return HooksThere(self._lines(), secret)

    def show(self) -> HooksThere:
        return HooksThere(self._lines())

    def remove(self) -> HooksThere:
        """Remove the subscriptions to our address. The workspace's secret stays, for others may use it."""
        for one in self._subscriptions():
            if one["target_url"] == self._address:
                self._delete(one)
        return HooksThere(self._lines())

    def _ensure_secret(self, wants_new: bool) -> str:
        """Return the workspace's secret. A new one replaces it for everybody, so it is made only if there is none."""
        listed = self._client.get("hooks/secrets/", workspace_id=self._workspace)
        of_workspace = [one for one in listed["results"] if one.get("workspace_id") in (self._workspace, None)]
        if of_workspace and not wants_new:
            return str(of_workspace[-1].get("value") or "")
        made = self._client.repeat("POST", "hooks/secrets/", {"workspace_id": self._workspace})
        return str(made.get("value") or "")

    def _subscribe_to(self, event: str) -> None:
        body = {"workspace_id": self._workspace, "event_type": event, "target_url": self._address}
        made, headers = self._client.once_with_headers("POST", "hooks/subscriptions/", body)
        proof = headers.get(CONFIRMING, "")
        if not proof:
            raise MarketRefused(
                "hooks",
                f"Prolific's answer to the subscription {made['id']} has no X-Hook-Secret, without which it can't be "
                "confirmed. Nothing is lost: work is collected every few minutes without webhooks, too.",
                is_about_account=True,
            )
        self._client.repeat("POST", f"hooks/subscriptions/{made['id']}/", {"secret": proof})

    def _delete(self, one: dict[str, Any]) -> None:
        try:
            self._client.repeat("DELETE", f"hooks/subscriptions/{one['id']}/")
        except ProlificRefused as refused:
            if not refused.is_gone:
                raise

    def _subscriptions(self) -> Iterator[dict[str, Any]]:
        for one in self._client.pages("hooks/subscriptions/", workspace_id=self._workspace):
            if one.get("workspace_id", self._workspace) == self._workspace:
                yield one

    def _lines(self) -> list[HookLine]:
        return [
            HookLine(one["event_type"], one["target_url"], one["is_enabled"], one["target_url"] == self._address)
            for one in self._subscriptions()
        ]
