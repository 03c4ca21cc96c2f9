"""Defines how a crowd calls this server when something has happened there, and how it is asked to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable


class HookRefused(Exception):
    """A call that claims to come from the crowd, and does not prove it. The message is for the log."""


class ListensToHooks(Protocol):
    """A crowd that calls this server when something has happened there (`Abilities.has_hooks`)."""

    def read_hook(self, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
        """Return the id of the event, which may come several times. Raises HookRefused unless the crowd has signed it.

        Nothing else of it is believed: it only says that it is time to look.
        """
        ...


@dataclass(frozen=True)
class HookLine:
    """A subscription to calls that the crowd makes."""

    event: str
    address: str
    is_enabled: bool
    is_ours: bool  # of this server's address


@dataclass(frozen=True)
class HooksThere:
    """Which calls the crowd makes, and the secret with which it signs them, if it was asked for and is shown."""

    lines: Sequence[HookLine]
    secret: str = field(default="", repr=False)


class HookSubscriber(Protocol):
    """Subscribes this server's address to a crowd's calls. Each method may be repeated."""

    def subscribe(self, wants_new_secret: bool) -> HooksThere: ...
    def show(self) -> HooksThere: ...
    def remove(self) -> HooksThere: ...


@runtime_checkable
class SubscribesToHooks(Protocol):
    """A crowd whose calls are subscribed to through its API."""

    hooks_signed_by: str  # which of this server's settings has the secret

    def hook_subscriber(self, environment: str, currency: str, address: str) -> HookSubscriber: ...
