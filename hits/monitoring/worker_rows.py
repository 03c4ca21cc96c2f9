"""Lists a study's workers: what each did, how long it took, and what the screening says about them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import median

from django.db.models import Count, Q

from hits.access import pseudonym
from hits.collecting import counted_minutes
from hits.models import Assignment, Exclusion, Offering, ScreeningRun, Standing, Submission
from hits.models.assignment import AssignmentQuerySet
from hits.monitoring.checkpoint_rows import Passed, passed_by_worker
from hits.monitoring.control_rows import Controls, controls_by_worker
from hits.screening import describe_facts

Status = Submission.Status


@dataclass(frozen=True)
class Flag:
    """An exclusion in words. It has an `assignment_pk` if it is about a single assignment."""

    rule: str
    evidence: str
    is_exploratory: bool
    assignment_pk: int | None
    hit_number: int | None


@dataclass(frozen=True)
class WorkerRow:
    name: str
    accepted: int
    submitted: int
    approved: int
    rejected: int
    given_up: int
    median_minutes: float | None
    passed: Passed
    controls: Controls
    flags: list[Flag]
    standings: list[Standing]
    worker_id: str = field(repr=False)  # the marketplace's own id, for actions; pages show the name

    @property
    def flags_in_short(self) -> list[Flag]:
        """The flags, with those about single assignments put together rule by rule."""
        groups: dict[tuple[str, bool, bool], list[Flag]] = {}
        for flag in self.flags:
            groups.setdefault((flag.rule, flag.is_exploratory, flag.assignment_pk is None), []).append(flag)
        return [
            flags[0] if len(flags) == 1 else replace(flags[0], evidence=f"in {len(flags)} assignments")
            for flags in groups.values()
        ]

    @property
    def blocks(self) -> list[Standing]:
        """The active blocks that a researcher made by hand."""
        return [one for one in self.standings if one.lifted_at is None and one.kind != Standing.Kind.CAP]

    @property
    def is_capped(self) -> bool:
        return any(one.lifted_at is None and one.kind == Standing.Kind.CAP for one in self.standings)


def list_workers(offering: Offering, worker_id: str | None = None) -> list[WorkerRow]:
    """List all workers who have opened a HIT, or only one of them."""
    assignments = Assignment.objects.filter(offering=offering)
    if worker_id is not None:
        assignments = assignments.filter(crowd_worker_id=worker_id)
    minutes = _minutes_by_worker(assignments)
    passed = passed_by_worker(offering, worker_id)
    controls = controls_by_worker(offering, worker_id)
    flags = flags_by_worker(offering, worker_id)
    standings = _standings_by_worker(offering, worker_id)
    return [
        WorkerRow(
            name=pseudonym(offering.study, who),
            median_minutes=median(minutes[who]) if who in minutes else None,
            passed=passed.get(who, Passed()),
            controls=controls.get(who, Controls()),
            flags=flags.get(who, []),
            standings=standings.get(who, []),
            worker_id=who,
            **counts,
        )
        for who, counts in _counts_by_worker(assignments).items()
    ]


def find_worker(offering: Offering, name: str) -> str | None:
    """Return the marketplace's own id of the worker with this pseudonym."""
    assignments = Assignment.objects.filter(offering=offering)
    ids = assignments.order_by().values_list("crowd_worker_id", flat=True).distinct()
    return next((worker_id for worker_id in ids if pseudonym(offering.study, worker_id) == name), None)


def refused_standings(offering: Offering) -> list[tuple[str, int]]:
    """List why the marketplace did not keep workers out, or let them in again, as we told it, and how often."""
    refused = Standing.objects.filter(offering=offering).exclude(refusal="").order_by().values("refusal")
    return list(refused.annotate(count=Count("pk")).values_list("refusal", "count").order_by("-count", "refusal"))


def flags_by_worker(offering: Offering, worker_id: str | None = None) -> dict[str, list[Flag]]:
    """Return each worker's flags from the current screening. If that explores other rules, the flags from the study's
    own rules are there as well."""
    runs = ScreeningRun.objects.filter(offering=offering, undone_at=None)
    current, frozen = runs.first(), runs.filter(is_frozen_rules=True).first()
    rows = Exclusion.objects.filter(run__in={run.pk for run in (current, frozen) if run})
    rows = rows.select_related("run", "submission__assignment__hit").defer("submission__answer_xml")
    rows = rows.order_by("run", "step", "pk")
    if worker_id is not None:
        rows = rows.filter(Q(crowd_worker_id=worker_id) | Q(submission__assignment__crowd_worker_id=worker_id))
    found: dict[str, list[Flag]] = {}
    for row in rows:
        assignment = row.submission and row.submission.assignment
        flag = Flag(
            row.rule,
            describe_facts(row.evidence),
            not row.run.is_frozen_rules,
            assignment.pk if assignment else None,
            assignment.hit.shown_number if assignment else None,
        )
        found.setdefault(assignment.crowd_worker_id if assignment else row.crowd_worker_id, []).append(flag)
    return found


def _counts_by_worker(assignments: AssignmentQuerySet) -> dict[str, dict[str, int]]:
    rows = (
        assignments.order_by()
        .values("crowd_worker_id")
        .annotate(
            accepted=Count("pk"),
            submitted=Count("submission"),
            approved=Count("pk", filter=Q(submission__status=Status.APPROVED)),
            rejected=Count("pk", filter=Q(submission__status=Status.REJECTED)),
            given_up=Count("pk", filter=Q(submission=None) & ~Q(ended_as="")),
        )
    )
    names = ("accepted", "submitted", "approved", "rejected", "given_up")
    return {who: dict(zip(names, counts, strict=True)) for who, *counts in rows.values_list("crowd_worker_id", *names)}


def _minutes_by_worker(assignments: AssignmentQuerySet) -> dict[str, list[float]]:
    """Return the active minutes of each worker's confirmed assignments, where the page measured them."""
    confirmed = (
        assignments.filter(submission__isnull=False).select_related("submission").defer("submission__answer_xml")
    )
    listed = list(confirmed)
    whose = {one.pk: one.crowd_worker_id for one in listed}
    found: dict[str, list[float]] = {}
    for pk, minutes in counted_minutes(listed).items():
        found.setdefault(whose[pk], []).append(minutes)
    return found


def _standings_by_worker(offering: Offering, worker_id: str | None) -> dict[str, list[Standing]]:
    rows: Iterable[Standing] = (
        Standing.objects.filter(offering=offering)
        .filter(Q() if worker_id is None else Q(crowd_worker_id=worker_id))
        .select_related("made_by")
    )
    found: dict[str, list[Standing]] = {}
    for row in rows:
        found.setdefault(row.crowd_worker_id, []).append(row)
    return found
