"""Defines what researchers' programs get from the API."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel, Field

from hits.crowds import all_marketplaces
from hits.models import Submission
from hits.models.pool import TOGETHER

MARKET = OpenApiParameter(
    "market", str, enum=list(all_marketplaces()), description="Else the last one that it was published on."
)
MARKET_OR_POOL = OpenApiParameter(
    "market",
    str,
    enum=[*all_marketplaces(), *(f"{TOGETHER}.{origin}" for origin in Submission.Origin.values)],
    description="Else the last one that it was published on. `together.people` puts all offerings together whose work "
    "is by people, `together.rehearsal` and `together.simulation` those that are rehearsed or simulated.",
)
CURSOR = OpenApiParameter("cursor", str, description="From `next` or `previous` of another page.")


class ErrorOut(BaseModel):
    error: str = Field(description="One sentence that says what to do.")


class StudyOut(BaseModel):
    key: UUID
    name: str
    owner: str | None
    is_frozen: bool = Field(description="Else it is a draft, and may hold anything.")
    created_at: datetime
    frozen_at: datetime | None
    manifest_hash: str = Field(description="Of all that workers see; empty for a draft.")


class StudyDetailOut(StudyOut):
    members: list[str]
    design: dict[str, Any] = Field(description="As in a study file.")


class StudyPage(BaseModel):
    next: str | None = Field(description="The address of the next page.")
    previous: str | None
    results: list[StudyOut]


class OriginOut(BaseModel):
    """Counts of assignments by where they came from."""

    people: int
    simulation: int
    rehearsal: int
    warning: str = Field(description="What to say with the results; empty if all assignments came from people.")


class ProgressOut(BaseModel):
    """Counts of assignments, and money in cents, fees included."""

    market: str
    origin: OriginOut = Field(description="Of all work as it is collected now: simulated work is not paid by anybody.")
    published: int
    accepted: int = Field(description="Held or handed in, by the marketplace's own word.")
    in_hand: int
    opened: int = Field(description="Our page was opened, and the marketplace has not confirmed by whom.")
    submitted: int
    waiting: int
    approved: int
    rejected: int
    given_up: int
    never_confirmed: int = Field(description="Of those that were given up.")
    taken_over: int
    unconfirmed: int
    without_answers: int
    extra: int = Field(description="Submitted late, when others had filled the HIT's places; counts and is paid, too.")
    to_come: int
    currency: str  # of all cents here, as "USD"
    spent_cents: int
    owed_cents: int
    open_cents: int
    budget_cents: int | None = Field(
        description="What may be spent there: the lower of the budget typed for it, and what the study's other "
        "offerings with real raters leave of the design's."
    )


class RatingOut(BaseModel):
    """One reply, judged by one worker. A card that stands for several models makes a rating for each of them."""

    id: int
    worker: str = Field(description="A pseudonym: the same within a study, another in each.")
    hit: int
    position: int = Field(description="Of the dialog in the HIT, from 0.")
    dataset: str
    dialog: str = Field(description="Its id in its dataset.")
    is_checkpoint: bool
    card: int
    place: int = Field(description="Where the card stood on the page, from 0.")
    generator: str | None = Field(description="None for the human reply.")
    opponent: str | None = Field(description="The model that it was compared with; None where nothing was compared.")
    criterion: str = Field(description="What was asked about.")
    value: str = Field(description="What was said, one of the values that the study's protocol has for the criterion.")
    score: int = Field(description="The value as a number, higher is better.")
    submitted_at: datetime
    origin: Literal["people", "simulation", "rehearsal"] = Field(description="Where the worker's assignment came from.")
    is_kept: bool = Field(description="Whether the current screening leaves it in.")
    excluded_by: str | None = Field(description="The first rule that leaves it out.")


class RatingPage(BaseModel):
    next: str | None
    previous: str | None
    results: list[RatingOut]
    warning: str = Field(description="What to say with the study's ratings; empty if all of them came from people.")


class ResultsOut(BaseModel):
    market: str
    offerings: list[str] = Field(description="The marketplaces whose work it is: one, or several together.")
    state: Literal["nothing rated", "being computed", "stale", "current", "failed"]
    computed_at: datetime | None
    problem: str
    origin: OriginOut = Field(description="Of all work as it is collected now.")
    screening_warning: str = Field(description="Whether the study's own screening is missing; empty if it is not.")
    answer: str = Field(description="What the results say, in sentences; empty as long as there are none.")
    results: dict[str, Any] | None = Field(
        description='As in a bundle\'s results.json; what is undefined is {"undefined": why}.'
    )
