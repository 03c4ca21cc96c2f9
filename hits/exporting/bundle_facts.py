"""Gathers from the database what happened in a study and does not stand in its ratings; facts.json holds it.

In: an offering. Out: `Facts`, plain numbers and words. `Sources` puts them beside the frozen design (from the manifest)
and the results (from the ratings): every text of a bundle is written from these three, so that `check_bundle` can write
it again without a database.
"""

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import quantiles
from typing import Any

from django.db.models import Count, Max, Min, QuerySet, Sum
from pydantic import BaseModel, ConfigDict, ValidationError

from evalplatform import __version__
from evalplatform.errors import EvalPlatformError
from hits.analysing import Results
from hits.batching import SEQUENCE_TAU2
from hits.crowds import all_marketplaces, crowd_of, environment_of
from hits.exporting.reached_power import PowerFacts, power_facts
from hits.models import (
    Assignment,
    Departure,
    Offering,
    Outcome,
    Payment,
    Publication,
    RuleStop,
    ScreeningRun,
    Submission,
)
from hits.models.design import StudyDesign
from hits.models.screening_rule import FROZEN, ScreeningRule
from hits.paying import real_pay, worked_minutes
from hits.screening import Funnel, funnel_of

FILE = "facts.json"
LIBRARIES = ("django", "numpy", "pandas", "scipy", "matplotlib", "pyarrow")


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
    pays_workers: bool = True  # False if no money went through the crowd: then `paid` is what was due elsewhere
    has_qualifications: bool = True  # whether the crowd admitted only whom the design says
    declined: int = 0  # people who read the consent text on a page of ours and did not agree
    is_framed: bool = True  # whether the crowd shows the worker's page in a frame of its own

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

    @property
    def rules(self) -> list[ScreeningRule]:
        screened = self.facts.screened
        return [ScreeningRule.model_validate(rule, context=FROZEN) for rule in screened.rules] if screened else []

    @property
    def is_from_people(self) -> bool:
        return self.results.origin.is_from_people


def gather_facts(offering: Offering, results: Results) -> Facts:
    published = Publication.objects.filter(offering=offering).confirmed().current()
    submissions = Submission.objects.filter(assignment__offering=offering)
    times = submissions.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    first_on, last_on = (f"{at:%Y-%m-%d}" if at else "" for at in (times["first"], times["last"]))
    is_from_people = results.origin.is_from_people
    stop = RuleStop.objects.filter(offering=offering).standing().first()
    dialogs = int((offering.study.manifest or {})["dialogs"])
    return Facts(
        warning=results.origin.warning,
        study=offering.study.name,
        marketplace=offering.marketplace,
        place=all_marketplaces()[offering.marketplace].environment.described,
        dialogs=dialogs,
        hits_built=offering.study.hits.count(),
        hits_published=published.count(),
        waves=published.order_by().values("wave").distinct().count(),
        workers=_count_workers(submissions),
        submissions=submissions.count(),
        problems=submissions.exclude(problem="").count(),
        rejected=submissions.filter(status=Submission.Status.REJECTED).count(),
        returned=submissions.filter(status=Submission.Status.RETURNED).count(),
        extra=submissions.filter(assignment__place=Assignment.Place.EXTRA).count(),
        first_on=first_on,
        last_on=last_on,
        paid=tuple(_sum_payments(submissions)) if is_from_people else (),
        minutes=_minutes(offering) if is_from_people else None,
        consent=_consent(offering, is_from_people),
        screened=_screened(offering),
        power=power_facts(offering.study.parsed_design, dialogs, results),
        stopped_by_rule=stop.kind if stop else "",
        software=software(),
        recruited=environment_of(offering).recruited,
        pays_workers=crowd_of(offering).abilities.pays_workers,
        has_qualifications=crowd_of(offering).abilities.can_check_qualifications,
        declined=Departure.objects.filter(link__offering=offering, outcome=Outcome.NO_CONSENT).count(),
        is_framed=crowd_of(offering).abilities.is_framed,
    )


def software() -> dict[str, str]:
    return {
        "evalplatform": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _count_workers(submissions: QuerySet[Submission]) -> int:
    return submissions.order_by().values("assignment__crowd_worker_id").distinct().count()


def _sum_payments(submissions: QuerySet[Submission]) -> list[Paid]:
    rows = Payment.objects.filter(submission__in=submissions).paid().order_by().values("kind")
    sums = rows.annotate(count=Count("pk"), total=Sum("cents"), fees=Sum("fee_cents"))
    by_kind = {
        row["kind"]: Paid(kind=row["kind"], count=row["count"], cents=row["total"], fee_cents=row["fees"])
        for row in sums
    }
    return [by_kind[kind] for kind in Payment.Kind.values if kind in by_kind]


def _minutes(offering: Offering) -> Minutes | None:
    pay = real_pay(offering)
    if pay is None:
        return None
    cuts = quantiles(worked_minutes(offering), n=20, method="inclusive")  # every five per cent
    shown = {str(percent): round(cuts[percent // 5 - 1], 2) for percent in (10, 25, 50, 75, 90)}
    return Minutes(assignments=pay.count, percentiles=shown, hourly_cents=pay.hourly_cents)


def _consent(offering: Offering, is_from_people: bool) -> Consent:
    wanted = offering.study.parsed_design.task.consent_version
    if not is_from_people:
        return Consent(version=wanted, agreements=0, workers=0, other_versions=0, without=0)
    worked = Assignment.objects.filter(offering=offering, submission__isnull=False)
    agreed = worked.filter(consented_at__isnull=False)
    ours = agreed.filter(consent_version=wanted)
    return Consent(
        version=wanted,
        agreements=ours.count(),
        workers=ours.order_by().values("crowd_worker_id").distinct().count(),
        other_versions=agreed.exclude(consent_version=wanted).count(),
        without=worked.filter(consented_at=None).count(),
    )


def _screened(offering: Offering) -> Screened | None:
    run = ScreeningRun.objects.current(offering)
    funnel = funnel_of(run)
    if run is None or funnel is None:
        return None
    runs = ScreeningRun.objects.filter(offering=offering, pk__lte=run.pk)
    return Screened(
        rules=run.rules,
        is_frozen_rules=run.is_frozen_rules,
        screenings=runs.count(),
        exploratory_screenings=runs.filter(is_frozen_rules=False).count(),
        funnel=funnel,
    )


# --- Reading them back ------------------------------------------------------------------------------------------------


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
