"""Decides what a study's results are computed from: its ratings, the current screening, labels and metrics."""

import pandas as pd

from hits.analysing.analysis import analyse
from hits.analysing.automatic import add_metrics, metrics_of
from hits.analysing.results import Results
from hits.frames import ratings_frame, reply_labels
from hits.models import Offering, ScreeningRun, Study
from hits.protocols import protocol_of
from hits.screening import mark_exclusions, submissions_by_rule
from hits.stats import CriterionScale, Plan, family_of


def analyse_study(offering: Offering) -> Results:
    """Analyse what the current screening keeps; without a screening, everything counts."""
    return analyse(study_frame(offering), scales=scales_of(offering.study), plan=plan_of(offering.study))


def scales_of(study: Study) -> dict[str, CriterionScale]:
    """Return the scale of each criterion that the study asks about."""
    return {one.name: one.measured for one in protocol_of(study.parsed_design).criteria}


def plan_of(study: Study) -> Plan:
    """Return what the study's design has planned to test. Where workers compare replies, win rates are tested whatever
    it says."""
    design = study.parsed_design
    planned = design.analysis
    pairs = family_of(planned.compare, design.generators, planned.reference, planned.pairs)
    return Plan(planned.outcome, pairs, planned_dialogs=planned.planned_dialogs)


def study_frame(offering: Offering) -> pd.DataFrame:
    """Return the ratings frame with everything that an analysis can use: which rules exclude a rating, the reply's
    predicted label, and its automatic metrics."""
    frame = ratings_frame(offering)
    mark_exclusions(frame, submissions_by_rule(ScreeningRun.objects.current(offering)))
    frame["label"] = reply_labels(offering.study, frame["candidate"].to_numpy())
    add_metrics(frame, metrics_of(offering.study))
    return frame
