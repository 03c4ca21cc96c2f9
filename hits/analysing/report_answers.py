"""Writes a report's sections about the models: shares, human replies, comparisons, ranking, agreement."""

from collections.abc import Sequence
from dataclasses import replace

from hits.analysing.dialog_filter import DialogFilter
from hits.analysing.pairing_words import describe_pairing, describe_planned_part
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
from hits.stats import (
    FEW_WORKERS,
    LARGER_OF_BOTH,
    TWO_WAY_T,
    Agreement,
    Comparison,
    Comparisons,
    Estimate,
    PairTest,
    Ranking,
    ShareRow,
    Undefined,
)

COMPARED = "How often each model's reply won, tied and lost against another model's."
AGREEMENTS = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_interval": "alpha, interval",
    "alpha_nominal": "alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "raw": "raw agreement",
}

COUNTED = (Column("replies", "replies rated twice or more"), Column("majorities", "with a majority"))
ROUGH_AGREEMENT = (
    f"The work is worth that of fewer than {FEW_WORKERS} equally busy workers: read these intervals with care. With "
    "three and a value that hardly anybody chooses, those of raw agreement held the truth in 90 % of simulated studies."
)


def shares(found: CriterionResults) -> Section:
    lead = (
        "Which share of each model's ratings has each value. Lines and brackets are 95 % intervals; they respect "
        "that ratings of one dialog, and of one worker, belong together."
    )
    if found.is_comparison:
        lead = lead.replace("Which share of each model's ratings has each value.", COMPARED)
    if found.is_nominal:
        lead += " The labels have no order: nothing here is better or worse, and there are no means and no ranking."
    title = "How replies were rated"
    tables = _tables_by_dataset(found.table, found)
    return Section("shares", title, lead, tables, figure=title if found.size.ratings else "")


def calibration(found: CriterionResults) -> Section:
    lead = (
        "How the hidden human replies were rated, beside the models in the same dialogs. Work that only rules about "
        "points leave out is counted here: those rules keep work because it rated the human reply well, so that what "
        "they keep would flatter it. Final answers count: workers are told whether a checkpoint passed, and may try "
        "again."
    )
    tables = _tables_by_dataset(found.calibration, found, is_compared=False)
    notes = () if tables else ("No human reply was rated: the study has no checkpoints.",)
    return Section("calibration", "The human reply as a measure", lead, tables, notes)


def _tables_by_dataset(
    rows: Sequence[ShareRow], found: CriterionResults, is_compared: bool = True
) -> tuple[Table, ...]:
    """Make a table for each dataset. Letters and the mark of the best are only for tables whose models were all tested
    against each other."""
    shares = tuple(Column("share", value, value) for value in found.values)
    mean = Column("mean_score", "mean score")
    columns = (
        *(
            (mean, Column("mean_error", "standard error"), Column("published_error", "s/√n"), *shares)
            if found.is_by_mean
            else (*shares, mean)
        ),
        *(Column(name, name) for name in ("ratings", "dialogs", "workers")),
    )
    tables = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        of_dataset = [row for row in rows if row.dataset == dataset]
        letters = found.letters(dataset) if is_compared else {}
        leading = found.leading(dataset) if is_compared else set()
        made = tuple(
            _share_row(row, found, row.generator in leading, letters.get(row.generator or "", ""), is_compared)
            for row in of_dataset
        )
        tables.append(Table("shares", dataset or ALL_DATASETS, "Model", columns, made, dataset))
    return tuple(tables)


def _share_row(row: ShareRow, found: CriterionResults, is_leading: bool, letters: str, is_linked: bool) -> Row:
    """Make a row. Only what all rules keep is linked to its dialogs, because their list counts just that."""
    head = Head((row.generator or HUMAN,), is_human=row.generator is None, letters=letters)
    if isinstance(row.shares, Undefined):
        cells = [Cell(Kind.SHARE, None, undefined=row.shares.reason)] * len(found.values)
    else:
        cells = [
            Cell(
                Kind.SHARE,
                one.share,
                one.interval,
                is_best=is_leading and index == 0 and not found.is_by_mean,
                dialogs=DialogFilter(found.criterion, row.generator or HUMAN, one.value, row.dataset or "")
                if is_linked
                else None,
            )
            for index, one in enumerate(row.shares)
        ]
    behind = DialogFilter(found.criterion, row.generator or HUMAN, dataset=row.dataset or "") if is_linked else None
    sizes = (
        replace(count(row.ratings), dialogs=behind),
        replace(count(row.dialogs), dialogs=behind),
        count(row.workers),
    )
    mean = replace(number(Kind.SCORE, row.mean_score), dialogs=None if row.ratings == 0 else behind)
    if found.is_by_mean:
        errors = (number(Kind.SCORE, row.mean_error), number(Kind.SCORE, row.published_error))
        return Row(head, (replace(mean, is_best=is_leading and not mean.undefined), *errors, *cells, *sizes))
    return Row(head, (*cells, mean, *sizes))


def comparisons(found: CriterionResults) -> Section:
    title = "Which model is better"
    tables = (
        *(_comparison_table(one, found) for one in found.comparisons),
        *(_letter_table(one, found) for one in found.comparisons),
    )
    is_trivial = len(found.generators) < 2 or found.is_nominal
    figure = title if found.size.ratings and not is_trivial else ""
    lead = _comparisons_lead(found)
    return Section("comparisons", title, lead, tables, _warnings(found), figure=figure, is_trivial=is_trivial)


def _comparisons_lead(found: CriterionResults) -> str:
    pairs = [pair for one in found.comparisons for pair in one.comparisons]
    outcome = found.comparisons[0].outcome if found.comparisons else ""
    best = found.values[0] if found.values else "the best value"
    sentences = ["Differences are the first model's minus the second's."]
    if any(pair.kind == "paired" for pair in pairs):
        sentences = [
            "Models are compared within the same worker and dialog. Differences are the first model's minus the "
            "second's; superiority is the chance that the first is rated higher, where ties count half.",
            _deciding_test(pairs, _outcome_words(outcome, best)),
        ]
    if not found.are_raters_known:
        sentences.append("Raters are not identified, so the means are compared by a t test that knows dialogs alone.")
    elif any(pair.kind == "unpaired" for pair in pairs):
        sentences.append(
            "Models that nobody rated in the same dialog, or hardly anybody, are compared by different raters: by the "
            "difference of their means and a t test, which contain all that raters differ by."
        )
    sentences.append("P-values are corrected by Holm's method; the 95 % intervals are not corrected.")
    if not all(pair.is_primary for pair in pairs):
        sentences.append("The planned comparisons are corrected by themselves; all others are exploratory.")
    sentences.append("Models that share a letter can't be told apart.")
    return " ".join(sentences)


def _deciding_test(pairs: Sequence[Comparison], outcome: str) -> str:
    methods = {pair.test.method for pair in pairs if pair.kind == "paired" and isinstance(pair.test, PairTest)}
    sentence = f"A permutation test of the {outcome} decides"
    if LARGER_OF_BOTH in methods:
        return f"{sentence}; where raters are few, the larger of its p-value and that of a two-way t test does."
    if TWO_WAY_T in methods:
        return f"{sentence}; where answers are very many, a two-way t test does."
    return f"{sentence}."


def _outcome_words(outcome: str, best: str) -> str:
    return {"share of best": f"share of {best}", "win rate": "win rates"}.get(outcome, "mean scores")


def _warnings(found: CriterionResults) -> tuple[str, ...]:
    """Return the warnings of all tables, and how pairs are compared where not all of them stand side by side. One that
    several tables share is written once."""
    several = len(found.comparisons) > 1
    by_warning: dict[str, list[str]] = {}
    for one in found.comparisons:
        for warning in (*one.warnings, *describe_pairing(one.comparisons)):
            by_warning.setdefault(warning, []).append(one.dataset or ALL_DATASETS)
    told = [f"{', '.join(names)}: {warning}" if several else warning for warning, names in by_warning.items()]
    return tuple(filter(None, (describe_planned_part(found), *told)))


def _comparison_table(one: Comparisons, found: CriterionResults) -> Table:
    best = found.values[0] if found.values else "best"
    differences = (
        [Column("difference", "difference of win rates")]
        if found.is_comparison
        else [
            Column("best_difference", f"difference of {best}"),
            Column("score_difference", "difference of mean scores"),
        ]
    )
    columns = (
        *differences,
        Column("superiority", "superiority"),
        Column("p", "p, corrected"),
        Column("answers", "answers"),
        Column("verdict", "verdict"),
    )
    keys = [column.key for column in differences]
    rows = tuple(
        _comparison_row(pair, keys, DialogFilter(found.criterion, dataset=one.dataset or ""), found.are_raters_known)
        for pair in one.comparisons
    )
    return Table("comparisons", one.dataset or ALL_DATASETS, "Pair", columns, rows, one.dataset)


def _comparison_row(pair: Comparison, differences: Sequence[str], among: DialogFilter, are_raters_known: bool) -> Row:
    """Make a row. Where the same people rated both models, it leads to the dialogs in which both were rated."""
    behind = replace(among, model=pair.first, other=pair.second) if pair.kind == "paired" else None
    undefined = pair.test.reason if isinstance(pair.test, Undefined) else ""
    qualifiers = (
        *(["by different raters"] if pair.kind == "unpaired" and are_raters_known else []),
        *([] if pair.is_primary or undefined else ["exploratory"]),
    )
    after = f" ({', '.join(qualifiers)})" if qualifiers else ""
    return Row(
        Head((pair.first, pair.second), is_pair=True),
        (
            *(replace(number(Kind.DIFFERENCE, getattr(pair, key)), dialogs=behind) for key in differences),
            number(Kind.SCORE, pair.superiority),
            p_value(pair.test),
            replace(count(pair.answers), dialogs=behind),
            Cell(Kind.VERDICT, pair.better or "", undefined=undefined, after=after),
        ),
    )


def _letter_table(one: Comparisons, found: CriterionResults) -> Table:
    rows = tuple(
        Row(Head((name.generator,), letters=name.letters), (number(Kind.SCORE, name.mean_score),))
        for name in sorted(one.letters, key=lambda name: found.generators.index(name.generator))
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
    is_trivial = len(found.generators) < 2 or found.is_nominal
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
        "the share of pairs that say the same. A reply has a majority if more than half of its ratings say the same."
    )
    title = "Agreement of workers"
    columns = (*(Column(key, name) for key, name in AGREEMENTS.items()), *COUNTED)
    table = Table("agreement", "", "Replies of", columns, tuple(_agreement_row(one) for one in found.agreement))
    are_few = any(0 < one.effective_workers < FEW_WORKERS for one in found.comparisons)
    notes = (ROUGH_AGREEMENT,) if are_few else ()
    return Section("agreement", title, lead, (table,), notes, figure=title if found.size.ratings else "")


def _agreement_row(one: Agreement) -> Row:
    measures: list[Estimate | Undefined] = [getattr(one, key) for key in AGREEMENTS]
    names = (one.dataset or ALL_DATASETS, *([one.generator] if one.generator else []))
    return Row(
        Head(names), (*(number(Kind.AGREEMENT, measure) for measure in measures), count(one.replies), _majorities(one))
    )


def _majorities(one: Agreement) -> Cell:
    return (
        Cell(Kind.COUNT, None, undefined=one.majorities.reason)
        if isinstance(one.majorities, Undefined)
        else count(one.majorities)
    )
