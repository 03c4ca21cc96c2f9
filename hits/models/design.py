"""Defines every setting of a study: its type, its limits and its default; the defaults are the paper's values.

The shape is that of a study file (docs/studies.md). A file states money as 0.40 of the study's currency; here it
is integer cents.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    SerializeAsAny,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from generation.tidying import tidy_reply
from hits.models import design_texts
from hits.models.countries import COUNTRY_CODES
from hits.models.money import SIGNS, USUAL_CURRENCY, cents_from_amount
from hits.models.screening_rule import ScreeningRule

ANSWER_TOLD = "{answer}"  # stands in the words of an attention check for the answer that it tells
USUAL_CROWD = "mturk"  # a design that names no crowd is meant for this one
NAME_PATTERN = r"^[a-z0-9][a-z0-9-]{0,59}$"


def _refuse_control_characters(value: str) -> str:
    if found := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", value):
        raise ValueError(f"contains the control character U+{ord(found[0]):04X}; remove it")
    return value


Text = Annotated[
    str,
    StringConstraints(min_length=1, max_length=10_000, strip_whitespace=True),
    AfterValidator(_refuse_control_characters),
]
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_refuse_control_characters)]


def _cents_of_study(value: Any) -> int:
    cents = cents_from_amount(value)
    if cents > 10_000_000:
        raise ValueError("must be between 0 and 100,000")
    return cents


def _check_currency(value: Any) -> str:
    if not isinstance(value, str) or value not in SIGNS:
        raise ValueError(f"{value!r} is no currency that we know; write one of {', '.join(SIGNS)}")
    return value


def _check_frame_height(pixels: int) -> int:
    """Refuse a frame that is too low to work in. 0 asks the marketplace to fit the worker's window."""
    if 0 < pixels < 300:
        raise ValueError("is too low to work in; set 300 pixels or more, or 0 to fit the worker's window")
    return pixels


def _check_country(value: Any) -> str:
    if not isinstance(value, str) or value not in COUNTRY_CODES:
        raise ValueError(f"{value!r} is no country's code; use ISO 3166 codes such as US, AU, NZ, GB, CA")
    return str(value)


def _check_language(value: str) -> str:
    # We check the form that BCP 47 asks for (language, script, region, variants), not whether such a language exists.
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?(-(\w{5,8}|\d\w{3}))*", value, re.ASCII):
        raise ValueError(f"{value!r} is no language tag; write it as in BCP 47: en, de, pt-BR, zh-Hant")
    return value


Cents = Annotated[int, BeforeValidator(_cents_of_study), PlainSerializer(lambda cents: f"{cents / 100:.2f}")]
Country = Annotated[str, BeforeValidator(_check_country)]


class Part(BaseModel):
    """A frozen group of settings. A misspelt setting is an error; it never silently becomes a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _is_empty(value: Any) -> bool:
    return not value


class DatasetPart(Part):
    name: Name
    dialog_count: int = Field(alias="dialogs", ge=1, le=10_000_000)
    # As many of each value of a label as of any other: 128 dialogs by emotion are 4 of each of 32 emotions.
    # Like `ids`, it is written down only where it is set.
    even_by: Literal["", "emotion", "gold_label"] = Field("", exclude_if=_is_empty)
    # These dialogs and no others; `dialogs` is their number, and need not be written then.
    ids: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default=[], max_length=100_000, exclude_if=_is_empty
    )

    @model_validator(mode="before")
    @classmethod
    def _count_ids(cls, settings: Any) -> Any:
        if isinstance(settings, Mapping) and isinstance(settings.get("ids"), list) and settings["ids"]:
            return {"dialogs": len(settings["ids"]), **settings}
        return settings


class DataPolicy(Part):
    """What to do when the data does not quite fit the design."""

    incomplete: Literal["refuse", "skip"] = "refuse"  # dialogs that some generator has not answered
    short: Literal["refuse", "take all"] = "refuse"  # a dataset with fewer dialogs than the study asks for


class HitPart(Part):
    dialogs_per_hit: int = Field(10, alias="dialogs", ge=1, le=100)
    assignments: int = Field(4, ge=1, le=90)
    uneven_end: Literal["spread", "drop"] = "spread"
    replacements: Literal["by hand", "at each sync"] = "by hand"  # for work that was excluded, rejected or expired
    # Submissions without answers are replaced before anyone decides on them, up to this share of all assignments.
    replace_undecided_share: float = Field(0.1, ge=0, le=1, allow_inf_nan=False)


class CheckpointPart(Part):
    per_hit: int = Field(3, ge=0, le=100)
    datasets: list[Name] = []
    max_attempts: int = Field(0, ge=0, le=100)  # presses of Bonus Validate; 0 means no limit
    counts: Literal["final", "first check"] = "final"  # which placement wins the point (hits.protocols.checkpoints)
    feedback: Literal["at once", "after submission"] = "at once"  # Bonus Validate tells, or the page tells at the end
    # Controls: items that come on top of a HIT's dialogs and make no ratings. They are written down only where set.
    attention_checks: int = Field(0, ge=0, le=10, exclude_if=_is_empty)  # a HIT; each tells what to answer
    repeats: int = Field(0, ge=0, le=20, exclude_if=_is_empty)  # a HIT: earlier items that come again
    attention_text: Annotated[
        str, StringConstraints(max_length=1000, strip_whitespace=True), AfterValidator(_refuse_control_characters)
    ] = Field("", exclude_if=_is_empty)  # what an attention check says; the usual words if empty

    @property
    def controls(self) -> int:
        return self.attention_checks + self.repeats

    @property
    def control_setting(self) -> str:
        """Return the setting that a problem with the number of controls names."""
        return "checkpoints.repeats" if self.repeats else "checkpoints.attention_checks"


class PayPart(Part):
    currency: Annotated[str, BeforeValidator(_check_currency)] = USUAL_CURRENCY  # of every amount of the study
    reward_cents: Cents = Field(40, alias="reward")  # 0: unpaid, where the crowd allows that
    bonus_cents: Cents = Field(10, alias="bonus")
    bonus_points: int = Field(3, ge=0, le=100)
    expected_minutes: float = Field(15, gt=0, le=1440, allow_inf_nan=False)
    minimum_hourly_cents: Cents = Field(725, alias="minimum_hourly")
    budget_cents: Cents | None = Field(None, alias="budget")
    approval: Literal["at once", "after a delay", "by hand"] = "at once"
    approval_delay_hours: int = Field(24, ge=0, le=30 * 24)


class CrowdPart(Part):
    # The crowd that the study is planned for: its fees price the draft, and its limits split the HITs. The study may be
    # offered on others as well, for example to a few colleagues first.
    name: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,20}$")] = USUAL_CROWD
    # Settings that only this crowd knows, such as its filters. It checks them itself; other crowds ignore them.
    options: dict[str, Any] = {}
    countries: list[Country] = Field(default=["US", "AU", "NZ", "GB", "CA"], max_length=30)
    min_approved: int = Field(100, ge=0, le=1_000_000)
    min_approval_percent: int = Field(95, ge=0, le=100)
    max_hits_per_worker: int = Field(50, ge=1, le=1_000_000)
    time_limit_minutes: int = Field(60, ge=1, le=60 * 24 * 365)
    lifetime_days: int = Field(14, ge=1, le=365)
    auto_approval_days: int = Field(3, ge=0, le=30)
    frame_height: Annotated[int, AfterValidator(_check_frame_height)] = Field(0, ge=0, le=5000)


class TaskPart(Part):
    """What workers read. Each protocol adds its own settings, and its own texts where the common ones do not fit."""

    # The first three go to the marketplace, which limits their length.
    title: Annotated[Text, Field(max_length=128)] = design_texts.TITLE
    description: Annotated[Text, Field(max_length=2000)]
    keywords: Annotated[Text, Field(max_length=1000)] = design_texts.KEYWORDS
    question: Text
    reply_style: Literal["tidied", "as written"] = "tidied"  # generation/tidying.py says what is changed
    welcome: Text
    instructions: Text
    consent: Text
    contact: Text = design_texts.CONTACT
    # Who runs the study, as workers read it: a group, a university. If empty, the page refers to the marketplace.
    requester: Annotated[
        str, StringConstraints(max_length=200, strip_whitespace=True), AfterValidator(_refuse_control_characters)
    ] = ""
    # The language of texts and dialogs. Screen readers, hyphenation and translation depend on it.
    language: Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_check_language)] = "en"

    @property
    def consent_version(self) -> str:
        """Return the SHA-256 of the consent text, so that we can always tell which text a worker agreed to."""
        return sha256(self.consent.encode()).hexdigest()


class WarmUpReply(Part):
    """A reply to practise on. Each protocol adds which answers fit it."""

    text: Text
    praise: Text = "Good choice."
    hint: Text = "Perhaps another one?"


class WarmUpPart(Part):
    context: list[Text] = Field(default=design_texts.WARM_UP_CONTEXT, min_length=1)
    replies: Sequence[WarmUpReply]


Outcome = Literal["share of best", "mean score", "win rate"]


class EmotionGroup(Part):
    """Emotions that results show together, such as the positive ones."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    emotions: list[Annotated[str, Field(min_length=1, max_length=100)]] = Field(min_length=1, max_length=200)


class AnalysisPart(Part):
    """What the study is to show, settled before anyone has rated. Everything else that results show is exploratory.

    Each protocol says which outcomes it offers, and has its own default.
    """

    outcome: Outcome = "share of best"
    compare: Literal["all pairs", "one against the others", "named pairs"] = "all pairs"  # the primary family
    reference: Annotated[str, Field(max_length=100)] = ""  # the generator that the others are compared with
    pairs: list[tuple[Name, Name]] = Field(default=[], max_length=190)
    # From how many dialogs on a fixed-sample verdict is given; 0 means all dialogs of the study.
    planned_dialogs: int = Field(0, ge=0, le=10_000_000)
    stop_when_decided: bool = False  # the study stops by itself when every primary pair is decided
    # In units of the outcome. A pair whose whole sequence lies within is decided as equal; with 0, none ever is.
    equal_within: float = Field(0.0, ge=0, le=100, allow_inf_nan=False)
    drop_losers: bool = False  # generators whose sequence lies below a living one's are shown in no new HIT
    wave_hits: int = Field(0, ge=0, le=1_000_000)  # HITs that are published at a time, by themselves; 0: by hand
    emotion_groups: list[EmotionGroup] = Field(default=[], max_length=20, exclude_if=_is_empty)

    @property
    def has_rule(self) -> bool:
        """True if the study may change while it runs. Then its confidence sequences decide, and nothing else."""
        return self.stop_when_decided or self.drop_losers


def default_rules() -> list[ScreeningRule]:
    """Return the rules of a study that names none, unless its protocol's design says otherwise."""
    return [rule.model_validate({}) for rule in ScreeningRule.by_name.values() if rule.is_default]


def rules_without_points(with_places: bool = False) -> list[ScreeningRule]:
    """Return them without those about points, where careful workers may well prefer a model's reply to the human one;
    `with_places` adds those that find who goes by the places of the replies."""
    return [
        rule.model_validate({})
        for rule in ScreeningRule.by_name.values()
        if (rule.is_default and not rule.is_about_points) or (with_places and rule.is_about_places)
    ]


class StudyDesign(Part):
    """The settings that all designs have. Each protocol has a subclass with its own (hits.protocols).

    `model_validate` picks the subclass by the setting `protocol`; without that setting, the protocol that is registered
    first.
    """

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
    analysis: AnalysisPart = AnalysisPart()
    screening: list[SerializeAsAny[ScreeningRule]] = Field(default_factory=default_rules)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        StudyDesign.of_protocol[cls.model_fields["protocol"].default] = cls

    @model_validator(mode="wrap")
    @classmethod
    def _validate_as_its_protocol(
        cls, settings: Any, read: ModelWrapValidatorHandler["StudyDesign"], info: ValidationInfo
    ) -> "StudyDesign":
        if cls is not StudyDesign or isinstance(settings, StudyDesign):
            return read(settings)
        first = next(iter(cls.of_protocol))
        name = settings.get("protocol", first) if isinstance(settings, Mapping) else first
        if not isinstance(name, str) or name not in cls.of_protocol:
            words = f"{name!r} is no protocol; known are {', '.join(cls.of_protocol)}"
            said = PydanticCustomError("protocol", "{words}", {"words": words})
            error = InitErrorDetails(type=said, loc=("protocol",), input=name)
            raise ValidationError.from_exception_data(cls.__name__, [error])
        of_protocol = cls.of_protocol[name]
        return of_protocol.model_validate(settings, context=info.context)

    @property
    def tells_points(self) -> bool:
        """False if pages say nothing of points: there is no bonus, and no button that would tell them."""
        return bool(self.pay.bonus_cents) or self.checkpoints.feedback == "at once"

    @property
    def items_per_hit(self) -> int:
        """Return how many conversations a worker goes through in a full HIT: its dialogs and the controls."""
        return self.hits.dialogs_per_hit + self.checkpoints.controls

    @property
    def primary_pairs(self) -> list[tuple[str, str]]:
        """Return the primary family: pairs of generators, each pair in the order of `generators`, none twice."""
        every = list(combinations(self.generators, 2))
        if self.analysis.compare == "one against the others":
            return [pair for pair in every if self.analysis.reference in pair]
        if self.analysis.compare == "named pairs":
            named = {frozenset(pair) for pair in self.analysis.pairs}
            return [pair for pair in every if frozenset(pair) in named]
        return every

    def shown(self, reply: str) -> str:
        """Return a reply as this study's workers read it."""
        return tidy_reply(reply, self.task.language) if self.task.reply_style == "tidied" else reply

    def as_json(self) -> dict[str, Any]:
        """Return the design in the shape of a study file."""
        return self.model_dump(mode="json", by_alias=True)
