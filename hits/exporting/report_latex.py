"""Renders a report's tables in LaTeX: the paper's table 5, the same with intervals, comparisons, ranking, agreement.

Captions say what a reader of the paper needs: the study, how much the table rests on, what is bold and what letters
mean (only where there are any), and that the data is simulated where it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from evalplatform.wording import count_of
from hits.analysing import ALL_DATASETS, Cell, CriterionReport, Kind, Report, Row, Table
from hits.exporting.latex import document, escape, mark_table, table, table_side_by_side
from hits.exporting.offerings_latex import offerings_table
from hits.exporting.paper_tables_latex import criteria_table, votes_table
from hits.stats import Interval, Undefined

UNDEFINED = "--"
DATASETS_ABREAST = 3
LETTERS = r"$^{\mathrm{%s}}$"
STYLES = {Kind.DIFFERENCE: "+.3f", Kind.AGREEMENT: ".2f"}
EXPLORATORY, APART = r"$\dagger$", r"$\ddagger$"
FEWEST_OF_A_SLICE = 10  # ratings; of fewer, an interval says nothing
RATED = "Shares of the ratings of each model on each dataset; $n$ is the number of ratings of a model."
COMPARED = (
    "Shares of the comparisons with other models that each model won, tied and lost, on each dataset; a comparison "
    "counts for both of its models, and $n$ is the number of comparisons of a model. Two models at a time were "
    "compared, in dialogs that need not be the same for all pairs."
)
DIFFERENCES = ("difference", "best_difference", "score_difference")


def latex_tables(report: Report, about: str = "All", outcome: str = "") -> dict[str, str]:
    """Return the tables by file name. A paper that loads booktabs can include each; all.tex compiles by itself. `about`
    says in captions whose numbers these are, as in "Study demo". `outcome` is the primary one, as a design names it;
    it decides what is bold."""
    made: dict[str, str] = {}
    for one in report.criteria:
        makers: dict[str, Callable[[CriterionReport], str]] = {
            "table5": _paper_shares,
            "intervals": _shares,
            "comparisons": _comparisons,
            "ranking": _ranking,
            "agreement": _agreement,
        }
        if one.section("slices").tables:
            makers |= {"slices": _slices}
        if any(section.key == "offerings" for section in one.sections):
            makers |= {"offerings": offerings_table}
        if any(section.key == "votes" for section in one.sections):
            makers = {"votes": votes_table, **makers}
        if one.is_by_mean:
            makers = {"means": _means, **makers}
        for name, make in makers.items():
            made[f"{one.prefix}{name}.tex"] = _with_facts(make(one), one, name, about, outcome)
    if by_mean := [one for one in report.criteria if one.is_by_mean]:
        made = {"criteria.tex": criteria_table(by_mean, about), **made}
    made |= {"all.tex": document(name.removesuffix(".tex") for name in made)}
    warning = report.origin.warning
    return {name: mark_table(text, warning) for name, text in made.items()} if warning else made


def _with_facts(text: str, report: CriterionReport, name: str, about: str, outcome: str) -> str:
    """Add to a table's caption what is marked in it, and whose numbers these are."""
    marks = []
    if r"\textbf{" in text:
        best = _value_names(report.section("shares").tables[0])[0]
        by = {"share of best": f"share of {best}", "mean score": "mean score"}.get(outcome, outcome or "mean score")
        marks.append(f"Bold: the best model by the {by}, and those that a corrected test cannot tell apart from it.")
    if name in ("table5", "intervals", "means") and r"$^{\mathrm{" in text:
        test = escape(_outcome_title(report))
        marks.append(f"Models of a dataset that share a letter cannot be told apart by a corrected test of the {test}.")
    if EXPLORATORY in text and name != "comparisons":
        marks.append(
            rf"{EXPLORATORY} Exploratory: the planned comparisons are not those within this dataset, so that its "
            "letters and bold type are of a second family of tests."
        )
    size = report.size
    criterion = f", criterion {escape(report.title or report.criterion)}" if report.prefix else ""
    rests = ", ".join(
        count_of(number, noun)
        for number, noun in ((size.dialogs, "dialog"), (size.workers, "worker"), (size.ratings, "rating"))
        if number  # nobody counts raters that are not identified
    )
    marks.append(f"{escape(about)}{criterion}: {rests}.")
    place = text.index("\n\\label{tab:")
    return f"{text[: place - 1]} {' '.join(marks)}{text[place - 1 :]}"


def _outcome_title(report: CriterionReport) -> str:
    """Return what the deciding test is about: "share of good", "mean score" or "win rate"."""
    return report.leaderboards[0].columns[0].title if report.leaderboards else ""


def _is_about_shares(report: CriterionReport) -> bool:
    return _outcome_title(report).startswith("share of ")


def _exploratory(report: CriterionReport, of: Table) -> str:
    """Mark a dataset whose letters and bold type come from comparisons that were not planned."""
    planned = [one.is_primary for one in report.answers if one.dataset == of.dataset]
    has_marks = any(row.head.letters for row in of.rows)
    return EXPLORATORY if has_marks and planned and not planned[0] else ""


def _paper_shares(report: CriterionReport) -> str:
    """Make table 5 as the paper prints it, with a few datasets side by side; letters stand at the best value's share,
    if the test is about it, and the number of ratings of each model at the dataset's name."""
    caption = COMPARED if report.is_comparison else RATED
    if not _is_about_shares(report) and (title := _outcome_title(report)):
        elsewhere = "means.tex" if report.is_by_mean else "intervals.tex"
        caption += f" Models were tested by the {escape(title)}, whose letters are in {elsewhere}."
    tables = [one for one in report.section("shares").tables if one.dataset is not None]
    blocks = []
    for start in range(0, len(tables), DATASETS_ABREAST):
        part = tables[start : start + DATASETS_ABREAST]
        rows = []
        for same in zip(*(one.rows for one in part), strict=True):  # a model's row in each dataset
            rows.append([escape(same[0].head.names[0]), *_lettered_shares(part, same, _is_about_shares(report))])
        mark = {one.title: _exploratory(report, one) if _is_about_shares(report) else "" for one in part}
        heads = [f"{escape(one.title)}{mark[one.title]} ({_numbers_of_ratings(one)})" for one in part]
        blocks.append((heads, rows))
    return table_side_by_side(caption, f"{report.prefix}results", _value_names(tables[0]), blocks)


def _lettered_shares(tables: Sequence[Table], rows: Sequence[Row], is_tested: bool) -> Iterator[str]:
    for one, row in zip(tables, rows, strict=True):
        first, *others = one.cells(row, "share")
        letters = LETTERS % row.head.letters if is_tested and row.head.letters and not first.undefined else ""
        yield _share(first if is_tested else replace(first, is_best=False)) + letters
        yield from map(_share, others)


def _numbers_of_ratings(of: Table) -> str:
    counts = [int(cell.number) for row in of.rows for cell in of.cells(row, "ratings")]
    low, high = min(counts, default=0), max(counts, default=0)
    return f"$n = {low}$" if low == high else f"$n = {low}$--${high}$"


def _means(report: CriterionReport) -> str:
    """Make a table of mean scores, with the datasets below each other: papers print means with standard errors."""
    caption = (
        r"Mean scores with standard errors and 95\,\% intervals, which respect that ratings of one dialog and of one "
        "worker belong together."
    )
    groups = [
        (_title(one) + _exploratory(report, one), [_mean_row(one, row) for row in one.rows])
        for one in report.section("shares").tables
    ]
    head = ["Model", "Mean", "SE", r"95\,\% interval", "Ratings"]
    return table(caption, f"{report.prefix}means", "lcccr", head, groups)


def _mean_row(of: Table, row: Row) -> list[str]:
    mean, error, ratings = of.cells(row, "mean_score", "mean_error", "ratings")
    text = UNDEFINED if mean.undefined else f"{mean.number:.3f}"
    wide = UNDEFINED
    if isinstance(mean.interval, Interval):
        wide = f"[${mean.interval.low:.3f}$, ${mean.interval.high:.3f}$]"
    return [
        escape(row.head.names[0]) + (LETTERS % row.head.letters if row.head.letters else ""),
        rf"\textbf{{{text}}}" if mean.is_best else text,
        UNDEFINED if error.undefined else f"{error.number:.3f}",
        wide,
        f"{ratings.number:,}",
    ]


def _shares(report: CriterionReport) -> str:
    caption = (
        r"Human evaluation results with 95\,\% intervals in brackets, which respect that ratings of one dialog and of "
        "one worker belong together."
    )
    tables = report.section("shares").tables
    # Of points, the means are tested: means.tex has their letters. Otherwise letters stand at the model's name, and the
    # caption names the outcome; a share is bold only if shares were tested.
    is_tested, is_about_shares = not report.is_by_mean, _is_about_shares(report)
    groups = [
        (
            _title(one) + (_exploratory(report, one) if is_tested else ""),
            [_interval_row(one, row, is_tested, is_about_shares) for row in one.rows],
        )
        for one in tables
    ]
    values = _value_names(tables[0])
    head = ["Model", *values, "Ratings"]
    return table(caption, f"{report.prefix}intervals", "l" + "c" * len(values) + "r", head, groups)


def _interval_row(of: Table, row: Row, is_tested: bool, is_about_shares: bool) -> list[str]:
    [ratings] = of.cells(row, "ratings")
    letters = LETTERS % row.head.letters if row.head.letters and is_tested else ""
    cells = [replace(cell, is_best=cell.is_best and is_about_shares) for cell in of.cells(row, "share")]
    shares = [_share(cell) + _brackets(cell, ".3f") for cell in cells]
    return [escape(row.head.names[0]) + letters, *shares, f"{ratings.number:,}"]


def _comparisons(report: CriterionReport) -> str:
    section = report.section("comparisons")
    if interim := section.tables_of("sequence"):
        rows = [
            (
                _title(one),
                [[" -- ".join(map(escape, row.head.names)), *_numbers(one, row, "difference")] for row in one.rows],
            )
            for one in interim
        ]
        return table(escape(section.lead), f"{report.prefix}comparisons", "lc", ["Models", "Difference"], rows)
    tables = [one for one in section.tables_of("comparisons") if one.rows]
    shown = [column for column in tables[0].columns if column.key in DIFFERENCES] if tables else []
    afters = [cell.after for one in tables for row in one.rows for cell in one.cells(row, "verdict")]
    head = ["Models", *(escape(column.title.capitalize()) for column in shown), "Superiority", "$p$"]
    keys = (*(column.key for column in shown), "superiority", "p")
    groups = [(_title(one), [[_pair_name(one, row), *_numbers(one, row, *keys)] for row in one.rows]) for one in tables]
    label, columns = f"{report.prefix}comparisons", "l" + "c" * (len(head) - 1)
    return table(_caption_of_comparisons(afters, report.size.workers > 0), label, columns, head, groups)


def _caption_of_comparisons(afters: Sequence[str], are_raters_known: bool) -> str:
    apart = ["different raters" in after for after in afters]
    if afters and not are_raters_known:
        caption = (
            r"Comparisons of models: differences of the first's and the second's means, with 95\,\% intervals, which "
            "are not corrected; $p$-values of a $t$ test with the variance over dialogs, corrected by Holm's method. "
            "Raters were not identified, so that neither takes into account which ratings are the same person's."
        )
    elif apart and all(apart):
        caption = (
            "Comparisons of models that were rated by different raters: differences of the first's and the second's "
            r"means, with 95\,\% intervals, which are not corrected; $p$-values of a $t$ test with the two-way "
            "variance, corrected by Holm's method. Differences between raters are part of them."
        )
    else:
        caption = (
            "Paired comparisons within the same worker and dialog: differences of the first and the second, and "
            r"probability of superiority of the first over the second (0.5 is no difference), with 95\,\% intervals, "
            "which are not corrected; $p$-values of the test that decides, corrected by Holm's method."
        )
    if any("exploratory" in after for after in afters):
        caption += rf" Exploratory comparisons ({EXPLORATORY}) are corrected by themselves."
    if any(apart) and not all(apart):
        caption += rf" Pairs with {APART} were rated by different raters: difference of means and $t$ test."
    return caption


def _pair_name(of: Table, row: Row) -> str:
    [verdict] = of.cells(row, "verdict")
    marks = (EXPLORATORY if "exploratory" in verdict.after else "") + (
        APART if "different raters" in verdict.after else ""
    )
    return " -- ".join(map(escape, row.head.names)) + marks


def _ranking(report: CriterionReport) -> str:
    tables = report.section("ranking").tables
    cells = [row.cells[0] for one in tables for row in one.rows]
    intervals = r", with 95\,\% intervals" if any(isinstance(cell.interval, Interval) for cell in cells) else ""
    caption = f"Ranking of the models by Bradley--Terry strength with ties (0 is the average){intervals}."
    groups = [(_title(one), list(_ranks(one))) for one in tables]
    return table(caption, f"{report.prefix}ranking", "rlc", ["", "Model", "Strength"], groups)


def _ranks(of: Table) -> Iterator[Sequence[str]]:
    if of.undefined:
        yield ["", escape(f"undefined: {of.undefined}"), UNDEFINED]
    for row in of.rows:
        yield [str(row.head.rank), escape(row.head.names[0]), *_numbers(of, row, "strength")]


def _agreement(report: CriterionReport) -> str:
    # The distance that fits: between points, their difference; between names, that they differ.
    levels = ("interval", "ordinal") if report.is_by_mean else ("ordinal", "nominal")
    caption = (
        rf"Agreement of workers on the same reply: Krippendorff's $\alpha$ ({', '.join(levels)}), Fleiss' $\kappa$ and "
        r"raw agreement, with 95\,\% intervals."
    )
    head = ["", *(rf"$\alpha$ ({level})" for level in levels), r"Fleiss' $\kappa$", "Raw"]
    keys = (*(f"alpha_{level}" for level in levels), "fleiss_kappa", "raw")
    [of] = report.section("agreement").tables
    groups = [
        (
            escape(dataset.capitalize() if dataset == ALL_DATASETS else dataset),
            [[escape(", ".join(row.head.names[1:]) or "all models"), *_numbers(of, row, *keys)] for row in rows],
        )
        for dataset, rows in groupby(of.rows, key=lambda row: row.head.names[0])
    ]
    return table(caption, f"{report.prefix}agreement", "lcccc", head, groups)


def _slices(report: CriterionReport) -> str:
    section = report.section("slices")
    what = _outcome_title(report) or section.tables[0].columns[0].title
    caption = (
        rf"Exploratory: {escape(what)} of each model in parts of the dialogs, with 95\,\% intervals and the number of "
        rf"ratings, $n$. Nothing here was tested. Of fewer than {FEWEST_OF_A_SLICE} ratings only the number is given."
    )
    groups = [(escape(of.title), [_slice_row(of, row) for row in of.rows]) for of in section.tables]
    head = ["Dialogs, model", escape(what.capitalize()), "$n$"]
    return table(caption, f"{report.prefix}slices", "lcr", head, groups)


def _slice_row(of: Table, row: Row) -> list[str]:
    [ratings] = of.cells(row, "ratings")
    told = _numbers(of, row, "outcome") if ratings.number >= FEWEST_OF_A_SLICE else [UNDEFINED]
    return [escape(", ".join(row.head.names)), *told, f"{ratings.number:,}"]


def _title(of: Table) -> str:
    return escape(ALL_DATASETS.capitalize() if of.dataset is None else of.dataset)


def _value_names(of: Table) -> list[str]:
    return [escape(column.value.capitalize()) for column in of.columns if column.key == "share"]


def _share(cell: Cell) -> str:
    """Write a share without the leading zero, as the paper does; those of the models that lead are bold."""
    if cell.undefined:
        return UNDEFINED
    text = f"{cell.number:.4f}".removeprefix("0")
    return rf"\textbf{{{text}}}" if cell.is_best else text


def _numbers(of: Table, row: Row, *keys: str) -> list[str]:
    return [_number(cell) for cell in of.cells(row, *keys)]


def _number(cell: Cell) -> str:
    if cell.undefined:
        return UNDEFINED
    if cell.kind is Kind.P_VALUE:
        return f"${cell.p_value(digits=3).replace(' ', '')}$"
    style = STYLES.get(cell.kind, ".3f")
    return f"${cell.number:{style}}${_brackets(cell, style)}"


def _brackets(cell: Cell, style: str) -> str:
    if cell.interval is None or isinstance(cell.interval, Undefined):
        return ""
    return rf" {{\scriptsize[${cell.interval.low:{style}}$, ${cell.interval.high:{style}}$]}}"
