"""Says in words what a design plans to find out, and warns before it is frozen where no finding is possible."""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.designing.planned_size import planned_setting
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.stats import ALPHA, FEW_WORKERS, FEWEST_DIALOGS, few_dialogs_warning

MOST_PAIRS_NAMED = 10


def describe_analysis(design: StudyDesign, dialogs: int, hits: int) -> Iterator[str]:
    """Yield sentences about the primary pairs, when the study is complete, and its stopping rule."""
    analysis, pairs = design.analysis, design.primary_pairs
    if not pairs:
        yield "no pair of models is compared"
        return
    outcome = protocol_of(design).outcomes.get(analysis.outcome, analysis.outcome)
    yield f"the {outcome} of {count_of(len(pairs), 'pair')} of models is compared: {_named(pairs)}"
    if len(pairs) > 1:
        each = f"{100 * ALPHA / len(pairs):.2g} %"
        yield (
            f"the pairs share an error of {100 * ALPHA:g} %, so that each is tested at {each}: fewer pairs are found "
            "more easily"
        )
    if not analysis.has_rule:
        planned = tested_dialogs(design, dialogs)
        rated = count_of(planned, "dialog is", "dialogs are")
        yield f"verdicts are given when {rated} rated; until then, results are interim"
    else:
        yield from _describe_rule(design, hits)


def tested_dialogs(design: StudyDesign, dialogs: int) -> int:
    """Return how many of the study's dialogs decide: with a stopping rule all of them, else the planned ones."""
    planned = design.analysis.planned_dialogs
    return dialogs if design.analysis.has_rule or not planned else min(planned, dialogs)


def _describe_rule(design: StudyDesign, hits: int) -> Iterator[str]:
    analysis = design.analysis
    yield "confidence sequences decide, which hold at every look; fixed-sample tests are not shown, then or later"
    if analysis.stop_when_decided:
        equal = f", or equal within {analysis.equal_within:g}" if analysis.equal_within else ""
        yield f"the study stops by itself as soon as each of these pairs is decided{equal}"
    if analysis.drop_losers:
        yield (
            "a model that has lost a pair is left out of HITs that are published later, and its other pairs are not "
            "decided any more"
        )
    if analysis.wave_hits:
        waves = -(-hits // analysis.wave_hits)
        yield (
            f"{count_of(analysis.wave_hits, 'HIT is', 'HITs are')} published at a time, the next ones when those are "
            f"done: at most {count_of(waves, 'wave')}"
        )
    else:
        yield "you publish each wave by hand; what is on offer already still shows every model"


def warn_of_analysis(design: StudyDesign, dialogs: int) -> Iterator[str]:
    """Yield why the study could find nothing, or less than it seems: too few dialogs, too few workers."""
    if not design.primary_pairs or not dialogs:
        return
    compared = protocol_of(design).dialogs_of_a_pair(dialogs)
    # The sequence's p-value has no such floor, but it takes some dialogs.
    if design.analysis.has_rule:
        if compared < FEWEST_DIALOGS:
            yield (
                f"With {count_of(compared, 'dialog')}, nothing can be decided: confidence sequences take "
                f"{FEWEST_DIALOGS} dialogs or more."
            )
    elif few := few_dialogs_warning(compared, len(design.primary_pairs)):
        yield few
    workers = planned_setting(design, dialogs).worker_count
    if workers < FEW_WORKERS:
        means = (
            "its confidence sequences never begin, and it never stops"
            if design.analysis.has_rule
            else "findings hold for these raters more than for others"
        )
        yield (
            f"About {count_of(workers, 'equally busy worker')} would rate it, and it takes {FEW_WORKERS}: {means}. "
            "Let a worker do fewer HITs (crowd.max_hits_per_worker), or ask more workers a dialog (hits.assignments)."
        )


def _named(pairs: list[tuple[str, str]]) -> str:
    shown = ", ".join(f"{first} with {second}" for first, second in pairs[:MOST_PAIRS_NAMED])
    return f"{shown}, …" if len(pairs) > MOST_PAIRS_NAMED else shown
