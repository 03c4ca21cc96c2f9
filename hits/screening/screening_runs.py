"""Screens a study by its own rules or by others, writes nothing if nothing has changed, and undoes a screening."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import worker_ids
from hits.designing import parse_design
from hits.frames import study_frames
from hits.models import Event, Exclusion, Offering, ScreeningRun, Study
from hits.models.screening_rule import Finding, ScreeningRule
from hits.screening.funnel import Funnel
from hits.screening.funnel_counts import make_funnel
from hits.screening.rules import apply_rules


@dataclass(frozen=True)
class Screened:
    run: ScreeningRun
    rules: Sequence[ScreeningRule]
    findings: Sequence[Sequence[Finding]]  # by rule
    funnel: Funnel
    is_new: bool


def screen(
    offering: Offering, now: datetime, rules: Sequence[ScreeningRule] | None = None, by: User | None = None
) -> Screened:
    """Screen by the rules that the study was frozen with, or explore others. If the current run says the same, nothing
    is written."""
    if not offering.study.is_frozen:
        raise EvalPlatformError(f"{offering.study} has no HITs yet, and so nothing to screen: run build_hits first.")
    frozen = offering.study.parsed_design.screening
    rules = frozen if rules is None else rules
    frames = study_frames(offering)
    findings = apply_rules(frames, rules)
    funnel = make_funnel(frames, rules, findings)
    run = ScreeningRun(
        offering=offering,
        rules=_as_json(rules),
        is_frozen_rules=_as_json(rules) == _as_json(frozen),
        funnel=funnel.model_dump(mode="json"),
        made_by=by,
        made_at=now,
    )
    exclusions = _exclusions(run, rules, findings)
    with transaction.atomic():
        # Lock the study: of two screenings at once, the second finds what the first wrote.
        Study.objects.select_for_update().get(pk=offering.study.pk)
        current = ScreeningRun.objects.current(offering)
        if current is not None and _says_the_same(current, run, exclusions):
            return Screened(current, rules, findings, funnel, is_new=False)
        run.save()
        Exclusion.objects.bulk_create(exclusions, batch_size=500)
        Event.objects.create(study=offering.study, at=now, actor=by, text=_description(run, funnel))
    return Screened(run, rules, findings, funnel, is_new=True)


def undo_screening(offering: Offering, now: datetime, by: User | None = None) -> ScreeningRun | None:
    """Undo the current run, and return the run before it, which counts again. No rows are deleted."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=offering.study.pk)
        run = ScreeningRun.objects.current(offering)
        if run is None:
            raise EvalPlatformError(
                f"There is no screening of {offering.study} on the {offering.marketplace} marketplace to undo."
            )
        run.undone_at = now
        run.save(update_fields=["undone_at"])
        text = f"undid the screening of {run.made_at:%Y-%m-%d %H:%M} ({offering.marketplace}, {run.kind})"
        Event.objects.create(study=offering.study, at=now, actor=by, text=text)
    return ScreeningRun.objects.current(offering)


def parse_rules(study: Study, settings: Mapping[str, Any]) -> list[ScreeningRule]:
    """Read rules from the [[screening]] tables of a file, as in a study file. InvalidStudy names every problem."""
    if "screening" not in settings:
        raise EvalPlatformError("The file of rules has no [[screening]] table; write the rules as in a study file.")
    return parse_design({**study.design, "screening": settings["screening"]}).screening


def _exclusions(
    run: ScreeningRun, rules: Sequence[ScreeningRule], findings: Sequence[Sequence[Finding]]
) -> list[Exclusion]:
    ids = worker_ids(run.offering)
    return [
        Exclusion(
            run=run,
            step=step,
            rule=rule.rule,
            parameters=rule.parameters,
            crowd_worker_id="" if finding.submission else ids[finding.worker],
            submission_id=finding.submission,
            evidence=finding.evidence,
        )
        for step, (rule, found) in enumerate(zip(rules, findings, strict=True))
        for finding in found
    ]


def _says_the_same(current: ScreeningRun, run: ScreeningRun, exclusions: Sequence[Exclusion]) -> bool:
    if (current.rules, current.funnel) != (run.rules, run.funnel):
        return False
    return [_content(one) for one in current.exclusions.order_by("pk")] == [_content(one) for one in exclusions]


def _content(exclusion: Exclusion) -> tuple[Any, ...]:
    return exclusion.step, exclusion.crowd_worker_id, exclusion.submission_id, exclusion.evidence


def _as_json(rules: Sequence[ScreeningRule]) -> list[dict[str, Any]]:
    return [rule.model_dump(mode="json") for rule in rules]


def _description(run: ScreeningRun, funnel: Funnel) -> str:
    received, kept = funnel.received.assignments, funnel.kept.assignments
    rules = ", ".join(rule["rule"] for rule in run.rules) or "none"
    left_out = f"{received - kept:,} of {count_of(received, 'assignment')} left out"
    return f"screened the work on {run.offering.marketplace} {run.kind} ({rules}): {left_out}"
