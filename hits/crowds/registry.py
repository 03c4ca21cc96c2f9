"""The crowds that a study can be offered on: a line for each."""

from django.http import HttpRequest

from hits.crowds.contract import Crowd, Visit
from hits.crowds.mturk.crowd import MTurk
from hits.models import MTURK, Offering

CROWDS: dict[str, Crowd] = {MTURK: MTurk()}


def crowd_of(offering: Offering) -> Crowd:
    return CROWDS[offering.crowd]


def arrival(request: HttpRequest) -> Visit | None:
    """Who has come to a HIT's page: each crowd knows its own parameters."""
    return next((visit for crowd in CROWDS.values() if (visit := crowd.arrival(request))), None)
