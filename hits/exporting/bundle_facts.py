"""Defines what happened in a study and does not stand in its ratings; facts.json holds it.

`Sources` puts these facts beside the frozen design (from the manifest) and the results (from the ratings): every text
of a bundle is written from these three, so that `check_bundle` can write it again without a database. gathering_facts
asks the database.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from hits.analysing import Origin, Results
from hits.batching import SEQUENCE_TAU2
from hits.exporting.reached_power import PowerFacts
from hits.models.design import StudyDesign
from hits.models.screening_rule import FROZEN, ScreeningRule
from hits.screening import Funnel

FILE = "facts.json"


class MoneyMoves(StrEnum):
    """Where an assignment's pay goes. Only the first is a claim that anyone received it."""

    THERE = "there"  # through the crowd, to people who get it
    NOWHERE = "nowhere"  # the crowd's environment counts it only
    ELSEWHERE = "elsewhere"  # the crowd pays nobody: the ledger lists what the researchers owe


class Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Paid(Fact):
    kind: str
    count: int
    cents: int
    fee_cents: int


class Minutes(Fact):
    """How long the work on an assignment took, and what the reward alone pays an hour at the median."""

    assignments: int
    percentiles: dict[str, float]  # 10, 25, 50, 75 and 90
    hourly_cents: int


class Consent(Fact):
    """Who agreed to what: assignments with work, by the SHA-256 of the text that their workers agreed to."""

    version: str  # of the text in the frozen design
    agreements: int  # assignments whose workers agreed to this version
    workers: int  # the different workers among them
    other_versions: int
    without: int


class Screened(Fact):
    rules: list[dict[str, Any]]
    is_frozen_rules: bool
    screenings: int  # how often the study was screened, this one and those before it
    exploratory_screenings: int  # those of them that used other rules than the frozen ones
    funnel: Funnel


class Facts(Fact):
    """What happened. `problems` counts submissions without ratings. Dates are in UTC. Where not all work is from
    people, nothing is told of pay, time and agreements: nobody was paid, and nobody agreed."""

    warning: str  # what every file says that shows results; empty if all assignments came from people
    study: str
    marketplace: str
    place: str  # the marketplace in words
    dialogs: int  # in the design
    hits_built: int
    hits_published: int
    waves: int
    workers: int
    submissions: int
    problems: int
    rejected: int
    returned: int = 0  # given back after they were handed in, because somebody asked for it
    attention_checks: int = 0  # in all work that has ratings, and how many of them were answered as told
    attention_passed: int = 0
    extra: int = 0  # submissions beyond a HIT's places, by workers who were late
    first_on: str
    last_on: str
    paid: tuple[Paid, ...]
    minutes: Minutes | None
    consent: Consent
    screened: Screened | None
    power: PowerFacts
    stopped_by_rule: str  # why the study's own rule has stopped it: decided or budget; empty if it has not
    software: dict[str, str]
    recruited: str = ""  # in words; empty: on the place
    money: MoneyMoves = MoneyMoves.THERE  # if not there, `paid` is what was due
    called: str = "worker"  # what those who rated are called there; rater, where nobody was hired
    is_hired_there: bool = True  # whether the crowd found the raters; if not, the researchers did
    has_qualifications: bool = True  # whether the crowd admitted only whom the design says
    declined: int = 0  # people who read the consent text on a page of ours and did not agree
    is_framed: bool = True  # whether the crowd shows the worker's page in a frame of its own
    # Where several offerings are put together: the facts of each. Then nothing about pay and time is told for all of
    # them: `paid` is empty and `minutes` None.
    parts: tuple["Facts", ...] = ()

    def paid_for(self, kind: str) -> Paid:
        return next((one for one in self.paid if one.kind == kind), Paid(kind=kind, count=0, cents=0, fee_cents=0))

    def as_json(self) -> str:
        return self.model_dump_json(indent=1) + "\n"


@dataclass(frozen=True)
class Sources:
    """What the texts of a bundle are written from."""

    facts: Facts
    design: StudyDesign
    manifest_sha256: str
    results: Results

    @cached_property
    def parts(self) -> list["Sources"]:
        """The sources of each offering where several are put together, else these alone."""
        origins = {one.offering: one.origin for one in self.results.offerings}
        return [
            replace(self, facts=one, results=replace(self.results, origin=origins.get(one.marketplace, Origin())))
            for one in self.facts.parts
        ] or [self]

    @property
    def counted_workers(self) -> int:
        """How many workers the results count: of this offering, if the facts are those of one among several."""
        of_offering = {one.offering: one.workers for one in self.results.offerings}
        return of_offering.get(self.facts.marketplace, self.results.main.size.workers)

    @property
    def rules(self) -> list[ScreeningRule]:
        screened = self.facts.screened
        return [ScreeningRule.model_validate(rule, context=FROZEN) for rule in screened.rules] if screened else []

    @property
    def is_from_people(self) -> bool:
        return self.results.origin.is_from_people


def read_facts(folder: Path) -> Facts:
    try:
        return Facts.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{FILE} is missing, or can't be read") from error
    except ValidationError as error:
        raise EvalPlatformError(f"{FILE} is not as export_study writes it: {error.errors()[0]['msg']}") from error


def read_design(folder: Path) -> tuple[StudyDesign, dict[str, float]]:
    """Return the frozen design and each criterion's tau2, which are in the first line of the manifest."""
    try:
        with (folder / "manifest.jsonl").open("rb") as file:
            head = json.loads(file.readline())
        return StudyDesign.model_validate(head["design"], context=FROZEN), dict(head[SEQUENCE_TAU2])
    except OSError as error:
        raise EvalPlatformError("manifest.jsonl is missing, or can't be read") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:  # includes pydantic's
        raise EvalPlatformError("manifest.jsonl has no design that this version of EvalPlatform reads") from error


def join_names(names: Sequence[str], last: str = "and") -> str:
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
