"""What rooms know of a crowd. Each outside service is one folder beside this file that fulfils this contract, and one
line in registry.py. Here is what MTurk needs today; what a crowd without HITs of its own needs comes with it.

`Crowd` says what differs between crowds: who has arrived, how a finished worker is handed back, what stands on a HIT.
`Market` is an open connection to one of its environments. Errors are hits.errors: a `MarketRefused` says itself whether
it is about one HIT or about the account.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from django.http import HttpRequest

from hits.crowds.fees import Fees
from hits.models import Assignment, Offering

# --- What a crowd tells us -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarketHit:
    crowd_hit_id: str
    annotation: str
    status: str
    max_assignments: int
    expires_at: datetime
    pending_count: int
    available_count: int
    completed_count: int


@dataclass(frozen=True)
class MarketAssignment:
    crowd_assignment_id: str
    crowd_hit_id: str
    crowd_worker_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    answer_xml: str


@dataclass(frozen=True)
class MarketBonus:
    crowd_worker_id: str
    crowd_assignment_id: str
    cents: int
    reason: str
    granted_at: datetime


class Word(StrEnum):
    HOLDS = "holds"
    DOES_NOT = "does not"
    CANT_TELL = "can't tell"


@dataclass(frozen=True)
class Held:
    """Whether a worker holds an assignment, by the crowd's word."""

    word: Word
    held_for: timedelta = timedelta()  # by the crowd's clock, which need not be ours


CANT_TELL = Held(Word.CANT_TELL)


@dataclass(frozen=True)
class Visit:
    """Who came to a HIT's page, as its address says. `environment` is empty where the crowd can't have sent them."""

    crowd: str
    environment: str
    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str
    is_preview: bool


@dataclass(frozen=True)
class HandBack:
    """A form that the worker's browser posts to the crowd when the work is done."""

    action: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Sites:
    """Which sites may frame the worker's page, and to which it may post a form. `local` ones may do both."""

    framing: Sequence[str]
    receiving: Sequence[str]
    local: Sequence[str]


# --- What we ask of it -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prepared:
    """What stands on a crowd before the first HIT of an offering: what HITs are made of, and who is kept out."""

    hit_type_id: str
    stop_qualification_id: str


class Market(Protocol):
    """An open connection to one environment of a crowd. Every call may raise MarketRefused or MarketUnavailable."""

    def balance_cents(self) -> int: ...
    def get_hit(self, crowd_hit_id: str) -> MarketHit: ...
    def list_hits(self) -> Iterator[MarketHit]: ...
    def expire_hit(self, crowd_hit_id: str) -> None: ...
    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None: ...
    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None: ...
    def list_assignments(self, crowd_hit_id: str) -> Iterator[MarketAssignment]: ...
    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment: ...
    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None: ...
    def reject(self, crowd_assignment_id: str, reason: str) -> None: ...
    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None: ...
    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]: ...
    def block_worker(self, worker_id: str, reason: str) -> None: ...
    def unblock_worker(self, worker_id: str, reason: str) -> None: ...


class Crowd(Protocol):
    """Where it takes a `market`, it is one that this crowd itself has opened, with all that it can do there."""

    name: str
    fees: Fees

    def connect(self, environment: str, attempts: int) -> Market:
        """Without a look at who asks: `opening.open_crowd` is the door."""
        ...

    # Workers

    def arrival(self, request: HttpRequest) -> Visit | None:
        """Who has come to a HIT's page, or None if this crowd did not send them."""
        ...

    def ask_holder(self, environment: str, hit_id: str, assignment_id: str, worker_id: str) -> Held:
        """Whether they hold the assignment, where the crowd can tell before the work is handed in."""
        ...

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        """How the worker's page gives the finished work back to the crowd, with our signed copy of the answers."""
        ...

    def fields_of(self, answer: str) -> dict[str, str]:
        """The fields of that form, from what the crowd has kept of it."""
        ...

    def sites(self, request: HttpRequest) -> Sites: ...

    def worker_site(self, environment: str) -> str:
        """Where workers see the HITs; empty for an environment that runs here."""
        ...

    def preview_url(self, page_url: str) -> str:
        """The address of a HIT's page for who only looks."""
        ...

    # HITs

    def prepare(self, market: Any, offering: Offering, known: str) -> Prepared:
        """Make what the offering's HITs need there. `known` is the stop qualification that we have noted, if any. It
        reads and writes none of our rows, so that it can run beside what does."""
        ...

    def create_hit(
        self, market: Any, prepared: Prepared, offering: Offering, page_url: str, number: int, places: int, round_: int
    ) -> str:
        """The HIT's id there, also when this very request has been made before and only its answer was lost."""
        ...

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        """By what we know our HITs there, with their numbers."""
        ...

    def names_study(self, mark: str, offering: Offering) -> bool:
        """Whether it says that it is of this study, rightly or not."""
        ...

    # Who gets no more of a study

    def keep_out(self, market: Any, offering: Offering, worker_id: str) -> None: ...

    def let_in(self, market: Any, offering: Offering, worker_id: str, reason: str) -> None: ...
