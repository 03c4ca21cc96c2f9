"""Makes the setting of a design, from which the planner simulates and the confidence sequence takes its variance."""

from hits.models.design import StudyDesign
from hits.protocols import Criterion, protocol_of
from hits.stats import SHARE_OF_BEST, TAU_FACTOR, WIN_RATE, Setting, family_of, planned_variance

USUAL_SHARES = (0.32, 0.31, 0.37)  # where a protocol says none: those of the paper's models


def planned_setting(design: StudyDesign, dialogs: int, criterion: Criterion | None = None) -> Setting:
    """Return the setting of a study with so many dialogs, as far as it is about this criterion, or the main one: each
    has a scale of its own, and of comparisons only the win rate is counted. Its dialogs are those that show a pair."""
    analysis, protocol = design.analysis, protocol_of(design)
    asked = criterion or protocol.criteria[0]
    family = family_of(analysis.compare, design.generators, analysis.reference, analysis.pairs)
    outcome = WIN_RATE if asked.is_comparison else analysis.outcome
    of_a_pair = max(protocol.dialogs_of_a_pair(dialogs), 2)
    return Setting(
        dialogs=of_a_pair,
        raters=design.hits.assignments,
        generators=max(len(design.generators), 2),
        dialogs_per_hit=design.hits.dialogs_per_hit,
        most_hits=design.crowd.max_hits_per_worker,
        family=len(family or ()),
        outcome=outcome,
        proportions=protocol.planned_shares(asked) or USUAL_SHARES,
        score_range=max(asked.scale.scores) - min(asked.scale.scores),
        is_by_sequence=analysis.has_rule,
        is_comparison=asked.is_comparison,
        is_by_mean=asked.scale.is_by_mean and outcome != SHARE_OF_BEST and not asked.is_comparison,
        line_ups=max(1.0, dialogs * protocol.showings / of_a_pair),
    )


def plan_sequences(design: StudyDesign, dialogs: int) -> dict[str, float]:
    """Return tau2, the mixture variance of the confidence sequences (hits.stats.sequence), of each criterion by name.
    A study has `dialogs`, of which its design may plan to test fewer. Freezing stores these numbers, and nothing
    computes them again: they must not move when the planner does."""
    tested = design.analysis.planned_dialogs or dialogs
    settings = {one.name: planned_setting(design, tested, one) for one in protocol_of(design).criteria}
    return {name: float(f"{TAU_FACTOR * planned_variance(one):.6g}") for name, one in settings.items()}
