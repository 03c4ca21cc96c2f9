"""Lists the crowds and marketplaces that a study can be offered on, and finds the crowd that a visitor came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest

from hits.crowds.abilities import Environment
from hits.crowds.coming_and_going import Preview, Visit
from hits.crowds.contract import Crowd, HasOptions
from hits.crowds.fees import Fees
from hits.crowds.link.link_crowd import Links
from hits.crowds.mturk.crowd import MTurk
from hits.crowds.prolific.prolific_crowd import Prolific
from hits.models import USUAL_CROWD, Offering, marketplace_name
from hits.models.design import StudyDesign
from hits.protocols import OwnSetting

CROWDS: dict[str, Crowd] = {
    "mturk": MTurk(),
    "link": Links(),
    "prolific": Prolific(),
}


# What a new draft of the form is meant for. It needs no account anywhere, and reaches people from the first day. (Study
# files that name no crowd keep meaning the usual one, which speaks MTurk's language.)
FIRST_CHOICE = "link"
WHO_REACHES_PEOPLE = (
    "A link and Prolific reach people, and so does the marketplace that runs here if yours sign in. Amazon announced "
    "the end of Mechanical Turk for 30 September 2026."
)

USUAL_WORDS = CROWDS[USUAL_CROWD].words  # for a visitor of whom nobody knows where they come from


@dataclass(frozen=True)
class Marketplace:
    """A crowd and one of its environments, with the name that addresses, forms and commands use for them."""

    crowd: Crowd
    environment: Environment

    @property
    def name(self) -> str:
        return marketplace_name(self.crowd.name, self.environment.name)


def all_marketplaces() -> dict[str, Marketplace]:
    """Return all marketplaces by name, the usual crowd's first."""
    found = (Marketplace(crowd, environment) for crowd in CROWDS.values() for environment in crowd.environments)
    return {one.name: one for one in found}


def offered_marketplaces() -> dict[str, Marketplace]:
    """Return the marketplaces that this server's settings allow it to change. Pages offer only these."""
    found = (Marketplace(crowd, environment) for crowd in CROWDS.values() for environment in crowd.offered())
    return {one.name: one for one in found}


def crowd_of(offering: Offering) -> Crowd:
    return CROWDS[offering.crowd]


def environment_of(offering: Offering) -> Environment:
    return all_marketplaces()[offering.marketplace].environment


def planned_crowd(design: StudyDesign) -> Crowd:
    """Return the crowd that a design is meant for. It is sized and priced for it before it is offered anywhere.

    A draft may name a crowd that this server does not know. That is a problem of the draft; until it is solved, the
    usual crowd stands in.
    """
    return CROWDS.get(design.crowd.name) or CROWDS[USUAL_CROWD]


def crowd_in(settings: Mapping[str, Any]) -> Crowd:
    """Return the crowd that a draft names, or the usual one: a draft may contain anything."""
    part = settings.get("crowd")
    name = part.get("name") if isinstance(part, Mapping) else None
    return CROWDS.get(str(name)) or CROWDS[USUAL_CROWD]


def options_of(crowd: Crowd) -> Sequence[OwnSetting]:
    """Return the crowd's own settings, by their paths in a design."""
    own = crowd.options if isinstance(crowd, HasOptions) else ()
    return [replace(one, path=f"crowd.options.{one.path}") for one in own]


def fees_of(offering: Offering) -> Fees:
    return crowd_of(offering).fees


def arrival(request: HttpRequest) -> Visit | Preview | None:
    """Return who has come to a HIT's page. Each crowd recognises its own parameters.

    If the ids have a form that no crowd uses, the visit gets no environment, and so belongs to no offering.
    """
    visit = next((visit for crowd in CROWDS.values() if (visit := crowd.arrival(request))), None)
    return replace(visit, environment="") if isinstance(visit, Visit) and not visit.has_sound_ids else visit
