"""Decides whether stored results are stale, and requests new ones, once however many people look.

In: a study and a marketplace. Out: its `StudyResults` row. Guaranteed: however many people look at the same time, one
task is sent; the row says when it was computed, and whether more ratings have come in since. This file imports no
statistics, because web processes have no pandas.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from django.db.models import Count, Max

from evalplatform import __version__
from generation.models import GeneratorScore
from hits.analysing.dialog_filter import RatedDialogFacts
from hits.analysing.pooling import offerings_of
from hits.analysing.study_progress import Progress, count_looks, measure_progress
from hits.models import Offering, RatedDialogs, Scope, ScreeningRun, Study, StudyResults, Submission, of_scope

SendTask = Callable[[Scope], None]  # sends a task about this offering, or this pool


def source_of(scope: Scope) -> str:
    """Return a hash that changes when the results would, or "" if there are no ratings."""
    if isinstance(scope, Offering):
        return _source_of_offering(scope)
    sources = [_source_of_offering(one) for one in offerings_of(scope)]
    facts = [scope.marketplace, measure_progress(scope).is_complete, *sources]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest() if any(sources) else ""


def _source_of_offering(offering: Offering) -> str:
    """Counting submissions is enough: ratings come with their submission and never change."""
    submissions = Submission.objects.filter(assignment__offering=offering)
    counts = submissions.with_answers().aggregate(count=Count("pk"), last=Max("pk"))
    if not counts["count"]:
        return ""
    run = ScreeningRun.objects.current(offering)
    progress = measure_progress(offering)
    facts = [
        __version__,
        offering.study.manifest_hash,
        offering.marketplace,
        *counts.values(),
        submissions.with_answers().count_origins(),
        run and run.pk,
        _last_score(offering.study),
        progress.is_complete,
        progress.rule_looks,
        progress.whole_until,
        progress.dropped,
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def progress_to_show(scope: Scope) -> Progress:
    """Return the progress that results show. Of looks it counts those before: a look at the very ratings that these
    results come from is this one. So the same ratings give the same results, however often they are computed."""
    return replace(measure_progress(scope), looks=count_looks(scope, besides=source_of(scope)))


def _last_score(study: Study) -> int | None:
    """Return the id of the newest score. Results show metrics beside ratings, and a generator's own score is saved
    after those of its replies."""
    scores = GeneratorScore.objects.filter(
        generator__name__in=study.design.get("generators", []),
        dataset__name__in=[dataset["name"] for dataset in study.design.get("datasets", [])],
    )
    last: int | None = scores.aggregate(last=Max("pk"))["last"]
    return last


def find_results(scope: Scope) -> StudyResults:
    """Return the stored row or, before the first request, an empty one that is not saved."""
    found = StudyResults.objects.filter(**of_scope(scope)).first()
    return found or StudyResults(**of_scope(scope))


def find_rated_dialogs(offering: Offering) -> RatedDialogFacts | None:
    """Return what the last computation counted in each dialog, or None before the first one."""
    facts = RatedDialogs.objects.filter(offering=offering).values_list("facts", flat=True).first()
    return RatedDialogFacts.from_json(facts or {})


def refresh_results(scope: Scope, send: SendTask, now: datetime, is_forced: bool = False) -> StudyResults:
    """Return the row; if it is stale or `is_forced`, request a new computation, unless one is under way."""
    source = source_of(scope)
    row = find_results(scope)
    if not source or (row.source == source and not is_forced):
        return row
    StudyResults.objects.get_or_create(**of_scope(scope))
    rows = StudyResults.objects.filter(**of_scope(scope))
    rows.request_once(lambda: send(scope), now)
    return rows.get()
