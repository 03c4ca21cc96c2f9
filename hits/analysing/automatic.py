"""Adds the automatic metrics of replies to a ratings frame, each in the version that was computed last."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Max

from generation.metrics.naming import BESIDE_RATINGS
from generation.models import CandidateScore
from hits.analysing.analysis import METRIC_PREFIX
from hits.frames import NO_CANDIDATE, places_in, read_columns
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
        known, values = [np.array([NO_CANDIDATE], np.int64)], []
        for dialogs in _split_dialogs(frame["dialog"].unique().tolist()):
            found = CandidateScore.objects.filter(candidate__dialog__in=dialogs, metric=metric, version=version)
            rows = read_columns(found.values_list("candidate", "value"), candidate=np.int64, value=np.float64)
            known.append(rows["candidate"])
            values.append(rows["value"])
        # -1, for who is not known, is the last one
        scores = np.concatenate([[np.nan], *values, [np.nan]]).round(DIGITS)
        frame[f"{METRIC_PREFIX}{metric}"] = scores[places_in(np.concatenate(known), frame["candidate"].to_numpy())]


def _split_dialogs(dialogs: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(dialogs), DIALOGS_AT_ONCE):
        yield dialogs[start : start + DIALOGS_AT_ONCE]
