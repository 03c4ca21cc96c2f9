"""The crowds that a study can be offered on, a line for each, and the places that they have."""

from dataclasses import dataclass, replace

from django.http import HttpRequest

from hits.crowds.abilities import Environment
from hits.crowds.contract import Crowd, Preview, Visit
from hits.crowds.fees import Fees
from hits.crowds.mturk.crowd import MTurk
from hits.models import USUAL_CROWD, Offering, place_name

CROWDS: dict[str, Crowd] = {
    "mturk": MTurk(),
}

# A design is sized, priced and shown before anybody says where it is offered.
USUAL_FEES, USUAL_WORDS = CROWDS[USUAL_CROWD].fees, CROWDS[USUAL_CROWD].words


@dataclass(frozen=True)
class Place:
    """An environment of a crowd, by the name that addresses, forms and commands have for it."""

    crowd: Crowd
    environment: Environment

    @property
    def name(self) -> str:
        return place_name(self.crowd.name, self.environment.name)


def all_places() -> dict[str, Place]:
    """By their names, the usual crowd's first."""
    places = (Place(crowd, environment) for crowd in CROWDS.values() for environment in crowd.environments)
    return {place.name: place for place in places}


def offered_places() -> dict[str, Place]:
    """Those that this server's settings let it change: what the pages offer."""
    places = (Place(crowd, environment) for crowd in CROWDS.values() for environment in crowd.offered())
    return {place.name: place for place in places}


def crowd_of(offering: Offering) -> Crowd:
    return CROWDS[offering.crowd]


def environment_of(offering: Offering) -> Environment:
    return all_places()[offering.place].environment


def fees_of(offering: Offering) -> Fees:
    return crowd_of(offering).fees


def arrival(request: HttpRequest) -> Visit | Preview | None:
    """Who has come to a HIT's page: each crowd knows its own parameters. With ids that no crowd has, it is nobody."""
    visit = next((visit for crowd in CROWDS.values() if (visit := crowd.arrival(request))), None)
    return replace(visit, environment="") if isinstance(visit, Visit) and not visit.has_sound_ids else visit
