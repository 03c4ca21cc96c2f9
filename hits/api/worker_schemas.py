"""Checks what the worker's page sends (lengths, ranges, unknown fields), and defines what it gets."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hits.protocols import PROTOCOLS, Choice, storable

MOST_MILLISECONDS = 10**9
MOST_MOVES = 200


Milliseconds = Annotated[int, Field(ge=0, le=MOST_MILLISECONDS)]
Move = tuple[Milliseconds, Annotated[int, Field(ge=0, le=99)], Choice]
Moves = Annotated[list[Move], Field(max_length=MOST_MOVES)]
Position = Annotated[int, Field(ge=0, le=99)]
Revision = Annotated[int, Field(ge=0, le=10**9)]
Step = Annotated[str, Field(pattern=r"^(welcome|instructions|dialog-(0|[1-9][0-9]?)|finish)$")]


class Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _with_answers(schema: dict[str, Any]) -> None:
    """Describe the fields that the study's protocol adds: each protocol has its own."""
    schema["additionalProperties"] = False
    for protocol in PROTOCOLS.values():
        answer = protocol.sent_class.model_json_schema()
        schema["properties"] |= answer["properties"]
        if len(PROTOCOLS) == 1:
            schema["required"] += answer["required"]


class DialogIn(Schema):
    """An answer to one dialog: the protocol's own fields, by the cards' places on the page, with times and moves
    counted from when the dialog was first shown."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra=_with_answers)

    position: Position
    revision: Revision = Field(description="The revision that the page saw last, 0 for none.")
    active_ms: Milliseconds = 0
    hidden_ms: Milliseconds = 0
    moves: Moves = []
    problem: Annotated[str, Field(max_length=1000), AfterValidator(storable)] = ""

    @property
    def sent(self) -> dict[str, Any]:
        """Return the answer as sent; hits.serving lets the study's protocol read it, which refuses what it does not
        know."""
        return self.model_extra or {}


class SaveIn(Schema):
    step: Step | Literal[""] = ""
    feedback: Annotated[str, Field(max_length=5000), AfterValidator(storable)] | None = None
    dialogs: list[DialogIn] = Field(default=[], max_length=100)
    consent: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = Field(
        "", description="The page's consent_version, once the worker has agreed. Without it, no answers are taken."
    )


class CheckIn(DialogIn):
    attempt: int = Field(ge=1, le=1000, description="How many attempts at this dialog this is, from 1.")


class SubmitIn(Schema):
    feedback: Annotated[str, Field(max_length=5000), AfterValidator(storable)] = ""
    dialogs: list[DialogIn] = Field(default=[], max_length=100)


class DialogOut(BaseModel):
    """What came of saving a dialog. In a conflict, another tab has saved meanwhile, and what is stored comes with the
    answer, in the protocol's fields."""

    model_config = ConfigDict(extra="allow")

    position: int
    revision: int
    conflict: bool
    active_ms: int | None = None
    hidden_ms: int | None = None
    moves: list[Any] | None = None
    problem: str | None = None


class SaveOut(BaseModel):
    dialogs: list[DialogOut]


class BonusOut(BaseModel):
    attempts: int
    attempts_left: int | None
    checked: dict[str, Any] | None = Field(description="The answer that was checked last, in the protocol's fields.")
    passed: bool = Field(description="Whether that one would win the point if it stays as it is.")
    is_lost: bool = Field(description="The study counts the first check, and it did not pass.")


class CheckOut(BaseModel):
    position: int
    revision: int
    conflict: bool
    bonus: BonusOut


class SubmitOut(BaseModel):
    """How the worker gets back to the crowd."""

    way: Literal["form", "redirect", "code"] = Field(
        description="Post the fields to the action as a form, go to the action, or let the worker take the code there."
    )
    action: str
    fields: dict[str, str]
    code: str = Field(
        description="What the worker may quote; where the way is `code`, what they enter there. It may be empty."
    )
    more_url: str = Field(description="Where the worker may do another HIT now; empty where there is none for them.")
    points: str = Field(description="How many bonus points were won, in words; empty where there were none to win.")


class RefusalOut(BaseModel):
    """Why the server refused. If there is a heading, the work ends here, on a page of its own."""

    code: str
    heading: str
    message: str
    can_open_again: bool
    own_page: str = Field(default="", description="Where an invited rater, who has handed this in, goes on.")
