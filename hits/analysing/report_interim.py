"""Writes the section about the models' differences while a study is not complete: the confidence sequence."""

from hits.analysing.report import ALL_DATASETS, Cell, Column, Head, Kind, Row, Section, Table, words
from hits.analysing.results import CriterionResults
from hits.analysing.study_progress import Progress
from hits.stats import Interval, SequenceFinding, Undefined


def interim_comparisons(found: CriterionResults, progress: Progress) -> Section:
    lead = (
        f"Interim: {progress.collected:,} of {progress.planned:,} assignments. Differences are the first model's minus "
        "the second's, of the planned outcome. Brackets hold a confidence sequence: all of them together are right "
        "with 95 % confidence, at every look, however often one looks. Fixed-sample tests follow when the study is "
        "complete."
    )
    columns = (Column("difference", "difference"), Column("so_far", "so far"))
    datasets = dict.fromkeys(one.dataset for one in found.sequences)
    tables = tuple(
        Table(
            "sequence",
            dataset or ALL_DATASETS,
            "Pair",
            columns,
            tuple(_row(one) for one in found.sequences if one.dataset == dataset),
            dataset,
        )
        for dataset in datasets
    )
    notes = () if tables else ("No pair of models has a confidence sequence here.",)
    is_trivial = len(found.generators) < 2
    return Section("comparisons", "Which model is better, so far", lead, tables, notes, is_trivial=is_trivial)


def _row(one: SequenceFinding) -> Row:
    head = Head((one.first, one.second), is_pair=True)
    if isinstance(one.estimate, Undefined):
        return Row(head, (Cell(Kind.DIFFERENCE, None, undefined=one.estimate.reason), words("not compared")))
    interval: Interval | Undefined
    if isinstance(one.low, Undefined) or isinstance(one.high, Undefined):
        interval = one.low if isinstance(one.low, Undefined) else Undefined("")
    else:
        interval = Interval(one.low, one.high)
    return Row(head, (Cell(Kind.DIFFERENCE, one.estimate, interval), words(describe_decision(one))))


def describe_decision(one: SequenceFinding) -> str:
    if one.better:
        return f"{one.better} is better"
    return "equal within the margin" if one.decided else "not decided yet"
