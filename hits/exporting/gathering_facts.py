"""Gathers from the database what happened in a study and does not stand in its ratings.

In: an offering and its results. Out: `Facts`, plain numbers and words.
"""

import platform
from importlib.metadata import version
from statistics import quantiles

from django.db.models import Count, Max, Min, QuerySet, Sum

from evalplatform import __version__
from hits.analysing import Results
from hits.crowds import all_marketplaces, crowd_of, environment_of
from hits.exporting.bundle_facts import Consent, Facts, Minutes, MoneyMoves, Paid, Screened
from hits.exporting.reached_power import power_facts
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
from hits.paying import real_pay, worked_minutes
from hits.screening import funnel_of

LIBRARIES = ("django", "numpy", "pandas", "scipy", "matplotlib", "pyarrow")


def gather_facts(offering: Offering, results: Results) -> Facts:
    published = Publication.objects.filter(offering=offering).confirmed().current()
    submissions = Submission.objects.filter(assignment__offering=offering)
    times = submissions.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    first_on, last_on = (f"{at:%Y-%m-%d}" if at else "" for at in (times["first"], times["last"]))
    is_from_people = results.origin.is_from_people
    crowd, environment = crowd_of(offering), environment_of(offering)
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
        recruited=environment.recruited,
        money=_where_money_moves(offering),
        called=crowd.words.worker if environment.has_real_raters else "rater",
        is_hired_there=environment.has_real_raters,
        # An emulation asks its own accounts, which say whatever their researcher has typed.
        has_qualifications=crowd.abilities.can_check_qualifications and environment.has_real_raters,
        declined=Departure.objects.filter(link__offering=offering, outcome=Outcome.NO_CONSENT).count(),
        is_framed=crowd.abilities.is_framed,
    )


def _where_money_moves(offering: Offering) -> MoneyMoves:
    if not crowd_of(offering).abilities.pays_workers:
        return MoneyMoves.ELSEWHERE
    return MoneyMoves.THERE if environment_of(offering).is_real_money else MoneyMoves.NOWHERE


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
