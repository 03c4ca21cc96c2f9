"""What is kept: for the results, with and without single rules, and for exports row by row."""

from collections.abc import Collection

import pandas as pd
from django.db.models import QuerySet

from hits.frames.ratings_frame import ratings_frame
from hits.models import Rating, ScreeningRun, Study, Submission
from hits.screening.excluded import excluded_by


def named_frame(study: Study, environment: str, prefix: str) -> pd.DataFrame:
    """The ratings frame with a column for each rule of the current run, called prefix + rule: whether the rule names
    the rating, alone or with others. So what is kept without one rule can be told from the frame."""
    frame = ratings_frame(study, environment)
    run = ScreeningRun.objects.current(study, environment)
    names = list(dict.fromkeys(str(rule["rule"]) for rule in run.rules)) if run else []
    for name in names:
        others = [other for other in names if other != name]
        frame[f"{prefix}{name}"] = frame["submission"].isin(list(excluded_by(run, ignoring=others)))
    return frame


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
