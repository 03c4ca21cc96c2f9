"""Writes a report's other sections: what ratings depend on, true values, emotions, metrics, screening variants."""

from collections.abc import Sequence

from generation.metrics.naming import title_of
from hits.analysing.report import Cell, Column, Head, Kind, Row, Section, Table, count, number, p_value, words
from hits.analysing.report_order import model_order
from hits.analysing.results import NOT_YET, CriterionResults, Variant
from hits.stats import Comparison, Comparisons, Dependence, Labels, Level, MetricCorrelation, Reliability, Undefined

FEW_PAIRS = 6  # that a cell has room to name
GUESSED = (
    "Where workers hardly agree, what Dawid and Skene's model calls true is mostly guessed: read it beside the "
    "agreement."
)
LEFT_OUT = "Not defined for comparisons."
FACTOR_TITLES = {
    "place": "place of the card on the page, from 0",
    "position": "position of the dialog in the HIT, from 0",
    "day": "day",
    "wave": "wave of publication",
    "time": "time taken",
}


TESTED = (
    "Place and position are tested by their trend, time within workers. The p-values are corrected together by Holm's "
    "method."
)


def _how_tested(found: CriterionResults) -> str:
    """Say which tests there are; while a study is not complete, there is none."""
    tests = [*(one.corrected_p_value for one in found.dependences), found.worker_effect.p_value]
    is_interim = all(isinstance(one, Undefined) and one.reason == NOT_YET for one in tests)
    return "They are not tested here: there are no fixed-sample tests." if is_interim else TESTED


def dependences(found: CriterionResults) -> Section:
    lead = (
        "Effects on the score, given the dataset and the model: whether ratings depend on where and when a reply was "
        f"shown, and to whom. {_how_tested(found)}"
    )
    rows = [
        Row(Head((one.factor,)), (_effect_cell(one), p_value(one.corrected_p_value, one.is_floor)))
        for one in found.dependences
    ]
    deviation = number(Kind.SCORE, found.worker_effect.deviation, before="deviation between workers ")
    rows.append(Row(Head(("worker",)), (deviation, p_value(found.worker_effect.p_value, found.worker_effect.is_floor))))
    columns = (Column("effect", "effect on the score"), Column("p", "p"))
    levels = [
        _level_table(one.factor, one.levels) for one in found.dependences if not isinstance(one.levels, Undefined)
    ]
    table = Table("dependences", "", "Factor", columns, tuple(rows))
    return Section("dependences", "What ratings depend on besides the model", lead, (table, *levels))


def _effect_cell(one: Dependence) -> Cell:
    if isinstance(one.levels, Undefined) or not isinstance(one.slope, Undefined):
        return number(Kind.DIFFERENCE, one.slope, after=f" for {one.unit}")
    effects = [level.effect.value for level in one.levels]
    return words(f"{min(effects):+.3f} to {max(effects):+.3f} over {len(effects)} levels")


def _level_table(factor: str, levels: Sequence[Level]) -> Table:
    rows = tuple(Row(Head((one.level,)), (number(Kind.DIFFERENCE, one.effect), count(one.ratings))) for one in levels)
    columns = (Column("effect", "effect"), Column("ratings", "ratings"))
    return Table("levels", FACTOR_TITLES.get(factor, factor), "Level", columns, rows)


def true_values(found: CriterionResults) -> Section:
    lead = (
        "What is most likely true of each reply, by Dawid and Skene's model of workers who err, beside the majority "
        "and the mean. Shares are of replies, not of ratings."
    )
    columns = (
        *(Column("dawid_skene", f"Dawid-Skene {value}", value) for value in found.values),
        *(Column("majority", f"majority {value}", value) for value in found.values),
        Column("mean_score", "mean score"),
        Column("replies", "replies"),
    )
    true = found.true_values
    if isinstance(true, Undefined):
        table = Table("true-values", "", "Replies of", columns, undefined=true.reason)
        return Section("true-values", "True values", lead, (table,))
    rows = tuple(
        Row(
            Head((one.dataset, one.generator)),
            (
                *(number(Kind.SHARE, share) for share in (*one.dawid_skene, *one.majority)),
                number(Kind.SCORE, one.mean_score),
                count(one.replies),
            ),
        )
        for one in true.shares
    )
    table = Table("true-values", "", "Replies of", columns, rows)
    notes = [GUESSED, _reliability(true.workers)]
    if not true.is_converged:
        notes.insert(
            0, f"Dawid and Skene's model had not settled after {true.steps} steps: its shares may still change."
        )
    return Section("true-values", "True values", lead, (table,), tuple(notes))


def _reliability(workers: Sequence[Reliability]) -> str:
    rates = sorted(one.reliability for one in workers)
    low, middle, high = rates[0], rates[len(rates) // 2], rates[-1]
    return f"Workers say the true value with a chance of {low:.2f} to {high:.2f}, {middle:.2f} in the middle."


def labels(found: CriterionResults) -> Section:
    title = "Emotions and intents of the replies"
    lead = "Which emotions and intents were predicted for the replies, by how workers rated them: the paper's figure 5."
    tables = tuple(_label_table(one) for one in found.labels)
    nothing = LEFT_OUT if found.is_comparison else "The replies came without predicted emotions or intents."
    notes = () if tables else (nothing,)
    return Section("labels", title, lead, tables, notes, title if tables and found.size.ratings else "")


def _label_table(one: Labels) -> Table:
    title = f"{one.generator or 'all models'}, rated {one.value}"
    columns = (Column("share", "share"), Column("ratings", "ratings"))
    rows: tuple[Row, ...] = ()
    undefined = ""
    if isinstance(one.labels, Undefined):
        undefined = one.labels.reason
    else:
        rows = tuple(
            Row(Head((label.label,)), (Cell(Kind.SHARE, label.share, label.interval), count(label.count)))
            for label in one.labels
        )
    key = "labels" if one.generator is None else "labels-of-a-model"
    return Table(
        key, title, "Label", columns, rows, undefined=undefined, count=one.ratings, counted="ratings", value=one.value
    )


def metrics(found: CriterionResults) -> Section:
    title = "Automatic metrics beside ratings"
    lead = "How closely automatic metrics of the replies follow their mean scores."
    columns = (
        Column("replies", "replies"),
        Column("pearson", "Pearson"),
        Column("spearman", "Spearman"),
        Column("of_models", "Pearson, of the models' means"),
    )
    table = Table("metrics", "", "Metric", columns, tuple(_correlation_row(one) for one in found.metrics))
    tables = (table, *(_mean_table(one) for one in found.metrics)) if found.metrics else ()
    return Section("metrics", title, lead, tables, figure=title if tables and found.size.ratings else "")


def _correlation_row(one: MetricCorrelation) -> Row:
    correlations = (number(Kind.SCORE, value) for value in (one.pearson, one.spearman, one.of_generators))
    return Row(Head((title_of(one.metric),)), (count(one.replies), *correlations))


def _mean_table(one: MetricCorrelation) -> Table:
    columns = (Column("mean_score", "mean score"), Column("mean_metric", "mean metric"), Column("replies", "replies"))
    rows = tuple(
        Row(
            Head((mean.generator,)),
            (number(Kind.SCORE, mean.mean_score), number(Kind.METRIC, mean.mean_metric), count(mean.replies)),
        )
        for mean in one.generators
    )
    title = title_of(one.metric)
    return Table("means", f"{title[:1].upper()}{title[1:]}, by model", "Model", columns, rows)


def variants(found: CriterionResults) -> Section:
    has_verdicts = any(_verdicts_were_given(one.comparisons) for one in found.variants)
    lead = "The same results with and without each screening rule."
    if has_verdicts:
        lead += (
            " Verdicts are those of the corrected test under these rules, and what changes is compared with all rules."
        )
    columns = (
        Column("order", "order"),
        # Without tests, as in a study that is not complete, "0 told apart" would say that nothing differs.
        *((Column("verdicts", "told apart"), Column("changes", "verdicts that change")) if has_verdicts else ()),
        Column("alpha_ordinal", "alpha, ordinal"),
        Column("ratings", "ratings"),
        Column("workers", "workers"),
    )
    rows = tuple(_variant_row(one, found, has_verdicts) for one in found.variants)
    table = Table("variants", "", "Screening", columns, rows)
    return Section("variants", "Do the results depend on it?", lead, (table,) if found.variants else ())


def _verdicts_were_given(tables: Sequence[Comparisons]) -> bool:
    return any(one.verdict != "not compared" for table in tables for one in table.comparisons)


def _variant_row(one: Variant, found: CriterionResults, has_verdicts: bool) -> Row:
    order = words(" > ".join(model_order(found.under(one))))  # of the planned outcome, as everywhere on the page
    alpha = number(Kind.AGREEMENT, one.agreement.alpha_ordinal)
    verdicts: tuple[Cell, ...] = ()
    if has_verdicts:
        verdicts = (words(_told_apart(one.comparisons)), words(_changes(one.comparisons, found.comparisons)))
    return Row(Head((one.name,)), (order, *verdicts, alpha, count(one.size.ratings), count(one.size.workers)))


def _told_apart(tables: Sequence[Comparisons]) -> str:
    """Name the pairs that are different, in all datasets together or else in each. Pairs that were not compared are
    counted by themselves."""
    told = []
    for table in _main_tables(tables):
        pairs = [one for one in table.comparisons if one.is_different]
        untested = sum(one.verdict == "not compared" for one in table.comparisons)
        named = ", ".join(f"{one.better} > {one.second if one.better == one.first else one.first}" for one in pairs)
        counted = f"{len(pairs)} of {len(table.comparisons) - untested} {'compared ' if untested else ''}pairs"
        text = f"{counted}: {named}" if 0 < len(pairs) <= FEW_PAIRS else counted
        told.append((table.dataset, f"{text} ({untested} not compared)" if untested else text))
    return "; ".join(f"{dataset}: {text}" if len(told) > 1 else text for dataset, text in told)


def _changes(tables: Sequence[Comparisons], with_all: Sequence[Comparisons]) -> str:
    """Name the pairs whose verdict is another one than under all rules. Pairs are found by their names: the order of
    models may differ."""
    everything = [(table.dataset, one) for table in with_all for one in table.comparisons]
    before = {(dataset, frozenset((one.first, one.second))): one for dataset, one in everything}
    found = []
    for table in _main_tables(tables):
        for one in table.comparisons:
            other = before[table.dataset, frozenset((one.first, one.second))]
            if (one.verdict, one.better) != (other.verdict, other.better):
                found.append(f"{one.first} and {one.second}: {_verdict(other)} with all rules, {_verdict(one)}")
    if len(found) > FEW_PAIRS:
        return f"{len(found)} pairs"
    return "; ".join(found) or "none"


def _verdict(one: Comparison) -> str:
    return f"{one.better} better" if one.better else one.verdict


def _main_tables(tables: Sequence[Comparisons]) -> Sequence[Comparisons]:
    """Return the tables that the plan is about: that of all datasets together, or those of the datasets."""
    return [table for table in tables if any(one.is_primary for one in table.comparisons)] or tables[:1]
