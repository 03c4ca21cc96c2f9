"""The one list of rules: the settings that a study may name -> the function that looks for such work."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from hits.frames.study_frames import Frames
from hits.models import design as settings
from hits.models.design import Part, ScreeningRule
from hits.screening.attention_rules import (
    first_attempt_failures,
    inattention,
    many_attempts,
    moved_after_check,
    too_fast_per_dialog,
)
from hits.screening.comparing_rules import copies, disagreement_on_easy_items
from hits.screening.findings import Finding
from hits.screening.paper_rules import hasty_without_points, same_answer, too_few_points
from hits.screening.pattern_rules import position_bias, straight_lines

RULES: dict[type[Part], Callable[[Frames, Any], list[Finding]]] = {
    settings.SameAnswer: same_answer,
    settings.HastyWithoutPoints: hasty_without_points,
    settings.TooFewPoints: too_few_points,
    settings.TooFastPerDialog: too_fast_per_dialog,
    settings.StraightLines: straight_lines,
    settings.PositionBias: position_bias,
    settings.DisagreementOnEasyItems: disagreement_on_easy_items,
    settings.FirstAttemptFailures: first_attempt_failures,
    settings.ManyAttempts: many_attempts,
    settings.MovedAfterCheck: moved_after_check,
    settings.Inattention: inattention,
    settings.Copies: copies,
}


def apply_rules(frames: Frames, rules: Sequence[ScreeningRule]) -> list[list[Finding]]:
    """The findings of each rule. Each sees all of the work, so their order changes the counting, never the outcome."""
    if frames.ratings.empty:
        return [[] for _ in rules]
    parts = frames.by_criterion
    return [_found_by_all([RULES[type(rule)](part, rule) for part in parts]) for rule in rules]


def _found_by_all(found: list[list[Finding]]) -> list[Finding]:
    """A rule looks at one criterion at a time, since different questions have different answers, and leaves out only
    what it finds with each of them: with ten criteria, chance alone would find ten times as many. The evidence is that
    of the main criterion."""
    first, *others = found
    keys = [{(one.worker, one.submission) for one in some} for some in others]
    return [one for one in first if all((one.worker, one.submission) in some for some in keys)]


def find_flags(frames: Frames, named: Sequence[ScreeningRule]) -> dict[str, list[Finding]]:
    """By rule, what the rules that the study does not name would find with their defaults. It is only shown, and leaves
    nothing out."""
    names = {rule.rule for rule in named}
    others = [model() for model in get_args(get_args(ScreeningRule)[0])]
    others = [rule for rule in others if rule.rule not in names]
    found = apply_rules(frames, others)
    return {rule.rule: findings for rule, findings in zip(others, found, strict=True) if findings}
