"""Gathers from the database what happened in a study and does not stand in its ratings.

In: an offering and its results, or a pool of several. Out: `Facts`, plain numbers and words. Money of several offerings
is never added up: they may have moved it in different ways.
"""

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from statistics import quantiles

from django.db.models import Count, Max, Min, QuerySet, Sum

from evalplatform import __version__
from hits.analysing import Results, offerings_of
from hits.crowds import all_marketplaces, crowd_of, environment_of, recruited_by
from hits.exporting.bundle_facts import Consent, Facts, Minutes, MoneyMoves, Paid, Screened, join_names
from hits.exporting.reached_power import PowerFacts, power_facts
from hits.models import (
    Assignment,
    Departure,
    Offering,
    Outcome,
    Payment,
    Pool,
    Publication,
    RuleStop,
    Scope,
    ScreeningRun,
    Study,
    Submission,
)
from hits.paying import real_pay, worked_minutes
from hits.protocols import protocol_of
from hits.screening import Funnel, funnel_of, pooled_funnel

TOLD_TOGETHER = "it is told for all offerings together"
LIBRARIES = ("django", "numpy", "pandas", "scipy", "matplotlib", "pyarrow")


def gather_facts(scope: Scope, results: Results) -> Facts:
    power = power_facts(scope.study.parsed_design, _designed_dialogs(scope.study), results)
    if isinstance(scope, Offering):
        return _facts_of_offering(scope, results, power)
    origins = {one.offering: one.origin for one in results.offerings}
    offerings = offerings_of(scope)
    parts = [
        _facts_of_offering(one, replace(results, origin=origins[one.marketplace]), PowerFacts(problem=TOLD_TOGETHER))
        for one in offerings
    ]
    return _facts_together(scope, offerings, parts, results, power)


TOTALS = (
    *("submissions", "problems", "rejected", "returned", "extra", "declined"),
    *("attention_checks", "attention_passed"),
)


def _facts_together(
    pool: Pool, offerings: Sequence[Offering], parts: Sequence[Facts], results: Results, power: PowerFacts
) -> Facts:
    """Add up what can be added up. What was paid and how long it took is told for each offering only."""
    published = Publication.objects.filter(offering__in=offerings).confirmed().current()
    submissions = Submission.objects.filter(assignment__offering__in=offerings)
    workers = submissions.order_by().values("assignment__offering__crowd", "assignment__crowd_worker_id").distinct()
    moves = {one.money for one in parts}
    called = {one.called for one in parts}
    consents = [one.consent for one in parts]

    def total(name: str) -> int:
        return sum(int(getattr(one, name)) for one in parts)

    return parts[0].model_copy(
        update={
            "warning": results.origin.warning,
            "marketplace": pool.marketplace,
            "place": join_names([one.place for one in parts]),
            "hits_published": published.order_by().values("hit").distinct().count(),
            "waves": 1,
            "workers": workers.count(),
            **{name: total(name) for name in TOTALS},
            "first_on": min(one.first_on for one in parts),
            "last_on": max(one.last_on for one in parts),
            "paid": (),
            "minutes": None,
            "consent": Consent(
                version=consents[0].version,
                **{
                    name: sum(getattr(one, name) for one in consents)
                    for name in ("agreements", "workers", "other_versions", "without")
                },
            ),
            "screened": _screened_together(parts, pooled_funnel(offerings)),
            "power": power,
            "stopped_by_rule": next((one.stopped_by_rule for one in parts if one.stopped_by_rule), ""),
            "recruited": "",
            "money": moves.pop() if len(moves) == 1 else MoneyMoves.ELSEWHERE,
            "called": called.pop() if len(called) == 1 else "rater",
            "is_hired_there": all(one.is_hired_there for one in parts),
            "has_qualifications": all(one.has_qualifications for one in parts),
            "is_framed": any(one.is_framed for one in parts),
            "parts": tuple(parts),
        }
    )


def _screened_together(parts: Sequence[Facts], funnel: Funnel | None) -> Screened | None:
    screened = [one.screened for one in parts if one.screened is not None]
    if funnel is None or not screened:
        return None
    return Screened(
        rules=screened[0].rules,
        is_frozen_rules=all(one.is_frozen_rules for one in screened),
        screenings=sum(one.screenings for one in screened),
        exploratory_screenings=sum(one.exploratory_screenings for one in screened),
        funnel=funnel,
    )


def _facts_of_offering(offering: Offering, results: Results, power: PowerFacts) -> Facts:
    published = Publication.objects.filter(offering=offering, hit__added_for=None).confirmed().current()
    submissions = Submission.objects.filter(assignment__offering=offering)
    times = submissions.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    first_on, last_on = (f"{at:%Y-%m-%d}" if at else "" for at in (times["first"], times["last"]))
    is_from_people = results.origin.is_from_people
    crowd, environment = crowd_of(offering), environment_of(offering)
    stop = RuleStop.objects.filter(offering=offering).standing().first()
    return Facts(
        warning=results.origin.warning,
        study=offering.study.name,
        marketplace=offering.marketplace,
        place=all_marketplaces()[offering.marketplace].environment.described,
        dialogs=_designed_dialogs(offering.study),
        hits_built=offering.study.hits.frozen().count(),
        hits_published=published.count(),
        waves=published.order_by().values("wave").distinct().count(),
        workers=_count_workers(submissions),
        submissions=submissions.count(),
        problems=submissions.exclude(problem="").count(),
        rejected=submissions.filter(status=Submission.Status.REJECTED).count(),
        **_attention(submissions),
        returned=submissions.filter(status=Submission.Status.RETURNED).count(),
        extra=submissions.filter(assignment__place=Assignment.Place.EXTRA).count(),
        first_on=first_on,
        last_on=last_on,
        paid=tuple(_sum_payments(submissions)) if is_from_people else (),
        minutes=_minutes(offering) if is_from_people else None,
        consent=_consent(offering, is_from_people),
        screened=_screened(offering),
        power=power,
        stopped_by_rule=stop.kind if stop else "",
        software=software(),
        recruited=recruited_by(offering, environment.recruited),
        money=_where_money_moves(offering),
        called=crowd.words.worker if environment.has_real_raters else "rater",
        is_hired_there=environment.has_real_raters,
        # An emulation asks its own accounts, which say whatever their researcher has typed.
        has_qualifications=crowd.abilities.can_check_qualifications and environment.has_real_raters,
        declined=Departure.objects.filter(link__offering=offering, outcome=Outcome.NO_CONSENT).count(),
        is_framed=crowd.abilities.is_framed,
    )


def _designed_dialogs(study: Study) -> int:
    """Count the different dialogs; the manifest counts each as often as the protocol shows it."""
    return int((study.manifest or {})["dialogs"]) // protocol_of(study.parsed_design).showings


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


def _attention(submissions: QuerySet[Submission]) -> dict[str, int]:
    """Count attention checks of the work that has ratings, and how many of them were answered as told."""
    names = ("attention_checks", "attention_passed")
    return submissions.filter(problem="").aggregate(**{name: Sum(name, default=0) for name in names})
