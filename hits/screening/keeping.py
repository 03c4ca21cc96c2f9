"""What is kept: for the results, with and without single rules, and for exports row by row."""

from collections.abc import Collection

import pandas as pd
from django.db.models import QuerySet

from hits.models import Rating, ScreeningRun, Study, Submission
from hits.ratings_frame import ratings_frame


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


def screened_frame(study: Study, environment: str, ignoring: Collection[str] = ()) -> pd.DataFrame:
    """The ratings frame with `excluded_by`, a category that is missing where nothing is against it, and `is_kept`.

    By the current run. Without one, everything is kept: who shows results asks whether there is one.
    """
    frame = ratings_frame(study, environment)
    run = ScreeningRun.objects.current(study, environment)
    left_out = excluded_by(run, ignoring)
    names = list(dict.fromkeys(rule["rule"] for rule in run.rules)) if run else []
    frame["excluded_by"] = pd.Categorical(frame["submission"].map(left_out), categories=names)
    frame["is_kept"] = frame["excluded_by"].isna()
    return frame


def kept_frame(study: Study, environment: str, ignoring: Collection[str] = ()) -> pd.DataFrame:
    frame = screened_frame(study, environment, ignoring)
    return frame[frame["is_kept"]].drop(columns=["excluded_by", "is_kept"])


def kept_ratings(study: Study, environment: str) -> QuerySet[Rating]:
    """For pages that show single ones."""
    of_study = Rating.objects.filter(
        submission__assignment__hit__study=study, submission__assignment__environment=environment
    )
    run = ScreeningRun.objects.current(study, environment)
    if run is None:
        return of_study
    workers = run.exclusions.filter(submission=None).values("mturk_worker_id")
    submissions = run.exclusions.exclude(submission=None).values("submission")
    return of_study.exclude(submission__assignment__mturk_worker_id__in=workers).exclude(submission__in=submissions)


def unscreened_count(run: ScreeningRun) -> int:
    """How many submissions have arrived since: their workers may be left out, they themselves were not looked at."""
    submissions = Submission.objects.filter(
        assignment__hit__study=run.study_id, assignment__environment=run.environment, problem=""
    )
    return submissions.count() - int(run.funnel["received"]["assignments"])
