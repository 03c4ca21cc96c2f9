"""Defines `Market`, an open connection to the marketplace of one offering, and what is said over it.

A crowd's market fulfils `Market`, and one of the others for each ability that it says it has. Errors are in
hits.errors: a `MarketRefused` says itself whether it concerns one HIT or the account, and whether the HIT is gone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hits.models import Offering, Submission
from hits.models.design import StudyDesign


@dataclass(frozen=True)
class MarketHit:
    """A HIT as the crowd knows it. A crowd that offers a study only as a whole fills this in from our own rows."""

    crowd_hit_id: str
    mark: str  # how we recognise our own HITs; `Crowd.marks` makes it
    is_open: bool  # on offer, or off the market while somebody still works on it
    is_deleted: bool
    max_assignments: int
    expires_at: datetime
    pending_count: int
    available_count: int
    completed_count: int


@dataclass(frozen=True)
class MarketAssignment:
    """A worker's assignment as the crowd knows it."""

    crowd_assignment_id: str
    crowd_hit_id: str
    crowd_worker_id: str
    status: Submission.Status
    accepted_at: datetime
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    answer: str  # what it has stored of our form, in its own format; `Crowd.fields_of` reads it


@dataclass(frozen=True)
class MarketBonus:
    """A bonus that was paid, as the crowd knows it."""

    crowd_worker_id: str
    crowd_assignment_id: str
    cents: int
    reason: str  # a reason that ends with our mark is ours; "" unless `Abilities.stores_reasons`
    granted_at: datetime  # if the crowd stores no times either, any time will do


@dataclass(frozen=True)
class Quote:
    """What the crowd's own calculator says of rewards, in the study's currency. Bonuses come on top."""

    cost_cents: int  # with the crowd's fees and taxes
    least_hourly_cents: int  # that it wants an hour to pay
    words: str  # all of it, in sentences
    problem: str = ""  # why it can't be published at that; in sentences, too


@dataclass(frozen=True)
class HitToOffer:
    """A HIT that is to be offered. Offering the same number and round again means the same HIT."""

    number: int
    places: int  # assignments
    round: int  # how many times it was put up before
    page_url: str  # where its workers find it


class Market(Protocol):
    """An open connection to where an offering stands. Every call may raise MarketRefused or MarketUnavailable.

    Every call may be repeated after MarketUnavailable, except `send_bonus`, which may be repeated only if
    `Abilities.is_bonus_repeatable`.
    """

    def balance_cents(self) -> int: ...

    # HITs

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> Mapping[str, str]:
        """Create what the offering's HITs need there, unless the notes name it already. Return the notes for
        `offer_hit`.

        The notes are also stored on the offering's row. This call reads and writes none of our rows, so that it can run
        beside code that does.
        """
        ...

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        """Offer the HIT and return its id there. Repeating a request whose answer was lost returns the same id."""
        ...

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        """Bring a study that the crowd knows only as a whole to this state, and return the notes, with new ones.

        `address` is where it sends its workers: our page for the study, which gives each a HIT. `places` is the number
        of assignments in all, with those that were handed in; work that was rejected keeps its place in that number. It
        is absolute, so a repeat is harmless. `is_on_offer` is False after stopping. Called after publishing, stopping,
        resuming, replacing and putting up again, and at each sync. The call creates the study there, or
        finds it again by our key, and publishes, pauses and resumes it.

        A crowd that offers each HIT by itself returns the notes and does nothing. In turn, one that offers a study as a
        whole does nothing in `offer_hit` (it makes an id up), `expire_hit`, `extend_hit` and `add_assignments`, and
        answers `get_hit` and `list_hits` by `hits_of_rows`.
        """
        ...

    def get_hit(self, crowd_hit_id: str) -> MarketHit: ...
    def list_hits(self) -> Iterator[MarketHit]: ...
    def expire_hit(self, crowd_hit_id: str) -> None: ...
    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None: ...
    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None: ...

    # Work and money

    def list_assignments(self, crowd_hit_id: str) -> Iterator[MarketAssignment]: ...
    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment: ...
    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None: ...
    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        """Reject the work. The category is one of `Abilities.rejection`, if the crowd has categories."""
        ...

    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None: ...
    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]: ...

    # Who gets no more of a study

    def keep_out(self, offering: Offering, worker_id: str) -> None: ...
    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None: ...
    def block_worker(self, worker_id: str, reason: str) -> None: ...
    def unblock_worker(self, worker_id: str, reason: str) -> None: ...


class QuotesCosts(Market, Protocol):
    """A market whose own calculator says what assignments cost (`Abilities.quotes_costs`)."""

    def quote(self, design: StudyDesign, assignments: int) -> Quote:
        """Ask what rewards for so many more assignments cost. Nothing is created, and no money is held."""
        ...


class TellsReturns(Market, Protocol):
    """A market that knows who has given work back, or ran out of time there (`Abilities.tells_returns`)."""

    def list_returned(self) -> Iterator[tuple[str, str]]:
        """Yield the assignment's and the worker's id of each. (`get_assignment` has the status of what was handed in
        before.)"""
        ...


class RequestsReturns(Market, Protocol):
    """A market that can ask workers to give their work back, instead of rejecting it
    (`Abilities.can_request_returns`)."""

    def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask the worker, who reads the reason. May be repeated."""
        ...
