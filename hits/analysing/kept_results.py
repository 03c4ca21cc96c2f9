"""Finds the results that were computed last, and requests new ones when the ratings have changed.

In: a study and a marketplace. Out: its `StudyResults` row. Guaranteed: however many people look at the same time, one
task is sent; the row says when it was computed, and whether more ratings have come in since. No statistics here,
because web processes have no pandas.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime

from django.db.models import Count, Max

from evalplatform import __version__
from generation.models import GeneratorScore
from hits.models import Offering, ScreeningRun, Study, StudyResults, Submission

Send = Callable[[Offering], None]  # sends a task about this offering


def source_of(offering: Offering) -> str:
    """A hash that changes when results would: ratings are append-only and come with their submission. Empty if there
    are no ratings."""
    submissions = Submission.objects.filter(assignment__offering=offering)
    counts = submissions.filter(problem="").aggregate(count=Count("pk"), last=Max("pk"))
    if not counts["count"]:
        return ""
    run = ScreeningRun.objects.current(offering)
    facts = [
        __version__,
        offering.study.manifest_hash,
        offering.environment,
        *counts.values(),
        run and run.pk,
        _last_score(offering.study),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _last_score(study: Study) -> int | None:
    """The newest score. Results show metrics beside ratings; a generator's own score is saved after its replies'."""
    scores = GeneratorScore.objects.filter(
        generator__name__in=study.design.get("generators", []),
        dataset__name__in=[dataset["name"] for dataset in study.design.get("datasets", [])],
    )
    last: int | None = scores.aggregate(last=Max("pk"))["last"]
    return last


def find_results(offering: Offering) -> StudyResults:
    """The row as it is; before the first request an empty one, which is not saved."""
    found = StudyResults.objects.filter(offering=offering).first()
    return found or StudyResults(offering=offering)


def refresh_results(offering: Offering, send: Send, now: datetime, is_forced: bool = False) -> StudyResults:
    """Return the row; if it is stale or `is_forced`, request a new computation, unless one is under way."""
    source = source_of(offering)
    row = find_results(offering)
    if not source or (row.source == source and not is_forced):
        return row
    StudyResults.objects.get_or_create(offering=offering)
    of_study = StudyResults.objects.filter(offering=offering)
    of_study.request_once(lambda: send(offering), now)
    return of_study.get()
