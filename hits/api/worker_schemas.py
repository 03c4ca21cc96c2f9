"""What a worker's page sends and gets. Strict: a page of ours never sends anything else."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_MILLISECONDS = 10**9
MOST_MOVES = 200


def _storable(text: str) -> str:
    """Without the one character that PostgreSQL can't store: a worker's words count, an odd character does not."""
    return text.replace("\0", "")


Milliseconds = Annotated[int, Field(ge=0, le=MOST_MILLISECONDS)]
Place = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]?)$")]
AreaKey = Annotated[str, Field(max_length=30, pattern=r"^[a-z][a-z0-9_]*$")]
Areas = Annotated[dict[Place, AreaKey], Field(max_length=100)]
Move = tuple[Milliseconds, Annotated[int, Field(ge=0, le=99)], Annotated[str, Field(pattern=r"^[a-z0-9_]{0,30}$")]]
Moves = Annotated[list[Move], Field(max_length=MOST_MOVES)]
Position = Annotated[int, Field(ge=0, le=99)]
Revision = Annotated[int, Field(ge=0, le=10**9)]
Step = Annotated[str, Field(pattern=r"^(welcome|instructions|dialog-(0|[1-9][0-9]?)|finish)$")]


class Schema(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class DialogIn(Schema):
    """Cards by their places on the page; times and moves from the beginning of the dialog."""

    position: Position
    revision: Revision = Field(description="The revision that the page saw last, 0 for none.")
    areas: Areas
    active_ms: Milliseconds = 0
    hidden_ms: Milliseconds = 0
    moves: Moves = []
    problem: Annotated[str, Field(max_length=1000), AfterValidator(_storable)] = ""


class SaveIn(Schema):
    step: Step | Literal[""] = ""
    feedback: Annotated[str, Field(max_length=5000), AfterValidator(_storable)] | None = None
    dialogs: list[DialogIn] = Field(default=[], max_length=100)
    consent: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = Field(
        "", description="The page's consent_version, once the worker has agreed. Without it, no answers are taken."
    )


class CheckIn(DialogIn):
    attempt: int = Field(ge=1, le=1000, description="How many attempts at this dialog this is, from 1.")


class SubmitIn(Schema):
    feedback: Annotated[str, Field(max_length=5000), AfterValidator(_storable)] = ""
    dialogs: list[DialogIn] = Field(default=[], max_length=100)


class DialogOut(BaseModel):
    """With a conflict, also what is stored: another tab has said it meanwhile."""

    position: int
    revision: int
    conflict: bool
    areas: dict[str, str] | None = None
    active_ms: int | None = None
    hidden_ms: int | None = None
    moves: list[Any] | None = None
    problem: str | None = None


class SaveOut(BaseModel):
    dialogs: list[DialogOut]


class BonusOut(BaseModel):
    attempts: int
    attempts_left: int | None
    checked: dict[str, str] | None = Field(description="The placement that was checked last, by place.")
    passed: bool = Field(description="Whether that one would win the point if it stays as it is.")
    is_lost: bool = Field(description="The study counts the first check, and it did not pass.")


class CheckOut(BaseModel):
    position: int
    revision: int
    conflict: bool
    bonus: BonusOut


class SubmitOut(BaseModel):
    action: str = Field(description="Where the page posts the fields, as a form.")
    fields: dict[str, str]
    code: str
    points: str = Field(description="How many bonus points were won, in words; empty where there were none to win.")


class RefusalOut(BaseModel):
    """With a heading, the work ends here, on a page of its own."""

    code: str
    heading: str
    message: str
    can_open_again: bool
