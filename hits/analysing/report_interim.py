"""Writes the section about the models' differences while a study is not complete: the confidence sequence."""

from dataclasses import replace

from hits.analysing.pairing_words import describe_pairing, describe_planned_part
from hits.analysing.report import ALL_DATASETS, Cell, Column, Head, Kind, Row, Section, Table, p_value, words
from hits.analysing.results import CriterionResults
from hits.analysing.study_progress import Progress, describe_beyond, describe_sequence_end
from hits.stats import Interval, SequenceFinding, Undefined

ABOUT_DIFFERENCES = (
    "Differences are the first model's minus the second's, of the planned outcome; of a decided pair, at the look that "
    "decided it. All brackets together are right with 95 % confidence."
)


def interim_comparisons(found: CriterionResults, progress: Progress) -> Section:
    is_end = progress.is_complete
    has_sequence = any(not isinstance(one.low, Undefined) for one in found.sequences)
    brackets = (
        " Brackets hold a confidence sequence: all of them together are right with 95 % confidence, at every look, "
        "however often one looks."
    )
    in_them = describe_beyond(progress).replace("in them", "in this table")
    interim = (
        f"Interim: {progress.collected:,} of {progress.planned:,} assignments. Differences are the first model's minus "
        f"the second's, of the planned outcome.{brackets if has_sequence else ' None has a confidence sequence yet.'}"
        f"{in_them if progress.beyond else ' All ratings that have come in count.'}"
    )
    later = "" if progress.is_by_sequence else " Fixed-sample tests follow when the study is complete."
    lead = f"{describe_sequence_end(progress)} {ABOUT_DIFFERENCES}" if is_end else f"{interim}{later}"
    decision = Column("so_far", "decision" if is_end else "so far")
    columns: tuple[Column, ...] = (Column("difference", "difference"), decision)
    if progress.is_by_sequence:
        columns = (*columns, Column("p_value", "p, corrected, at any time"))
    datasets = dict.fromkeys(one.dataset for one in found.sequences)
    tables = tuple(
        Table(
            "sequence",
            dataset or ALL_DATASETS,
            "Pair",
            columns,
            tuple(_row(one, progress, len(found.sequences)) for one in found.sequences if one.dataset == dataset),
            dataset,
        )
        for dataset in datasets
    )
    why = "confidence sequences keep to all screening rules" if found.is_variant else "no comparison is planned"
    notes: tuple[str, ...] = () if tables else (f"No pair of models has a confidence sequence here: {why}.",)
    primary = [pair for table in found.comparisons for pair in table.comparisons if pair.is_primary]
    notes = (*notes, *filter(None, [describe_planned_part(found)]), *describe_pairing(primary))
    is_trivial = len(found.generators) < 2
    title = "Which model is better" if is_end else "Which model is better, so far"
    if progress.dropped:
        notes = (
            *notes,
            f"Left out of HITs that were published later, because they had lost: {', '.join(progress.dropped)}.",
        )
    return Section("comparisons", title, lead, tables, notes, is_trivial=is_trivial)


def _row(one: SequenceFinding, progress: Progress, family: int) -> Row:
    row = _pair_row(one, progress)
    return replace(row, cells=(*row.cells, _corrected(one, family))) if progress.is_by_sequence else row


def _corrected(one: SequenceFinding, family: int) -> Cell:
    """Return the p-value for as many pairs as share alpha (Bonferroni), which the brackets are made for, too."""
    return p_value(one.p_value if isinstance(one.p_value, Undefined) else min(1.0, family * one.p_value))


def _pair_row(one: SequenceFinding, progress: Progress) -> Row:
    head = Head((one.first, one.second), is_pair=True)
    if isinstance(one.estimate, Undefined):
        return Row(head, (Cell(Kind.DIFFERENCE, None, undefined=one.estimate.reason), words("not compared")))
    interval: Interval | Undefined
    if isinstance(one.low, Undefined) or isinstance(one.high, Undefined):
        interval = one.low if isinstance(one.low, Undefined) else Undefined("")
    else:
        interval = Interval(one.low, one.high)
    return Row(head, (Cell(Kind.DIFFERENCE, one.estimate, interval), words(describe_decision(one, progress))))


def sequence_row(one: SequenceFinding, progress: Progress) -> dict[str, str]:
    """Return a pair in short, as the monitor shows it: the difference, its sequence, and what is decided."""
    shown = {"pair": f"{one.first} – {one.second}", "decision": describe_decision(one, progress)}
    if isinstance(one.estimate, Undefined):
        return {**shown, "difference": "", "sequence": f"undefined: {one.estimate.reason}"}
    difference = f"{one.estimate:+.3f}"
    if isinstance(one.low, Undefined) or isinstance(one.high, Undefined):
        reason = one.low.reason if isinstance(one.low, Undefined) else ""
        return {**shown, "difference": difference, "sequence": f"none yet: {reason}"}
    return {**shown, "difference": difference, "sequence": f"{one.low:+.3f} to {one.high:+.3f}"}


def describe_decision(one: SequenceFinding, progress: Progress) -> str:
    if one.better:
        return f"{one.better} is better"
    if one.decided:
        return "equal within the margin"
    if gone := [name for name in (one.first, one.second) if name in progress.dropped]:
        return f"not decided: {gone[0]} was dropped"
    return "not decided" if progress.is_complete else "not decided yet"
