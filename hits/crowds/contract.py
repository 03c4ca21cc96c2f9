"""Defines `Crowd`: what differs between crowds and needs no connection.

Each outside service is one folder beside this file that fulfils this contract, and one line in registry.py. It says its
environments, abilities, fees and words, who has arrived, and how a finished worker is handed back
(coming_and_going.py); it opens a connection to the marketplace of one offering (market.py); and some call this server
(hooks.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from django.http import HttpRequest

from hits.crowds.abilities import Abilities, Environment
from hits.crowds.coming_and_going import HandBack, Held, Preview, Sites, Visit
from hits.crowds.crowd_words import CrowdWords
from hits.crowds.fees import Fees
from hits.crowds.market import Market
from hits.errors import DesignProblem
from hits.models import Assignment, Offering, Outcome
from hits.models.design import StudyDesign
from hits.protocols import OwnSetting


@runtime_checkable
class HasOptions(Protocol):
    """A crowd with settings of its own, which a design has in `crowd.options`. The study form asks for these."""

    options: Sequence[OwnSetting]  # each with its name there as its path: "ages"


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
