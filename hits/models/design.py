"""A study's design: everything that the paper fixes is a setting, with the paper's value as its default.

The same shape as a study file (docs/studies.md); money is dollars there and integer cents here.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from generation.tidying import tidy_reply
from hits.models import design_texts
from hits.models.countries import COUNTRY_CODES

NAME_PATTERN = r"^[a-z0-9][a-z0-9-]{0,59}$"


def _printable(value: str) -> str:
    if found := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", value):
        raise ValueError(f"has the control character U+{ord(found[0]):04X}; take it out")
    return value


Text = Annotated[
    str, StringConstraints(min_length=1, max_length=10_000, strip_whitespace=True), AfterValidator(_printable)
]
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]


def _cents(value: Any) -> int:
    """ "0.40", 0.4 or Decimal -> 40. A float's own digits count: 0.29 is 29 cents, not 28.999."""
    try:
        cents = Decimal(str(value)) * 100
    except ArithmeticError:
        cents = Decimal("NaN")
    if not cents.is_finite():
        raise ValueError("is not an amount of dollars; write it as 0.40")
    if cents != cents.to_integral_value():
        raise ValueError(f"{value} dollars is not a whole number of cents; write it as 0.40")
    if not 0 <= cents <= 10_000_000:
        raise ValueError("must be between 0 and 100,000 dollars")
    return int(cents)


def _at_least_a_cent(cents: int) -> int:
    if cents < 1:
        raise ValueError("is below one cent; pay at least 0.01, and better a fair hourly rate")
    return cents


def _frame_height(pixels: int) -> int:
    """0 is the marketplace's word for a frame that fits the worker's window."""
    if 0 < pixels < 300:
        raise ValueError("is too low to work in; set 300 pixels or more, or 0 to fit the worker's window")
    return pixels


def _country(value: Any) -> str:
    if not isinstance(value, str) or value not in COUNTRY_CODES:
        raise ValueError(f"{value!r} is no country's code; use ISO 3166 codes such as US, AU, NZ, GB, CA")
    return str(value)


def _language(value: str) -> str:
    # Well-formed by BCP 47's usual parts: language, script, region, variants. Which of them exist, browsers know.
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?(-(\w{5,8}|\d\w{3}))*", value, re.ASCII):
        raise ValueError(f"{value!r} is no language tag; write it as in BCP 47: en, de, pt-BR, zh-Hant")
    return value


Cents = Annotated[int, BeforeValidator(_cents), PlainSerializer(lambda cents: f"{cents / 100:.2f}")]
Country = Annotated[str, BeforeValidator(_country)]


class Part(BaseModel):
    """Frozen, and strict about names: a misspelt setting is an error, not a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatasetPart(Part):
    name: Name
    dialog_count: int = Field(alias="dialogs", ge=1, le=10_000_000)


class DataPolicy(Part):
    """What happens when the data does not quite fit."""

    incomplete: Literal["refuse", "skip"] = "refuse"  # dialogs that a generator has not answered
    short: Literal["refuse", "take all"] = "refuse"  # a dataset with fewer dialogs than asked for


class HitPart(Part):
    dialogs_per_hit: int = Field(10, alias="dialogs", ge=1, le=100)
    assignments: int = Field(4, ge=1, le=90)
    uneven_end: Literal["spread", "drop"] = "spread"
    replacements: Literal["by hand", "at each sync"] = "by hand"  # for what was left out, rejected or expired
    # Of the published assignments, how many are replaced while they came without answers and nobody has decided.
    replace_undecided_share: float = Field(0.1, ge=0, le=1, allow_inf_nan=False)


class CheckpointPart(Part):
    per_hit: int = Field(3, ge=0, le=100)
    datasets: list[Name] = []
    max_attempts: int = Field(0, ge=0, le=100)  # of Bonus Validate; 0: as many as one likes
    counts: Literal["final", "first check"] = "final"  # which placement wins the point (hits.protocols.checkpoints)
    feedback: Literal["at once", "after submission"] = "at once"  # by Bonus Validate, or points at the end


class PayPart(Part):
    reward_cents: Annotated[Cents, AfterValidator(_at_least_a_cent)] = Field(40, alias="reward")
    bonus_cents: Cents = Field(10, alias="bonus")
    bonus_points: int = Field(3, ge=0, le=100)
    expected_minutes: float = Field(15, gt=0, le=1440, allow_inf_nan=False)
    minimum_hourly_cents: Cents = Field(725, alias="minimum_hourly")
    budget_cents: Cents | None = Field(None, alias="budget")
    approval: Literal["at once", "after a delay", "by hand"] = "at once"
    approval_delay_hours: int = Field(24, ge=0, le=30 * 24)


class CrowdPart(Part):
    countries: list[Country] = Field(default=["US", "AU", "NZ", "GB", "CA"], max_length=30)
    min_approved: int = Field(100, ge=0, le=1_000_000)
    min_approval_percent: int = Field(95, ge=0, le=100)
    max_hits_per_worker: int = Field(50, ge=1, le=1_000_000)
    time_limit_minutes: int = Field(60, ge=1, le=60 * 24 * 365)
    lifetime_days: int = Field(14, ge=1, le=365)
    auto_approval_days: int = Field(3, ge=0, le=30)
    frame_height: Annotated[int, AfterValidator(_frame_height)] = Field(0, ge=0, le=5000)


class TaskPart(Part):
    """A protocol adds what it asks with, and has its own words where these are not true of it."""

    # The first three go to the marketplace, which takes no longer ones.
    title: Annotated[Text, Field(max_length=128)] = design_texts.TITLE
    description: Annotated[Text, Field(max_length=2000)]
    keywords: Annotated[Text, Field(max_length=1000)] = design_texts.KEYWORDS
    question: Text
    reply_style: Literal["tidied", "as written"] = "tidied"  # generation/tidying.py says what is evened out
    welcome: Text
    instructions: Text
    consent: Text
    contact: Text = design_texts.CONTACT
    # Who asks, as workers read it: a group, a university. Empty: the page points to the marketplace's own name.
    requester: Annotated[str, StringConstraints(max_length=200, strip_whitespace=True), AfterValidator(_printable)] = ""
    # Of the texts and dialogs: screen readers speak it, and browsers hyphenate and translate by it.
    language: Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_language)] = "en"

    @property
    def consent_version(self) -> str:
        """Which text a worker has agreed to, for good: the SHA-256 of it."""
        return sha256(self.consent.encode()).hexdigest()


class WarmUpReply(Part):
    """A protocol adds which answer fits."""

    text: Text
    praise: Text = "Good choice."
    hint: Text = "Perhaps another one?"


class WarmUpPart(Part):
    context: list[Text] = Field(default=design_texts.WARM_UP_CONTEXT, min_length=1)
    replies: Sequence[WarmUpReply]


class SameAnswer(Part):
    """Leaves out workers who put almost every reply into one and the same area."""

    rule: Literal["same_answer"] = "same_answer"
    share: float = Field(0.95, gt=0, le=1, allow_inf_nan=False)


class HastyWithoutPoints(Part):
    """Leaves out workers who were quick and won too few bonus points in the same assignment."""

    rule: Literal["hasty_without_points"] = "hasty_without_points"
    minutes: float = Field(5, gt=0, le=1440, allow_inf_nan=False)
    points: int = Field(2, ge=0, le=100)


class TooFewPoints(Part):
    """Leaves out single assignments with too few bonus points."""

    rule: Literal["too_few_points"] = "too_few_points"
    points: int = Field(2, ge=0, le=100)


# The three above are the paper's. What follows is opt-in; docs/screening.md says what each one looks at.

Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class TooFastPerDialog(Part):
    """Leaves out workers who spent less than so many seconds on at least this share of their dialogs."""

    rule: Literal["too_fast_per_dialog"] = "too_fast_per_dialog"
    seconds: float = Field(15.0, gt=0, le=3600, allow_inf_nan=False)
    share: Share = 0.5


class StraightLines(Part):
    """Leaves out workers who put all replies of a dialog into the same area, in at least this share of the dialogs."""

    rule: Literal["straight_lines"] = "straight_lines"
    share: Share = 0.8


class PositionBias(Part):
    """Leaves out workers whose areas follow the card's place on the page: unlikely by chance, and strong (0 to 1)."""

    rule: Literal["position_bias"] = "position_bias"
    p_value: Share = 0.01
    strength: Share = 0.4


class DisagreementOnEasyItems(Part):
    """Leaves out workers who disagree with this share of the replies on which the others agree, unlikely by chance."""

    rule: Literal["disagreement_on_easy_items"] = "disagreement_on_easy_items"
    agreement: float = Field(1.0, gt=0.5, le=1, allow_inf_nan=False)
    others: int = Field(3, ge=2, le=90)
    share: Share = 0.6
    p_value: Share = 0.01


class FirstAttemptFailures(Part):
    """Leaves out workers who won too few of their checkpoints at the first attempt."""

    rule: Literal["first_attempt_failures"] = "first_attempt_failures"
    share: Share = 0.5
    checkpoints: int = Field(9, ge=1, le=10_000)


class ManyAttempts(Part):
    """Leaves out workers who tried for their bonus points over and over: so many times a checkpoint on average."""

    rule: Literal["many_attempts"] = "many_attempts"
    attempts: float = Field(1.3, gt=1, le=100, allow_inf_nan=False)
    checkpoints: int = Field(9, ge=1, le=10_000)


class MovedAfterCheck(Part):
    """Leaves out workers who sorted dialogs anew after they had won there: this share of the checkpoints they won."""

    rule: Literal["moved_after_check"] = "moved_after_check"
    share: Share = 0.5
    checkpoints: int = Field(3, ge=1, le=10_000)


class Inattention(Part):
    """Leaves out workers who had the page in a hidden tab for most of the time, in at least this share of dialogs."""

    rule: Literal["inattention"] = "inattention"
    share: Share = 0.5


class Copies(Part):
    """Leaves out workers who gave almost the same answers as another one, far beyond what chance explains."""

    rule: Literal["copies"] = "copies"
    share: Share = 0.9
    p_value: Share = 0.001


ScreeningRule = Annotated[
    SameAnswer
    | HastyWithoutPoints
    | TooFewPoints
    | TooFastPerDialog
    | StraightLines
    | PositionBias
    | DisagreementOnEasyItems
    | FirstAttemptFailures
    | ManyAttempts
    | MovedAfterCheck
    | Inattention
    | Copies,
    Field(discriminator="rule"),
]


class StudyDesign(Part):
    """What all designs have. Each protocol has a class of its own (hits.protocols), which `model_validate` finds by the
    setting `protocol`; without it, the protocol that is registered first."""

    of_protocol: ClassVar[dict[str, type["StudyDesign"]]] = {}

    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    seed: int = Field(2021, ge=0, le=2**53)
    protocol: str
    datasets: list[DatasetPart] = Field(min_length=1)
    generators: list[Name] = Field(min_length=1, max_length=20)
    data: DataPolicy = DataPolicy()
    hits: HitPart = HitPart()
    checkpoints: CheckpointPart
    pay: PayPart = PayPart()
    crowd: CrowdPart = CrowdPart()
    task: TaskPart
    warm_up: WarmUpPart
    screening: list[ScreeningRule] = [SameAnswer(), HastyWithoutPoints(), TooFewPoints()]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        StudyDesign.of_protocol[cls.model_fields["protocol"].default] = cls

    @model_validator(mode="wrap")
    @classmethod
    def _as_its_protocol_has_it(cls, settings: Any, read: ModelWrapValidatorHandler["StudyDesign"]) -> "StudyDesign":
        if cls is not StudyDesign or isinstance(settings, StudyDesign):
            return read(settings)
        first = next(iter(cls.of_protocol))
        name = settings.get("protocol", first) if isinstance(settings, Mapping) else first
        if not isinstance(name, str) or name not in cls.of_protocol:
            words = f"{name!r} is no protocol; known are {', '.join(cls.of_protocol)}"
            said = PydanticCustomError("protocol", "{words}", {"words": words})
            error = InitErrorDetails(type=said, loc=("protocol",), input=name)
            raise ValidationError.from_exception_data(cls.__name__, [error])
        return cls.of_protocol[name].model_validate(settings)

    def shown(self, reply: str) -> str:
        """A reply as this study's workers read it."""
        return tidy_reply(reply, self.task.language) if self.task.reply_style == "tidied" else reply

    def as_json(self) -> dict[str, Any]:
        """The shape of a study file."""
        return self.model_dump(mode="json", by_alias=True)
