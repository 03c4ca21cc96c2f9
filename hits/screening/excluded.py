"""Which submissions a screening leaves out. Without frames, for those who need no more than that."""

from collections.abc import Collection

from hits.models import ScreeningRun, Submission


def excluded_by(run: ScreeningRun | None, ignoring: Collection[str] = ()) -> dict[int, str]:
    """Which submissions are left out, and by which rule: the first that names them, but for rules to be ignored."""
    if run is None:
        return {}
    by_worker: dict[str, list[int]] = {}
    submissions = Submission.objects.filter(
        assignment__hit__study=run.study_id, assignment__environment=run.environment
    )
    for key, worker_id in submissions.values_list("pk", "assignment__mturk_worker_id"):
        by_worker.setdefault(worker_id, []).append(key)
    found: dict[int, str] = {}
    rows = run.exclusions.exclude(rule__in=ignoring).order_by("step", "pk")
    for rule, worker_id, submission in rows.values_list("rule", "mturk_worker_id", "submission_id"):
        for key in by_worker.get(worker_id, []) if submission is None else [submission]:
            found.setdefault(key, rule)
    return found
