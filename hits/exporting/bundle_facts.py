"""Gathers what really happened in a study from the database, for the methods paragraph and the datasheet."""

import platform
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version

from django.db.models import Count, Max, Min, QuerySet, Sum

from evalplatform import __version__
from hits.analysing import Results
from hits.models import Offering, Payment, Publication, ScreeningRun, Submission
from hits.models.design import StudyDesign
from hits.paying import RealPay, real_pay
from hits.screening import Funnel, funnel_of

LIBRARIES = ("django", "numpy", "pandas", "scipy", "matplotlib", "pyarrow")


@dataclass(frozen=True)
class Paid:
    kind: str
    count: int
    cents: int
    fee_cents: int


@dataclass(frozen=True)
class Facts:
    """What happened in a study. `problems` counts submissions without ratings. Dates are in UTC."""

    study: str
    marketplace: str
    manifest_sha256: str
    design: StudyDesign
    dialogs: int
    hits_built: int
    hits_published: int
    waves: int
    workers: int
    submissions: int
    problems: int
    rejected: int
    first_at: datetime | None
    last_at: datetime | None
    paid: tuple[Paid, ...]
    pay: RealPay | None
    run: ScreeningRun | None
    funnel: Funnel | None
    results: Results
    software: dict[str, str]

    def paid_for(self, kind: str) -> Paid:
        return next((one for one in self.paid if one.kind == kind), Paid(kind, 0, 0, 0))


def gather_facts(offering: Offering, results: Results) -> Facts:
    published = Publication.objects.filter(offering=offering).confirmed().current()
    submissions = Submission.objects.filter(assignment__offering=offering)
    times = submissions.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    run = ScreeningRun.objects.current(offering)
    return Facts(
        study=offering.study.name,
        marketplace=offering.place,
        manifest_sha256=offering.study.manifest_hash,
        design=offering.study.parsed_design,
        dialogs=int((offering.study.manifest or {})["dialogs"]),
        hits_built=offering.study.hits.count(),
        hits_published=published.count(),
        waves=published.order_by().values("wave").distinct().count(),
        workers=submissions.order_by().values("assignment__crowd_worker_id").distinct().count(),
        submissions=submissions.count(),
        problems=submissions.exclude(problem="").count(),
        rejected=submissions.filter(status=Submission.Status.REJECTED).count(),
        first_at=times["first"],
        last_at=times["last"],
        paid=tuple(_sum_payments(submissions)),
        pay=real_pay(offering),
        run=run,
        funnel=funnel_of(run),
        results=results,
        software=software(),
    )


def software() -> dict[str, str]:
    return {
        "evalplatform": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _sum_payments(submissions: QuerySet[Submission]) -> list[Paid]:
    rows = Payment.objects.filter(submission__in=submissions).paid().order_by().values("kind")
    sums = rows.annotate(count=Count("pk"), total=Sum("cents"), fees=Sum("fee_cents"))
    by_kind = {row["kind"]: Paid(row["kind"], row["count"], row["total"], row["fees"]) for row in sums}
    return [by_kind[kind] for kind in Payment.Kind.values if kind in by_kind]
