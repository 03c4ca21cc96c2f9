"""Makes the setting of a design, from which the planner simulates and the confidence sequence takes its variance."""

from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.stats import Setting, family_of

USUAL_SHARES = (0.32, 0.31, 0.37)  # where a protocol says none: those of the paper's models


def planned_setting(design: StudyDesign, dialogs: int) -> Setting:
    analysis = design.analysis
    family = family_of(analysis.compare, design.generators, analysis.reference, analysis.pairs)
    shares = protocol_of(design).planned_shares or USUAL_SHARES
    return Setting(
        dialogs=max(dialogs, 2),
        raters=design.hits.assignments,
        generators=max(len(design.generators), 2),
        dialogs_per_hit=design.hits.dialogs_per_hit,
        most_hits=design.crowd.max_hits_per_worker,
        family=len(family or ()),
        outcome=analysis.outcome,
        proportions=shares,
        is_by_sequence=analysis.has_rule,
    )
