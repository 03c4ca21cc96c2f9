"""Defines the data that the worker's page gets when it opens; `write_page_types` makes the page's own types from it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hits.api.worker_schemas import BonusOut, SubmitOut
from hits.crowds import CrowdWords
from hits.protocols import CHOICE_PATTERN, LONGEST_CHOICE

# Of the notes that the page makes of moves (TaskOptions.onMove in protocols/contract.ts).
PAGE_CONSTANTS: dict[str, int | str] = {"LONGEST_CHOICE": LONGEST_CHOICE, "CHOICE_PATTERN": CHOICE_PATTERN}


class WithProtocol(BaseModel):
    """The fields of the study's protocol stand beside these."""

    model_config = ConfigDict(extra="allow")


class Answer(WithProtocol):
    revision: int
    active_ms: int
    hidden_ms: int
    moves: list[tuple[int, int, str]] = Field(
        description='Active milliseconds in the dialog, the card\'s place, and what was chosen ("" is nothing).'
    )


class Dialog(BaseModel):
    turns: list[str]
    cards: list[str]
    told: str = Field("", description="What to answer; only attention checks have it.")
    has_bonus: bool
    answer: Answer
    bonus: BonusOut | None
    problem: str


class WarmUpReply(WithProtocol):
    text: str
    praise: str
    hint: str


class WarmUp(BaseModel):
    turns: list[str]
    replies: list[WarmUpReply]


class Facts(BaseModel):
    requester: str
    dialogs: int
    expected_minutes: float
    time_limit_minutes: int
    reward: str
    unpaid: str = Field(description="What stands for the pay where there is none.")
    hourly: str
    approval: str
    bonus: str
    bonus_rule: str
    what_counts: str
    bonus_dialogs: int
    max_hits: int


class PageData(WithProtocol):
    crowd: CrowdWords = Field(description="What the worker's crowd calls things, and says of coming and going.")
    mode: Literal["preview", "work", "submitted", "shown", "step"] = Field(
        description="Shown is for the researcher's eyes: it has one dialog or none, and nothing of it can be changed."
    )
    token: str
    title: str
    question: str
    welcome: str = Field(description="Made from Markdown and sanitised by the server, as the next three are.")
    instructions: str
    consent: str
    contact: str
    consent_version: str
    has_agreed: bool
    is_returning: bool = Field(description="The worker has handed in a HIT of this study before.")
    facts: Facts
    warm_up: WarmUp
    dialogs: list[Dialog]
    step: str
    seconds_used: float
    seconds_allowed: int
    may_be_late: bool = Field(description="Work is taken when the time is over, too: then others may get its place.")
    feedback: str
    submission: SubmitOut | None


def schema_of_page() -> dict[str, Any]:
    """Return the schemas by name, as OpenAPI describes them."""
    found = PageData.model_json_schema(mode="serialization")
    definitions: dict[str, Any] = found.pop("$defs")
    return {**definitions, PageData.__name__: found}
