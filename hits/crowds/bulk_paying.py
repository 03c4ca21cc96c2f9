"""What a market can do that pays many at once: approvals in bulk, and bonuses by lists that are ordered once.

`Abilities.bonuses_per_list` says that a crowd's market is one of these. There, a bonus is paid in two steps:
a list, which moves no money and may be repeated, and one order, which must never be repeated.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from hits.crowds.market import Market, MarketBonus


@dataclass(frozen=True)
class BonusToPay:
    assignment_id: str
    worker_id: str
    kind: str  # a kind of payment, since a bonus and a top-up for the same work are two
    cents: int


@dataclass(frozen=True)
class BonusListThere:
    """A list as the crowd has understood it."""

    list_id: str
    total_cents: int  # with fees and tax


class BulkMarket(Market, Protocol):
    def paying_alone(self) -> AbstractContextManager[None]:
        """Hold off every other run of this server that moves money there; raise MarketUnavailable if one goes on."""
        ...

    def approve_all(self, assignment_ids: Sequence[str]) -> set[str]:
        """Ask for approvals, and return those that are approved by now. Asking again does no harm."""
        ...

    def list_bonuses_of(self, assignment_ids: Collection[str]) -> Iterator[MarketBonus]:
        """Yield what was paid for these assignments, as far as it is visible. A payment may take minutes to appear."""
        ...

    def asked_before(self, bonuses: Sequence[BonusToPay]) -> list[BonusToPay]:
        """Return those for which somebody has noted at the crowd that payment was asked for: another installation, or
        this one before its database was restored."""
        ...

    def note_asking(self, bonuses: Sequence[BonusToPay]) -> None:
        """Note at the crowd that payment is about to be asked for. May be repeated."""
        ...

    def withdraw_asking(self, bonuses: Sequence[BonusToPay]) -> None:
        """Take that note back, because payment was surely refused. May be repeated."""
        ...

    def create_bonus_list(self, bonuses: Sequence[BonusToPay]) -> BonusListThere:
        """Create a list, which moves no money. Raises MarketRefused if the account can't pay it."""
        ...

    def pay_bonus_list(self, list_id: str) -> None:
        """Order the payment. MarketRefused: it is surely not paid. MarketUnavailable: nobody knows; never ask again."""
        ...
