"""Writes the LaTeX tables in the layouts that papers use: models by criteria, mean ± SEM, and wins, losses and ties."""

from collections.abc import Sequence

from evalplatform.wording import count_of
from hits.analysing import ALL_DATASETS, Cell, CriterionReport, Row, Table
from hits.exporting.latex import escape, table
from hits.stats import Interval

UNDEFINED = "--"
SHARES = ("wins", "losses", "ties")


def criteria_table(reports: Sequence[CriterionReport], about: str) -> str:
    """Make one table of all criteria: a row for each model, and for the human reply where it was rated."""
    main = reports[0]
    caption = (
        r"Mean ratings $\pm$ standard errors of the mean as papers print them ($s/\sqrt{n}$), which take all ratings "
        "as independent; the tables of means have those that respect dialogs and workers. "
        f"{escape(about)}: {count_of(main.size.dialogs, 'dialog')}, {count_of(main.size.ratings, 'rating')} of models' "
        f"replies on each criterion."
    )
    groups = []
    for at, of in enumerate(main.section("shares").tables):
        tables = [one.section("shares").tables[at] for one in reports]
        # Criteria may rank the models differently; all of them stand in the main one's order.
        rows = [[escape(row.head.names[0]), *(_mean(one, row.head.names[0]) for one in tables)] for row in of.rows]
        human = [_human_mean(one, of.dataset) for one in reports]
        if any(human):
            rows.append(["Human reply", *(mean or UNDEFINED for mean in human)])
        groups.append((_title(of), rows))
    head = ["Model", *(escape(one.title) for one in reports)]
    return table(caption, "criteria", "l" + "c" * len(reports), head, groups)


def _mean(of: Table, model: str) -> str:
    return next((_mean_of_row(of, row) for row in of.rows if row.head.names[0] == model), UNDEFINED)


def _human_mean(report: CriterionReport, dataset: str | None) -> str:
    tables = [one for one in report.section("calibration").tables if one.dataset == dataset]
    return next((_mean_of_row(of, row) for of in tables for row in of.rows if row.head.is_human), "")


def _mean_of_row(of: Table, row: Row) -> str:
    mean, error = of.cells(row, "mean_score", "published_error")
    if mean.undefined:
        return UNDEFINED
    return f"${mean.number:.2f}$" if error.undefined else rf"${mean.number:.2f} \pm {error.number:.2f}$"


def votes_table(report: CriterionReport) -> str:
    """Make a table of each pair: wins, losses and ties in per cent of the verdicts, and of the votes."""
    section = next(one for one in report.sections if one.key == "votes")
    caption = (
        "Comparisons of two replies: wins, losses and ties of the first model in per cent; the net difference, wins "
        r"less losses, with its 95\,\% interval; and the $p$-value of the exact sign test, which is not corrected. $n$ "
        "counts verdicts, as the methods section defines them, or votes, in brackets dialogs without a verdict."
    )
    groups = [(escape(of.title), [_row_of_votes(of, row) for row in of.rows]) for of in section.tables]
    return table(
        caption,
        f"{report.prefix}votes",
        "lrrrcrr",
        ["Models", r"Wins (\%)", r"Losses (\%)", r"Ties (\%)", "Net", "$n$", "$p$"],
        groups,
    )


def _row_of_votes(of: Table, row: Row) -> list[str]:
    shares, [net], [number] = of.cells(row, *SHARES), of.cells(row, "net"), of.cells(row, of.key)
    tests, without = of.cells(row, "p"), [cell.number for cell in of.cells(row, "split") if cell.number]
    return [
        " -- ".join(map(escape, row.head.names)),
        *(UNDEFINED if one.undefined else f"{100 * one.number:.2f}" for one in shares),
        UNDEFINED if net.undefined else _net(net),
        f"{number.number:,}" + (f" ({without[0]:,})" if without else ""),
        next((_p_value(one) for one in tests if not one.undefined), UNDEFINED if tests else ""),
    ]


def _net(cell: Cell) -> str:
    around = ""
    if isinstance(cell.interval, Interval):
        around = rf" {{\scriptsize[${cell.interval.low:+.3f}$, ${cell.interval.high:+.3f}$]}}"
    return f"${cell.number:+.3f}${around}"


def _p_value(cell: Cell) -> str:
    return "$<.001$" if cell.number < 0.001 else f"${cell.number:.3f}$"


def _title(of: Table) -> str:
    return escape(ALL_DATASETS.capitalize() if of.dataset is None else of.dataset)
