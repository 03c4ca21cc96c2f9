"""Defines what rooms may ask of a crowd, and what it tells them.

Each outside service is one folder beside this file that fulfils this contract, and one line in registry.py. `Crowd`
says what differs between crowds and needs no connection: its environments, abilities, fees and words, who has arrived,
and how a finished worker is handed back. `Market` is an open connection to the marketplace of one offering. Errors
are in hits.errors: a `MarketRefused` says itself whether it concerns one HIT or the account, and whether the HIT is
gone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, runtime_checkable

from django.http import HttpRequest

from hits.crowds.abilities import Abilities, Environment
from hits.crowds.crowd_words import CrowdWords
from hits.crowds.fees import Fees
from hits.errors import DesignProblem
from hits.models import Assignment, Offering, Outcome, Submission
from hits.models.design import StudyDesign
from hits.protocols import OwnSetting

# --- What a crowd tells us -------------------------------------------------------------------------------------------


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


class Word(StrEnum):
    """The crowd's answer to whether a worker holds an assignment."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    CANT_TELL = "can't tell"


@dataclass(frozen=True)
class Held:
    """Whether a worker holds an assignment, as the crowd says, and for how long."""

    word: Word
    held_for: timedelta = timedelta()  # by the crowd's clock, which may differ from ours
    # Whether only our own signed address says so. Then looking at it again does not keep a place that nobody works at.
    is_by_our_word: bool = False


CANT_TELL = Held(Word.CANT_TELL)


@dataclass(frozen=True)
class Preview:
    """Somebody is looking at a HIT's page before accepting it."""

    crowd: str


@dataclass(frozen=True)
class Visit:
    """Who came to a HIT's page, as its address says. `environment` is empty if the crowd can't have sent them."""

    crowd: str
    environment: str
    assignment_id: str
    worker_id: str
    hit_id: str = ""  # empty if the crowd names no HIT: then the page's own address does
    # Where, or to whose credit, the work is handed in, if the visit says so. The crowd has checked it.
    submit_to: str = ""

    @property
    def has_sound_ids(self) -> bool:
        """Return whether the ids have a safe form: they go into rows, addresses and signed tokens."""
        ids = [self.assignment_id, self.worker_id, *([self.hit_id] if self.hit_id else [])]
        return all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", one) for one in ids)


class Way(StrEnum):
    """How a finished worker gets back to the crowd."""

    FORM = "form"  # the browser posts the fields to the action
    REDIRECT = "redirect"  # the browser goes to the action
    CODE = "code"  # the worker takes the code there


@dataclass(frozen=True)
class HandBack:
    """How the worker's page returns a finished worker to the crowd."""

    way: Way
    code: str  # what the worker reads and may quote
    action: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    more_url: str = ""  # where the worker may do another HIT, if there is one; then the page waits for their choice
    note: str = ""  # only for who is turned away: what it brings them, as "You are paid for coming."


@dataclass(frozen=True)
class Sites:
    """Which sites may show the worker's page in a frame, and to which it may post a form. `local` sites may do both."""

    framing: Sequence[str] = ()
    receiving: Sequence[str] = ()
    local: Sequence[str] = ()


# --- What we ask of it -----------------------------------------------------------------------------------------------


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


@runtime_checkable
class HasOptions(Protocol):
    """A crowd with settings of its own, which a design has in `crowd.options`. The study form asks for these."""

    options: Sequence[OwnSetting]  # each with its name there as its path: "ages"


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


class Crowd(Protocol):
    """What differs between crowds and needs no connection."""

    name: str  # in an offering's row and in addresses: only a-z, 0-9 and hyphens
    environments: Sequence[Environment]  # the safest first
    abilities: Abilities
    fees: Fees
    words: CrowdWords

    def offered(self) -> Sequence[Environment]:
        """Return the environments that this server's settings allow it to change, the safest first."""
        ...

    def how_to_offer(self, environment: Environment) -> str:
        """Tell a researcher who was refused there how this server is set, and what to set instead."""
        ...

    def connect(self, offering: Offering, attempts: int) -> Market:
        """Open a connection without checking who asks. Use `opening.open_crowd`, which checks."""
        ...

    def unmet_wishes(self, design: StudyDesign) -> Iterator[DesignProblem]:
        """Yield what the design asks for and this crowd can't do; if there is anything, it can't be offered there.

        `abilities.unmet_wishes` finds what follows from the abilities; a crowd adds limits of its own, such as the
        lowest reward. Messages say "it" of the crowd.
        """
        ...

    def option_problems(self, design: StudyDesign) -> Iterator[DesignProblem]:
        """Yield what is wrong with `crowd.options`, the crowd's own settings in a design that is meant for it."""
        ...

    # Workers

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        """Return who has come to a HIT's page, or None if this crowd did not send them."""
        ...

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        """Return whether they hold an assignment of this offering, or CANT_TELL if the crowd knows only after the work
        is handed in. It may read its notes by `crowd_notes`; no other field of the offering is loaded."""
        ...

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        """Return how the worker's page gives the finished work back to the crowd.

        It carries our signed copy of the answers, if the crowd stores one, and our code, unless the crowd has codes of
        its own.
        """
        ...

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        """Return how a visitor who gets no work goes back to the crowd, or None if they just leave, as words.return_it
        says.

        It is asked of visitors whom `ask_holder` has not denied. Like there, only notes are loaded of the offering.
        """
        ...

    def fields_of(self, answer: str) -> dict[str, str]:
        """Return the fields of that form from what the crowd has stored of it; empty if it stores none."""
        ...

    def is_simulated(self, environment: str, worker_id: str) -> bool:
        """Return whether the crowd itself made this worker up. Nothing that a worker sends may change the answer."""
        ...

    def why_no_raters(self, environment: Environment) -> str:
        """Tell why an owner can't declare that people who work there are the study's raters; empty if they can."""
        ...

    def sites(self, request: HttpRequest) -> Sites: ...

    def framing_site(self, environment: str) -> str:
        """Return the site that shows our page in a frame; empty if there is no frame, or if it is this server's own."""
        ...

    def look_url(self, environment: str) -> str:
        """Return where a researcher can see the HITs as workers see them; empty if nowhere."""
        ...

    def preview_url(self, page_url: str) -> str:
        """Return the address of a HIT's page for somebody who only looks."""
        ...

    # HITs

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        """Return the marks by which we recognise our HITs there, with their numbers."""
        ...

    def names_study(self, mark: str, offering: Offering) -> bool:
        """Return whether the mark claims to be of this study, rightly or not."""
        ...
