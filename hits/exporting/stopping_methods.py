"""Says how often interim results were looked at, and how data collection ended."""

from collections.abc import Iterator, Sequence

from hits.exporting.bundle_facts import Sources, join_names
from hits.exporting.pay_words import times


def describe_looks(sources: Sources) -> Iterator[str]:
    progress = sources.results.progress
    if not progress.planned:
        return
    looks = f"looked at {times(progress.looks)}" if progress.looks else "not looked at"
    is_stopped = sources.design.analysis.has_rule and sources.facts.stopped_by_rule
    collected = "" if is_stopped else f"; {progress.reason}"
    yield f"Interim results were {looks} before these were computed{collected}."
    if progress.is_by_sequence:
        yield (
            f"The study's own rule looked {times(progress.rule_looks)}, at whole tasks in their frozen order; p-values "
            "of the sequences are 1 / the largest e-value of all its looks."
        )


def describe_stopping(sources: Sources) -> Iterator[str]:
    analysis, progress = sources.design.analysis, sources.results.progress
    if analysis.stop_when_decided:
        equal = f", or lay within ±{analysis.equal_within:g} and was thus called equal" if analysis.equal_within else ""
        yield (
            "By design, data collection was to stop as soon as the confidence sequence of every planned pair excluded "
            f"zero{equal} [@howard], or the budget was spent."
        )
    if analysis.drop_losers:
        yield (
            "By design, tasks that were published after a model's confidence sequence, at half of the error level, lay "
            f"below another model's left that model out: {_dropped(progress.dropped)}."
        )
    if analysis.has_rule:
        yield _how_it_ended(sources)
    elif progress.planned:
        yield "There was no rule for stopping early."


def _dropped(names: Sequence[str]) -> str:
    return f"{join_names(names)} {'was' if len(names) == 1 else 'were'} dropped" if names else "none was dropped"


def _how_it_ended(sources: Sources) -> str:
    progress, why = sources.results.progress, sources.facts.stopped_by_rule
    after = f"after {progress.collected:,} of {progress.planned:,} planned assignments"
    living = [name for name in sources.design.generators if name not in progress.dropped]
    if why == "budget":
        return f"Data collection stopped {after}, because the budget allowed no further tasks."
    if why and len(living) == 1:
        return f"Data collection stopped {after}, when {living[0]} alone had not lost."
    if why:
        return f"Data collection stopped {after}, when every planned pair was decided."
    return "Data collection did not stop early." if progress.is_complete else "Data collection has not stopped so far."
