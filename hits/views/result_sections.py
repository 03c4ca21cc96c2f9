"""Renders a report for the results page: sections and tables whose cells are texts, ready for the template."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hits.analysing import FACTOR_TITLES, Cell, CriterionReport, Head, Kind, Report, Section, Table
from hits.screening import rule_in_words
from hits.stats import Undefined

STYLES = {Kind.DIFFERENCE: "+.3f", Kind.METRIC: ".4g"}
MOST_COLUMNS = 8
ONLY_IN_FILES = {"published_error"}  # columns that a laptop has no room for: terminal, LaTeX and JSON have them
SHORT_TITLES = {  # for the table of contents
    "agreement": "Agreement",
    "calibration": "The human reply",
    "dependences": "What ratings depend on",
    "labels": "Emotions and intents",
    "metrics": "Automatic metrics",
}


class CellText(str):
    """A cell's text. `query` chooses the dialogs behind it; "" if there is no list of them."""

    query = ""

    @property
    def unbroken(self) -> str:
        """The text, whose numbers keep their per cent sign on the line."""
        return self.replace(" %", "\N{NO-BREAK SPACE}%")

    @classmethod
    def of(cls, cell: Cell) -> "CellText":
        text = cls(written_cell(cell))
        text.query = cell.dialogs.as_query() if cell.dialogs else ""
        return text


@dataclass(frozen=True)
class PageTable:
    """A row is its head and the cells, each with the column's title: phones show a row as a card."""

    caption: str
    heading: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]

    @property
    def is_wide(self) -> bool:
        """True if its text has to be smaller to fit a laptop."""
        return len(self.columns) > MOST_COLUMNS


@dataclass(frozen=True)
class PageSection:
    """`key` is unique on the page, and the name of the section's figure. `short_title` is for lists of links. `more`
    are tables behind a fold of their own, which `more_title` names."""

    key: str
    title: str
    short_title: str
    lead: str
    tables: Sequence[PageTable]
    notes: Sequence[str] = ()
    more: Sequence[PageTable] = ()
    more_title: str = ""


def page_sections(report: Report, criterion: str = "") -> list[PageSection]:
    """Return the sections of all criteria, or of one."""
    return [
        _page_section(section, one)
        for one in report.criteria
        if not criterion or one.criterion == criterion
        for section in one.sections
        if section.key != "variants" and not section.is_trivial and (section.tables or section.notes)
    ]


def variant_tables(report: Report, criterion: str) -> list[PageTable]:
    """Return the results with and without each screening rule, side by side."""
    return [
        _page_table(table)
        for one in report.criteria
        if one.criterion == criterion
        for table in one.section("variants").tables
    ]


def variant_in_words(name: str) -> str:
    """Write "without too_few_points" as “without the rule too few points”."""
    rule = name.removeprefix("without ")
    return name if rule == name else f"without the rule “{rule_in_words(rule)}”"


def _page_section(section: Section, report: CriterionReport) -> PageSection:
    shown = [table for table in section.tables if not table.undefined and table.key not in ("letters", "levels")]
    more = section.tables_of("levels")
    return PageSection(
        key=f"{report.prefix}{section.key}",
        title=f"{report.criterion.capitalize()}: {section.title}" if report.prefix else section.title,
        short_title=SHORT_TITLES.get(section.key, section.title),
        lead=section.lead,
        tables=[_page_table(table) for table in shown],
        notes=[*_letters(section), *_undefined(section), *section.notes],
        more=[_page_table(table) for table in more],
        more_title="Level by level" if more else "",
    )


def _letters(section: Section) -> Iterator[str]:
    for table in section.tables_of("letters"):
        if any(row.head.letters for row in table.rows):
            models = ", ".join(f"{_name(row.head)} ({row.head.letters})" for row in table.rows if row.head.letters)
            yield f"{table.title}, letters: {models}"
        else:
            yield f"{table.title}: not all pairs were compared, so there are no letters."


def _undefined(section: Section) -> Iterator[str]:
    """Say which tables are undefined; those with the same reason share a sentence."""
    names: dict[str, list[str]] = {}
    for table in section.tables:
        if table.undefined:
            names.setdefault(table.undefined, []).append(table.title)
    for reason, titles in names.items():
        if section.key == "labels":
            yield f"{'; '.join(titles)}: undefined: {reason}."
        else:
            yield from (f"{title}: undefined: {reason}." if title else f"undefined: {reason}." for title in titles)


def _page_table(table: Table) -> PageTable:
    shown = [at for at, column in enumerate(table.columns) if column.key not in ONLY_IN_FILES]
    titles = [table.columns[at].title for at in shown]
    caption = f"{table.title}, {table.count:,} {table.counted}" if table.counted else table.title
    rows = [
        (_row_head(table, row.head), list(zip(titles, (CellText.of(row.cells[at]) for at in shown), strict=True)))
        for row in table.rows
    ]
    return PageTable(caption, table.heading, titles, rows)


def _row_head(table: Table, head: Head) -> str:
    name = _name(head)
    if table.key == "dependences":
        return FACTOR_TITLES.get(name, name)
    if table.key == "variants":
        return variant_in_words(name)
    if table.key == "metrics":
        return name[:1].upper() + name[1:]
    return f"{head.rank}. {name}" if head.rank is not None else name


def _name(head: Head) -> str:
    return (" and " if head.is_pair else ", ").join(head.names)


def written_cell(cell: Cell) -> str:
    if cell.kind is Kind.VERDICT:
        if cell.undefined:
            return f"not compared: {cell.undefined}"
        return (f"{cell.value} is better" if cell.value else "can't be told apart") + cell.after
    if cell.undefined:
        return f"{cell.before}undefined: {cell.undefined}"
    if isinstance(cell.value, str):
        return cell.value
    return f"{cell.before}{_number(cell)}{cell.after}"


def _number(cell: Cell) -> str:
    if cell.kind is Kind.COUNT:
        return f"{cell.number:,}"
    if cell.kind is Kind.P_VALUE:
        return cell.p_value(digits=4)
    is_share = cell.kind is Kind.SHARE
    style, factor = (".1f", 100) if is_share else (STYLES.get(cell.kind, ".3f"), 1)
    told = f"{factor * cell.number:{style}}{' %' if is_share else ''}"
    if isinstance(cell.interval, Undefined):
        return f"{told} (interval undefined: {cell.interval.reason})"
    if cell.interval is None:
        return told
    return f"{told} [{factor * cell.interval.low:{style}}, {factor * cell.interval.high:{style}}]"
