"""Looks at a running study for its rule: computes and stores the primary pairs' sequences on whole HITs."""

from datetime import datetime

from django.db import IntegrityError, transaction

from hits.analysing import (
    WholeHits,
    analyse,
    findings_as_json,
    findings_from_json,
    plan_of,
    scales_of,
    sequences_of,
)
from hits.deciding.rule_state import source_of_look
from hits.frames import ratings_frame
from hits.models import Offering, RuleLook, ScreeningRun
from hits.screening import mark_exclusions, submissions_by_rule
from hits.stats import SequenceFinding, carry_on


def look(offering: Offering, whole: WholeHits, now: datetime) -> RuleLook | None:
    """Return the look at the present data: a stored one if the rule has seen just this before. None without data."""
    if not whole.numbers:
        return None
    source = source_of_look(offering, whole)
    same = RuleLook.objects.filter(offering=offering, source=source)
    if (known := same.first()) is not None:
        return known
    findings, assignments = _find(offering, whole)
    last = RuleLook.objects.filter(offering=offering).first()
    before = () if last is None else findings_from_json(last.findings)
    try:
        with transaction.atomic():
            return RuleLook.objects.create(
                offering=offering,
                looked_at=now,
                source=source,
                hits=len(whole.numbers),
                assignments=assignments,
                findings=findings_as_json(carry_on(before, findings)),
            )
    except IntegrityError:  # another sync has looked at the same data just now
        return same.get()


def _find(offering: Offering, whole: WholeHits) -> tuple[tuple[SequenceFinding, ...], int]:
    study = offering.study
    frame = ratings_frame(offering)
    frame = frame[frame["hit"].isin(whole.numbers)].reset_index(drop=True)
    assignments = int(frame["submission"].nunique())
    if frame.empty:
        return (), assignments
    mark_exclusions(frame, submissions_by_rule(ScreeningRun.objects.current(offering)))
    plan = plan_of(study)
    results = analyse(frame, scales=scales_of(study), plan=plan)
    return sequences_of(results.main, plan, study.parsed_design.analysis.equal_within), assignments
