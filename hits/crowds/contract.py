"""What rooms know of a crowd. Each outside service is one folder beside this file that fulfils this contract, and one
line in registry.py.

`Crowd` says what differs between crowds and needs no connection: its environments, abilities, fees and words, who has
arrived, and how a finished worker is handed back. `Market` is an open connection to where one offering stands. Errors
are hits.errors: a `MarketRefused` says itself whether it is about one HIT or about the account, and whether the HIT is
gone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from django.http import HttpRequest

from hits.crowds.abilities import Abilities, Environment
from hits.crowds.crowd_words import CrowdWords
from hits.crowds.fees import Fees
from hits.models import Assignment, Offering, Submission, place_name

# --- What a crowd tells us -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MarketHit:
    """A crowd that offers a study as a whole tells of each HIT what our own rows say of it."""

    crowd_hit_id: str
    mark: str  # by which we know our own HITs; `Crowd.marks` makes it
    is_open: bool  # on offer, or off the market with somebody still at work on it
    is_deleted: bool
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
    status: Submission.Status
    accepted_at: datetime
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    answer: str  # what it has kept of our form, as it writes it; `Crowd.fields_of` reads it


@dataclass(frozen=True)
class MarketBonus:
    crowd_worker_id: str
    crowd_assignment_id: str
    cents: int
    reason: str  # ours if it ends with our mark; a crowd that keeps no reasons has ""
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
class Preview:
    """Somebody looks at a HIT's page before they accept it."""

    crowd: str


@dataclass(frozen=True)
class Visit:
    """Who came to a HIT's page, as its address says. `environment` is empty where the crowd can't have sent them."""

    crowd: str
    environment: str
    assignment_id: str
    worker_id: str
    hit_id: str = ""  # empty where the crowd names none: then the page's own address does
    submit_to: str = ""  # where the work is handed in, if the visit says so; the crowd has checked that it may

    @property
    def place(self) -> str:
        return place_name(self.crowd, self.environment)

    @property
    def has_sound_ids(self) -> bool:
        """Ids go into rows, addresses and signed tokens."""
        ids = [self.assignment_id, self.worker_id, *([self.hit_id] if self.hit_id else [])]
        return all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one) for one in ids)


class Way(StrEnum):
    """How a finished worker gets back to the crowd."""

    FORM = "form"  # the browser posts the fields to the action
    REDIRECT = "redirect"  # the browser goes to the action
    CODE = "code"  # the worker takes the code there


@dataclass(frozen=True)
class HandBack:
    way: Way
    code: str  # what the worker reads and may quote
    action: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sites:
    """Which sites may frame the worker's page, and to which it may post a form. `local` ones may do both."""

    framing: Sequence[str] = ()
    receiving: Sequence[str] = ()
    local: Sequence[str] = ()


# --- What we ask of it -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HitToOffer:
    """A HIT that is to be offered. The same number and round again is the same HIT."""

    number: int
    places: int  # assignments
    round: int  # how often it was put up before
    page_url: str  # where its workers find it


class Market(Protocol):
    """An open connection to where an offering stands. Every call may raise MarketRefused or MarketUnavailable, and may
    be made again after the latter, `send_bonus` only where `Abilities.is_bonus_repeatable`."""

    def balance_cents(self) -> int: ...

    # HITs

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> Mapping[str, str]:
        """Make what the offering's HITs need there, unless the notes name it already. Returns what `offer_hit` needs of
        it, which is also noted on the offering's row. It reads and writes none of our rows, so that it can run beside
        what does."""
        ...

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        """The HIT's id there, also when this very request has been made before and only its answer was lost."""
        ...

    def finish_offering(self, offering: Offering, notes: Mapping[str, str]) -> None:
        """Called when all HITs of a run are noted, and again by each later run. A crowd that offers a study as a whole
        sets its places here, to what our own rows come to."""
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
    def reject(self, crowd_assignment_id: str, reason: str) -> None: ...
    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None: ...
    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]: ...

    # Who gets no more of a study

    def keep_out(self, offering: Offering, worker_id: str) -> None: ...
    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None: ...
    def block_worker(self, worker_id: str, reason: str) -> None: ...
    def unblock_worker(self, worker_id: str, reason: str) -> None: ...


class Crowd(Protocol):
    name: str  # in an offering's row and in addresses: small letters, digits and hyphens
    environments: Sequence[Environment]  # the safest first
    abilities: Abilities
    fees: Fees
    words: CrowdWords

    def offered(self) -> Sequence[Environment]:
        """Those of its environments that this server's settings let it change, the safest first."""
        ...

    def how_to_offer(self, environment: Environment) -> str:
        """For a researcher who was refused there: what this server is set to, and what to set instead."""
        ...

    def connect(self, offering: Offering, attempts: int) -> Market:
        """Without a look at who asks: `opening.open_crowd` is the door."""
        ...

    # Workers

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        """Who has come to a HIT's page, or None if this crowd did not send them."""
        ...

    def ask_holder(self, visit: Visit) -> Held:
        """Whether they hold the assignment, where the crowd can tell before the work is handed in; else CANT_TELL."""
        ...

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        """How the worker's page gives the finished work back to the crowd: with our signed copy of the answers, where
        it keeps one, and with our code, unless it has codes of its own."""
        ...

    def fields_of(self, answer: str) -> dict[str, str]:
        """The fields of that form, from what the crowd has kept of it; empty if it keeps none."""
        ...

    def sites(self, request: HttpRequest) -> Sites: ...

    def framing_site(self, environment: str) -> str:
        """The site that shows our page in a frame; empty where it is no frame, or one of this server's own."""
        ...

    def look_url(self, environment: str) -> str:
        """Where a researcher can look at the HITs as workers see them; empty if nowhere."""
        ...

    def preview_url(self, page_url: str) -> str:
        """The address of a HIT's page for who only looks."""
        ...

    # HITs

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        """By what we know our HITs there, with their numbers."""
        ...

    def names_study(self, mark: str, offering: Offering) -> bool:
        """Whether it says that it is of this study, rightly or not."""
        ...
