"""Lists all screening rules, applies them, and decides whom a rule finds where several criteria were asked.

A rule is a class in a file of this folder and a line here.

Nothing else names a rule: the study form, the checks of a design, screening, flags, benchmarks and the tables in docs/
are made from this list.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hits.models.screening_rule import Finding, RetiredRule, ScreeningRule
from hits.screening.attention_rules import (
    FirstAttemptFailures,
    Inattention,
    ManyAttempts,
    MovedAfterCheck,
    TooFastPerDialog,
)
from hits.screening.comparing_rules import Copies, DisagreementOnEasyItems
from hits.screening.control_rules import FailedAttentionChecks, SelfDisagreement
from hits.screening.paper_rules import HastyWithoutPoints, SameAnswer, TooFewPoints
from hits.screening.pattern_rules import PositionBias, StraightLines

if TYPE_CHECKING:
    from hits.frames import Frames

LISTED: list[type[ScreeningRule]] = [
    SameAnswer,
    HastyWithoutPoints,
    TooFewPoints,
    TooFastPerDialog,
    StraightLines,
    PositionBias,
    DisagreementOnEasyItems,
    FirstAttemptFailures,
    ManyAttempts,
    MovedAfterCheck,
    Inattention,
    Copies,
    FailedAttentionChecks,
    SelfDisagreement,
]

# The rules by name. Reading a design needs it.
RULES = ScreeningRule.by_name
RULES.update({rule.model_fields["rule"].default: rule for rule in LISTED})


def every_rule() -> list[ScreeningRule]:
    """Return all rules with their default settings."""
    return [rule.model_validate({}) for rule in RULES.values()]


def apply_rules(frames: "Frames", rules: Sequence[ScreeningRule]) -> list[list[Finding]]:
    """Return the findings of each rule. Each rule sees all of the work, so their order changes the funnel's counts but
    never what is kept. A retired rule is refused, also where there is no work yet."""
    for rule in rules:
        if isinstance(rule, RetiredRule):
            rule.refuse()
    if frames.ratings.empty:
        return [[] for _ in rules]
    parts = frames.by_criterion
    return [_found_by_all([rule.find(part) for part in parts]) for rule in rules]


def _found_by_all(found: list[list[Finding]]) -> list[Finding]:
    """Return what a rule finds for every criterion, with the evidence of the main one.

    A rule looks at one criterion at a time, since different questions have different answers. If one criterion were
    enough, chance alone would find about ten times as many workers with ten criteria.
    """
    first, *others = found
    keys = [{(one.worker, one.submission) for one in some} for some in others]
    return [one for one in first if all((one.worker, one.submission) in some for some in keys)]


def find_flags(frames: "Frames", named: Sequence[ScreeningRule]) -> dict[str, list[Finding]]:
    """Return, by rule, what the rules that the study does not name would find with their defaults. Flags are only
    shown, and leave nothing out."""
    names = {rule.rule for rule in named}
    others = [rule for rule in every_rule() if rule.rule not in names]
    found = apply_rules(frames, others)
    return {rule.rule: findings for rule, findings in zip(others, found, strict=True) if findings}
