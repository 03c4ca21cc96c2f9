"""Defines what a crowd tells of those who come from it, and how it takes them back when they have finished."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


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
