"""Finds what contradicts itself in a design's [analysis]: the outcome, the primary pairs, and the stopping rule."""

from collections.abc import Iterator

from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.protocols import protocol_of

FEWEST_TO_DROP = 3  # of two models, the study stops when one has lost


def find_impossible_analysis(design: StudyDesign) -> list[DesignProblem]:
    return [*_outcome(design), *_family(design), *_size(design), *_rule(design), *_groups(design)]


def _outcome(design: StudyDesign) -> Iterator[DesignProblem]:
    protocol, chosen = protocol_of(design), design.analysis.outcome
    if chosen not in protocol.outcomes:
        known = ", ".join(f'"{one}"' for one in protocol.outcomes)
        yield DesignProblem("analysis.outcome", f'"{chosen}" can\'t be counted in this protocol; use {known}')
    if design.analysis.equal_within >= 1 and chosen != "mean score":
        message = (
            f"{design.analysis.equal_within:g} is a whole {chosen}: write 0.05 for differences of up to 5 points of 100"
        )
        yield DesignProblem("analysis.equal_within", message)


def _family(design: StudyDesign) -> Iterator[DesignProblem]:
    analysis, known = design.analysis, design.generators
    if analysis.compare == "one against the others" and analysis.reference not in known:
        said = f"{analysis.reference!r} is not among the study's models" if analysis.reference else "is empty"
        yield DesignProblem("analysis.reference", f"{said}; name the model that the others are compared with")
    if analysis.compare != "named pairs":
        return
    if not analysis.pairs:
        yield DesignProblem("analysis.pairs", "is empty; name at least one pair of models, or compare all pairs")
    seen = set()
    for pair in analysis.pairs:
        first, second = pair
        strangers = [name for name in pair if name not in known]
        if strangers:
            message = f"{', '.join(strangers)} is not among the study's models; use {', '.join(known)}"
            yield DesignProblem("analysis.pairs", message)
        elif first == second:
            yield DesignProblem("analysis.pairs", f"{first} can't be compared with itself; name two models")
        elif frozenset(pair) in seen:
            yield DesignProblem("analysis.pairs", f"{first} and {second} are named twice; name each pair once")
        seen.add(frozenset(pair))


def _groups(design: StudyDesign) -> Iterator[DesignProblem]:
    groups = design.analysis.emotion_groups
    for what, names in (
        ("group", [one.name for one in groups]),
        ("emotion", [emotion for one in groups for emotion in one.emotions]),
    ):
        for name in sorted({one for one in names if names.count(one) > 1}):
            yield DesignProblem("analysis.emotion_groups", f"the {what} {name!r} is there twice; name it once")


def _size(design: StudyDesign) -> Iterator[DesignProblem]:
    planned, asked = design.analysis.planned_dialogs, sum(part.dialog_count for part in design.datasets)
    if planned > asked:
        message = f"{planned:,} dialogs are planned, and the study asks for {asked:,}; write at most that, or 0 for all"
        yield DesignProblem("analysis.planned_dialogs", message)


def _rule(design: StudyDesign) -> Iterator[DesignProblem]:
    analysis = design.analysis
    if analysis.drop_losers and protocol_of(design).criteria[0].is_comparison:
        message = "can't be used where people compare two replies: without one of them, nothing is left to compare"
        yield DesignProblem("analysis.drop_losers", message)
    elif analysis.drop_losers and len(design.generators) < FEWEST_TO_DROP:
        message = (
            f"needs {FEWEST_TO_DROP} models or more: of two, nothing is left to compare when one has lost; set "
            "stop_when_decided instead"
        )
        yield DesignProblem("analysis.drop_losers", message)
    if analysis.wave_hits and design.pay.budget_cents is None:
        message = "waves are published without asking you again; set pay.budget, which limits what they may cost"
        yield DesignProblem("analysis.wave_hits", message)
