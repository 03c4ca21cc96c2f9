"""Results as they were computed last: shown at once, and computed anew by a worker when the ratings have changed.

In: a study and a marketplace. Out: its `StudyResults` row. Guaranteed: however many look at once, a worker is asked
once; what is shown says from when it is, and whether more has come in. No statistics: web processes do without them.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from evalplatform import __version__
from evalplatform.errors import EvalPlatformError
from generation.models import GeneratorScore
from hits.models import ScreeningRun, Study, StudyResults, Submission
from hits.models.study_results import QUIET_AFTER

Send = Callable[[int, str], None]  # of a study's key and a marketplace to a worker


def source_of(study: Study, environment: str) -> str:
    """Names what results are computed from: ratings are append-only and come with their submission. Empty if there
    are none."""
    submissions = Submission.objects.filter(assignment__hit__study=study, assignment__environment=environment)
    counts = submissions.filter(problem="").aggregate(count=Count("pk"), last=Max("pk"))
    if not counts["count"]:
        return ""
    run = ScreeningRun.objects.current(study, environment)
    facts = [__version__, study.manifest_hash, environment, *counts.values(), run and run.pk, _last_score(study)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _last_score(study: Study) -> int | None:
    """Automatic metrics stand beside ratings; a generator's own scores come after those of its replies."""
    scores = GeneratorScore.objects.filter(
        generator__name__in=study.design.get("generators", []),
        dataset__name__in=[dataset["name"] for dataset in study.design.get("datasets", [])],
    )
    last: int | None = scores.aggregate(last=Max("pk"))["last"]
    return last


def find_results(study: Study, environment: str) -> StudyResults:
    """As they are; an empty row, not saved, before they are first asked for."""
    found = StudyResults.objects.filter(study=study, environment=environment).first()
    return found or StudyResults(study=study, environment=environment)


def refresh_results(study: Study, environment: str, send: Send, now: datetime, is_forced: bool = False) -> StudyResults:
    """The row; if it is stale, or if it is forced, a worker is asked to compute it anew. Not twice at a time."""
    source = source_of(study, environment)
    row = find_results(study, environment)
    if not source or (row.source == source and not is_forced):
        return row
    StudyResults.objects.get_or_create(study=study, environment=environment)
    of_study = StudyResults.objects.filter(study=study, environment=environment)
    ask_once(of_study, lambda: send(study.pk, environment), now)
    return of_study.get()


def ask_once(row: QuerySet[Any], send: Callable[[], None], now: datetime) -> bool:
    """Of all who ask at the same time, one sends; and again when nothing has come of it for a while."""
    is_free = Q(requested_at=None) | Q(requested_at__lt=now - QUIET_AFTER)
    if not row.filter(is_free).update(requested_at=now, started_at=None):
        return False
    try:
        send()
    except EvalPlatformError:
        row.update(requested_at=None)
        raise
    return True
