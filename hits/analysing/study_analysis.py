"""Decides what a study's results are computed from: its ratings, the current screening, labels and metrics."""

import pandas as pd

from hits.analysing.analysis import analyse
from hits.analysing.automatic import add_metrics, metrics_of
from hits.analysing.interim import with_progress
from hits.analysing.planned_part import planned_until
from hits.analysing.pooling import offerings_of
from hits.analysing.results import Results
from hits.analysing.self_agreeing import twice_in, with_self_agreement
from hits.analysing.separating import Pricing, with_separations
from hits.analysing.stored_results import progress_to_show
from hits.analysing.whole_part import compare_in_whole_hits
from hits.batching import SEQUENCE_TAU2
from hits.designing import cost_of, planned_setting, size_of_batches
from hits.frames import pooled_ratings_frame, ratings_frame, reply_labels
from hits.models import Offering, Scope, Study
from hits.protocols import protocol_of
from hits.screening import mark_exclusions, pooled_submissions_by_rule
from hits.stats import CriterionScale, Plan, family_of

# What an analysis, the list of rated dialogs, and their marks, labels and metrics are made from.
ANALYSED = frozenset(
    "submission worker hit block wave dialog dataset emotion turns position is_checkpoint card place is_first_of_card "
    "candidate generator opponent criterion value score active_ms submitted_at origin is_fourth_vote".split()
)


MANY = 100_000  # dialogs, so that shares of them are exact enough


def analyse_study(scope: Scope) -> Results:
    """Analyse what the current screening keeps; without a screening, everything counts. Interim results have confidence
    sequences and no verdicts."""
    return analyse_frame(frame_to_analyse(scope), scope)


def analyse_frame(frame: pd.DataFrame, scope: Scope) -> Results:
    study = scope.study
    plan, equal_within = plan_of(study), study.parsed_design.analysis.equal_within
    progress = progress_to_show(scope)
    scales = scales_of(study)
    whole = None if progress.whole_until is None else compare_in_whole_hits(frame, progress.whole_until, scales, plan)
    results = with_progress(analyse(frame, scales=scales, plan=plan), progress, plan, equal_within, whole)
    results = with_self_agreement(results, twice_in(offerings_of(scope)), scales)
    return with_separations(results, pricing_of(study), plan)


def plan_of(study: Study) -> Plan:
    """Return what the frozen design plans to test. The confidence sequences' variances were stored when the study was
    frozen, so that neither a rating nor a later version of the planner can change them."""
    design = study.parsed_design
    planned = design.analysis
    pairs = family_of(planned.compare, design.generators, planned.reference, planned.pairs)
    frozen_tau2 = (study.manifest or {}).get(SEQUENCE_TAU2, {})
    main, *others = (one.name for one in protocol_of(design).criteria)
    # Every model answers every dialog of a study, so all datasets together mean something from the first look on, also
    # where a model is dropped before the last dataset has ratings.
    return Plan(
        planned.outcome,
        pairs,
        is_pooled=True,
        planned_dialogs=planned.planned_dialogs,
        planned_until=planned_until(study),
        tau2=frozen_tau2.get(main, 0.0),
        tau2_by_criterion={name: frozen_tau2[name] for name in others if name in frozen_tau2},
        emotion_groups={one.name: tuple(one.emotions) for one in planned.emotion_groups},
        verdicts=protocol_of(design).verdict_rule,
    )


def pricing_of(study: Study) -> Pricing:
    """Return what more dialogs of this study would take, by its frozen design."""
    design = study.parsed_design
    setting, protocol = planned_setting(design, 2), protocol_of(design)
    a_hit = size_of_batches(design, design.hits.dialogs_per_hit)
    return Pricing(
        setting.raters,
        setting.generators,
        setting.dialogs_per_hit,
        setting.most_hits,
        setting.family,
        cost_of(design, a_hit).total_cents,
        design.pay.currency,
        setting.is_by_sequence,
        protocol.dialogs_of_a_pair(MANY) / MANY,
        protocol.showings,
        {one.name: max(one.scale.scores) - min(one.scale.scores) for one in protocol.criteria},
        protocol.puts_in_order,
    )


def scales_of(study: Study) -> dict[str, CriterionScale]:
    """Return the scale of each criterion that the study asks about."""
    return {one.name: one.measured for one in protocol_of(study.parsed_design).criteria}


def frame_to_analyse(scope: Scope) -> pd.DataFrame:
    """Return the ratings frame with everything that an analysis can use: which rules exclude a rating, the reply's
    predicted label, and its automatic metrics. Of a pool, each offering's own screening counts for its work."""
    offerings = offerings_of(scope)
    frame = ratings_frame(scope, ANALYSED) if isinstance(scope, Offering) else pooled_ratings_frame(offerings, ANALYSED)
    mark_exclusions(frame, pooled_submissions_by_rule(offerings))
    frame["label"] = reply_labels(scope.study, frame["candidate"].to_numpy())
    add_metrics(frame, metrics_of(scope.study))
    return frame
