"""Single ratings, for pages and the API: which there are, and which the current screening leaves out.

In: a study and a marketplace. Out: QuerySets of Rating. Guaranteed: the same ratings as in hits.frames, without
pandas, which web processes do without; a fixed number of queries, whatever the size.
"""

from collections.abc import Collection

from django.db.models import Q, QuerySet

from hits.models import Rating, ScreeningRun, Study


def ratings_of(study: Study, environment: str) -> QuerySet[Rating]:
    return Rating.objects.filter(
        submission__assignment__hit__study=study,
        submission__assignment__environment=environment,
        submission__problem="",
    )


def is_left_out(run: ScreeningRun | None) -> Q:
    """By the rows of a run: those of workers, and those of single submissions."""
    if run is None:
        return Q(pk__in=[])
    workers = run.exclusions.filter(submission=None).order_by().values("mturk_worker_id")
    submissions = run.exclusions.exclude(submission=None).order_by().values("submission")
    return Q(submission__assignment__mturk_worker_id__in=workers) | Q(submission__in=submissions)


def first_rules(run: ScreeningRun | None, work: Collection[tuple[int, str]]) -> dict[int, str]:
    """Of submissions with their workers' ids: the first rule that leaves each out."""
    if run is None or not work:
        return {}
    by_worker: dict[str, list[int]] = {}
    for key, worker_id in work:
        by_worker.setdefault(worker_id, []).append(key)
    rows = run.exclusions.filter(Q(submission__in=[key for key, _ in work]) | Q(mturk_worker_id__in=by_worker))
    found: dict[int, str] = {}
    for rule, worker_id, key in rows.order_by("step", "pk").values_list("rule", "mturk_worker_id", "submission"):
        for one in by_worker[worker_id] if key is None else [key]:
            found.setdefault(one, rule)
    return found
