"""Adds the automatic metrics of replies to a ratings frame, each in the version that was computed last."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Max

from generation.metrics.naming import BESIDE_RATINGS
from generation.models import CandidateScore
from hits.analysing.analysis import METRIC_PREFIX
from hits.frames import NO_CANDIDATE
from hits.models import HitItem, Study

DIGITS = 6  # every file format of a bundle holds that many
DIALOGS_AT_ONCE = 5_000


def metrics_of(study: Study) -> dict[str, str]:
    """Return the metrics that the study's replies have, each with the version that was computed last."""
    dialogs = HitItem.objects.filter(hit__study=study).order_by().values("dialog")
    scores = CandidateScore.objects.filter(
        candidate__dialog__in=dialogs, candidate__generator__name__in=study.design["generators"]
    )
    last = scores.values_list("metric", "version").annotate(last=Max("pk")).order_by("last")
    versions = {metric: version for metric, version, _ in last}
    return {metric: versions[metric] for metric in BESIDE_RATINGS if metric in versions}


def add_metrics(frame: pd.DataFrame, metrics: Mapping[str, str]) -> None:
    """Add a column for each metric: NaN for human replies, and for replies without a score."""
    for metric, version in metrics.items():
        scores = {NO_CANDIDATE: np.nan}
        for dialogs in _split_dialogs(frame["dialog"].unique().tolist()):
            found = CandidateScore.objects.filter(candidate__dialog__in=dialogs, metric=metric, version=version)
            scores |= dict(found.values_list("candidate", "value"))
        column = pd.Series(scores, dtype=np.float64).reindex(frame["candidate"])
        frame[f"{METRIC_PREFIX}{metric}"] = column.round(DIGITS).to_numpy()


def _split_dialogs(dialogs: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(dialogs), DIALOGS_AT_ONCE):
        yield dialogs[start : start + DIALOGS_AT_ONCE]
