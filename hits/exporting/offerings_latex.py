"""Writes the LaTeX table of a bundle of several offerings: each model in each of them, and how far they are apart."""

from hits.analysing import Cell, CriterionReport, Kind
from hits.exporting.latex import escape, table
from hits.stats import Interval

UNDEFINED = "--"


def offerings_table(report: CriterionReport) -> str:
    section = report.section("offerings")
    shares = section.tables_of("by-offering")
    title = escape(shares[0].title) if shares else "Several offerings"
    caption = (
        rf"Exploratory: {title}, with differences between offerings and 95\,\% intervals. Nothing here was planned, "
        "tested or corrected."
    )
    groups = [
        (escape(column.title), [[escape(row.head.names[0]), _written(row.cells[index])] for row in of.rows])
        for of in shares
        for index, column in enumerate(of.columns)
    ]
    for of in section.tables_of("differences"):
        rows = []
        for row in of.rows:
            [difference], [dialogs] = of.cells(row, "difference"), of.cells(row, "dialogs")
            rows.append([escape(row.head.names[0]), f"{_written(difference)}, {dialogs.number:,} dialogs"])
        groups.append((escape(of.title), rows))
    return table(caption, f"{report.prefix}offerings", "lr", ["Offering, model", "Value"], groups)


def _written(cell: Cell) -> str:
    if cell.undefined:
        return UNDEFINED
    style = "+.3f" if cell.kind is Kind.DIFFERENCE else ".3f"
    around = ""
    if isinstance(cell.interval, Interval):
        around = rf" {{\scriptsize[${cell.interval.low:{style}}$, ${cell.interval.high:{style}}$]}}"
    return f"${cell.number:{style}}${around}{escape(cell.after)}"
