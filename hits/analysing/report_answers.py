"""Writes a report's sections about the models: shares, human replies, comparisons, ranking, agreement."""

from collections.abc import Sequence

from hits.analysing.report import (
    ALL_DATASETS,
    HUMAN,
    Cell,
    Column,
    Head,
    Kind,
    Row,
    Section,
    Table,
    count,
    number,
    p_value,
)
from hits.analysing.results import CriterionResults
from hits.stats import Agreement, Comparison, Comparisons, Estimate, Ranking, ShareRow, Undefined

COMPARED = "How often each model's reply won, tied and lost against another model's."
AGREEMENTS = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_interval": "alpha, interval",
    "alpha_nominal": "alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "raw": "raw agreement",
}


def shares(found: CriterionResults) -> Section:
    lead = (
        "Which share of each model's ratings has each value. Whiskers and brackets are 95 % intervals; they respect "
        "that ratings of one dialog, and of one worker, belong together."
    )
    if found.is_comparison:
        lead = lead.replace("Which share of each model's ratings has each value.", COMPARED)
    title = "How replies were rated"
    tables = _tables_by_dataset(found.table, found)
    return Section("shares", title, lead, tables, figure=title if found.size.ratings else "")


def calibration(found: CriterionResults) -> Section:
    lead = "How the hidden human replies were rated, beside the models in the same dialogs."
    tables = _tables_by_dataset(found.calibration, found)
    notes = () if tables else ("No human reply was rated: the study has no checkpoints.",)
    return Section("calibration", "The human reply as a measure", lead, tables, notes)


def _tables_by_dataset(rows: Sequence[ShareRow], found: CriterionResults) -> tuple[Table, ...]:
    columns = (
        *(Column("share", value, value) for value in found.values),
        Column("mean_score", "mean score"),
        *(Column(name, name) for name in ("ratings", "dialogs", "workers")),
    )
    tables = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        of_dataset = [row for row in rows if row.dataset == dataset]
        defined = [row.shares for row in of_dataset if not isinstance(row.shares, Undefined)]
        best = max((shares[0].share for shares in defined), default=None)
        letters = found.letters(dataset)
        made = tuple(
            _share_row(row, len(found.values), best, letters.get(row.generator or "", "")) for row in of_dataset
        )
        tables.append(Table("shares", dataset or ALL_DATASETS, "Model", columns, made, dataset))
    return tuple(tables)


def _share_row(row: ShareRow, values: int, best: float | None, letters: str) -> Row:
    head = Head((row.generator or HUMAN,), is_human=row.generator is None, letters=letters)
    if isinstance(row.shares, Undefined):
        cells = [Cell(Kind.SHARE, None, undefined=row.shares.reason)] * values
    else:
        cells = [
            Cell(Kind.SHARE, one.share, one.interval, is_best=place == 0 and one.share == best)
            for place, one in enumerate(row.shares)
        ]
    sizes = (count(row.ratings), count(row.dialogs), count(row.workers))
    return Row(head, (*cells, number(Kind.SCORE, row.mean_score), *sizes))


def comparisons(found: CriterionResults) -> Section:
    lead = (
        "Models are compared within the same worker and dialog. The difference is the first model's mean score minus "
        "the second's; superiority is the chance that the first is rated higher, where ties count half. The "
        "permutation test decides. P-values are corrected by Holm's method. Models that share a letter can't be told "
        "apart."
    )
    title = "Which model is better"
    tables = (*map(_comparison_table, found.comparisons), *map(_letter_table, found.comparisons))
    is_trivial = len(found.generators) < 2
    figure = title if found.size.ratings and not is_trivial else ""
    return Section("comparisons", title, lead, tables, figure=figure, is_trivial=is_trivial)


def _comparison_table(one: Comparisons) -> Table:
    columns = (
        Column("difference", "difference"),
        Column("superiority", "superiority"),
        Column("permutation", "permutation, p"),
        Column("signed_rank", "signed rank, p"),
        Column("answers", "answers"),
        Column("verdict", "verdict"),
    )
    rows = tuple(_comparison_row(pair) for pair in one.comparisons)
    return Table("comparisons", one.dataset or ALL_DATASETS, "Pair", columns, rows, one.dataset)


def _comparison_row(pair: Comparison) -> Row:
    undefined = pair.permutation.reason if isinstance(pair.permutation, Undefined) else ""
    return Row(
        Head((pair.first, pair.second), is_pair=True),
        (
            number(Kind.DIFFERENCE, pair.difference),
            number(Kind.SCORE, pair.superiority),
            p_value(pair.permutation),
            p_value(pair.signed_rank),
            count(pair.answers),
            Cell(Kind.VERDICT, pair.better or "", undefined=undefined),
        ),
    )


def _letter_table(one: Comparisons) -> Table:
    rows = tuple(
        Row(Head((name.generator,), letters=name.letters), (number(Kind.SCORE, name.mean_score),))
        for name in one.letters
    )
    return Table(
        "letters", one.dataset or ALL_DATASETS, "Model", (Column("mean_score", "mean score"),), rows, one.dataset
    )


def ranking(found: CriterionResults) -> Section:
    lead = (
        "Bradley and Terry's model with ties, fitted to which of two replies each worker rated higher. Strength is on "
        "the scale of log-odds, and 0 is the average."
    )
    tables = tuple(_ranking_table(one, found.letters(one.dataset)) for one in found.rankings)
    is_trivial = len(found.generators) < 2
    figure = "Ranking of the models" if found.size.ratings and not is_trivial else ""
    return Section("ranking", "Ranking", lead, tables, figure=figure, is_trivial=is_trivial)


def _ranking_table(one: Ranking, letters: dict[str, str]) -> Table:
    rows: tuple[Row, ...] = ()
    undefined = ""
    if isinstance(one.ranked, Undefined):
        undefined = one.ranked.reason
    else:
        rows = tuple(
            Row(
                Head((ranked.generator,), rank=ranked.rank, letters=letters.get(ranked.generator, "")),
                (number(Kind.DIFFERENCE, ranked.strength),),
            )
            for ranked in one.ranked
        )
    title, columns = one.dataset or ALL_DATASETS, (Column("strength", "strength"),)
    return Table(
        "ranking", title, "Model", columns, rows, one.dataset, undefined, count=one.comparisons, counted="comparisons"
    )


def agreement(found: CriterionResults) -> Section:
    lead = (
        "How far workers agree on the same reply: Krippendorff's alpha (1 is perfect, 0 is chance), Fleiss' kappa, and "
        "the share of pairs that say the same."
    )
    title = "Agreement of workers"
    columns = (*(Column(key, name) for key, name in AGREEMENTS.items()), Column("replies", "replies rated twice"))
    table = Table("agreement", "", "Replies of", columns, tuple(_agreement_row(one) for one in found.agreement))
    return Section("agreement", title, lead, (table,), figure=title if found.size.ratings else "")


def _agreement_row(one: Agreement) -> Row:
    measures: list[Estimate | Undefined] = [getattr(one, key) for key in AGREEMENTS]
    names = (one.dataset or ALL_DATASETS, *([one.generator] if one.generator else []))
    return Row(Head(names), (*(number(Kind.AGREEMENT, measure) for measure in measures), count(one.replies)))
