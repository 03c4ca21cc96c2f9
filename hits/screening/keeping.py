"""Tells which rules leave which submissions out, also those that came after the screening.

In: a screening run, or none. Out: the rules against each submission. Guaranteed: an exclusion of a worker counts for
all their submissions, even those that came after the screening; without a run, everything is kept. This file needs no
pandas, because pages and the API use it too. For ratings there is `Rating.objects.kept(run)`, for frames `kept_mask`.
"""

from collections.abc import Iterator, Mapping

from django.db.models import Q

from evalplatform.wording import count_of
from hits.models import Offering, ScreeningRun, Submission
from hits.models.submission import SubmissionQuerySet
from hits.screening.findings import submissions_named


def first_rules(run: ScreeningRun | None, work: Mapping[int, str] | None = None) -> dict[int, str]:
    """Return, for each submission that is left out, the first rule against it. To ask about some submissions only, give
    their workers' ids by submission in `work`."""
    found: dict[int, str] = {}
    for rule, submission in _rules_with_submissions(run, work):
        found.setdefault(submission, rule)
    return found


def submissions_by_rule(run: ScreeningRun | None) -> dict[str, list[int]]:
    """Return the submissions that each rule of the run leaves out, alone or with other rules, in the rules' order."""
    found: dict[str, list[int]] = {rule: [] for rule in rule_names(run)}
    for rule, submission in _rules_with_submissions(run):
        found[rule].append(submission)
    return found


def rule_names(run: ScreeningRun | None) -> list[str]:
    return list(dict.fromkeys(str(rule["rule"]) for rule in run.rules)) if run else []


def unscreened_count(run: ScreeningRun) -> int:
    """Count the submissions that came in after the screening. Their workers may be excluded, but no rule has looked at
    these submissions themselves."""
    return _submissions(run).with_answers().count() - int(run.funnel["received"]["assignments"])


def screening_warning(offering: Offering) -> str:
    """Say that results don't rest on the study's own screening: it was not applied, was undone, or missed later work.
    Empty if they do, or if the study was frozen without any rule."""
    run = ScreeningRun.objects.current(offering)
    if run is not None and run.is_frozen_rules:
        count = unscreened_count(run)
        whose = count_of(count, "assignment has", "assignments have")
        return f"{whose} come in since the screening, and no rule has looked at them." if count > 0 else ""
    if not offering.study.design.get("screening"):
        return ""
    was_undone = offering.screening_runs.filter(is_frozen_rules=True).exclude(undone_at=None).exists()
    what = "was undone" if was_undone else "has not been applied"
    instead = "everything counts" if run is None else "other rules, chosen after the fact, leave work out instead"
    return f"The study's own screening {what}: {instead}."


def _rules_with_submissions(
    run: ScreeningRun | None, work: Mapping[int, str] | None = None
) -> Iterator[tuple[str, int]]:
    """Yield each rule with each submission that it leaves out, rule by rule."""
    if run is None or work == {}:
        return
    rows = run.exclusions.order_by("step", "pk")
    if work is None:
        work = dict(_submissions(run).values_list("pk", "assignment__crowd_worker_id"))
    else:
        rows = rows.filter(Q(submission__in=list(work)) | Q(crowd_worker_id__in=set(work.values())))
    by_worker: dict[str, list[int]] = {}
    for submission, worker_id in work.items():
        by_worker.setdefault(worker_id, []).append(submission)
    for rule, worker_id, submission in rows.values_list("rule", "crowd_worker_id", "submission"):
        for one in submissions_named([(worker_id, submission)], by_worker):
            yield rule, one


def _submissions(run: ScreeningRun) -> SubmissionQuerySet:
    return Submission.objects.filter(assignment__offering=run.offering_id)
