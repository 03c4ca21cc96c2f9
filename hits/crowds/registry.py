"""The crowds that a study can be offered on: a line for each."""

from django.http import HttpRequest

from hits.crowds.contract import Crowd, Visit
from hits.crowds.fees import Fees
from hits.crowds.mturk.crowd import MTurk
from hits.models import MTURK, Offering

CROWDS: dict[str, Crowd] = {MTURK: MTurk()}

# A design is sized and priced before anybody says where it is offered.
USUAL_FEES = CROWDS[MTURK].fees


def crowd_of(offering: Offering) -> Crowd:
    return CROWDS[offering.crowd]


def fees_of(offering: Offering) -> Fees:
    return crowd_of(offering).fees


def arrival(request: HttpRequest) -> Visit | None:
    """Who has come to a HIT's page: each crowd knows its own parameters."""
    return next((visit for crowd in CROWDS.values() if (visit := crowd.arrival(request))), None)
