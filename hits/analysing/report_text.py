"""Renders a report for the terminal: decides its columns, its digits, and how many labels it names."""

from collections.abc import Iterator, Sequence

from evalplatform.wording import count_of
from hits.analysing.origin_words import describe_origin
from hits.analysing.report import Cell, CriterionReport, Head, Kind, Report, Section, Table
from hits.analysing.study_progress import describe_progress
from hits.stats import Undefined

FEW_LABELS = 5
WIDE = 24  # a number with its interval
WIDER = 26  # the same with signs
DIFFERENCES = ("difference", "best_difference", "score_difference")
STYLES = {Kind.SHARE: ".4f", Kind.DIFFERENCE: "+.3f", Kind.COUNT: ","}


def report_as_text(report: Report) -> Iterator[str]:
    if warning := describe_origin(report.origin):
        yield from (warning, "")
    if interim := describe_progress(report.progress):
        yield from (interim, "")
    for number, one in enumerate(report.criteria):
        if one.prefix:
            yield from (*([""] if number else []), f"Criterion: {one.criterion}", "")
        yield from _criterion(one)


def _criterion(report: CriterionReport) -> Iterator[str]:
    for answer in report.main_answers:
        yield from (*answer.sentences, *answer.cautions, "")
    size = report.size
    by = count_of(size.workers, "worker") if size.workers else "raters who are not identified"
    yield (
        f"{count_of(size.ratings, 'rating')} of models' replies and {size.human_ratings:,} of human ones, in "
        f"{count_of(size.answers, 'answer')} by {by} to {count_of(size.dialogs, 'dialog')}. "
        "Brackets hold 95 % intervals."
    )
    for title, lines in _titled_sections(report):
        yield from ("", title, *lines)


def _titled_sections(report: CriterionReport) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each section's title and lines. People read a terminal from the top, so each dataset has its own
    comparisons and its own ranking."""
    section = report.section
    yield "Shares of the ratings", _shares(section("shares"))
    yield from _offerings(report)
    compared = section("comparisons")
    for table, letters in zip(compared.tables_of("comparisons"), compared.tables_of("letters"), strict=True):
        yield f"Which is better, {table.title}", _comparisons(table, letters)
    for table in compared.tables_of("sequence"):
        yield f"Which is better so far, {table.title}", _sequence(table)
    if compared.notes:
        yield "What these comparisons can't say", (f"  {note}" for note in compared.notes)
    for table in section("ranking").tables:
        yield f"Ranking, {table.title} (Bradley-Terry with ties)", _ranking(table)
    yield from _votes(report)
    yield "Agreement of workers on the same reply", _agreement(section("agreement").tables[0])
    yield "True values, as shares of the replies", _true_values(section("true-values"))
    yield "What ratings depend on besides the model", _dependences(section("dependences").tables[0])
    yield from _halo(report)
    if section("calibration").tables:
        yield "The human reply as a measure, in the same dialogs", _shares(section("calibration"))
    if section("labels").tables:
        yield "Predicted emotions and intents", _labels(section("labels"))
    if section("metrics").tables:
        yield "Automatic metrics beside ratings", _metrics(section("metrics"))
    for table in section("slices").tables:
        yield f"Slices, exploratory: {table.title.lower()}", _slices(table)
    if section("variants").tables:
        yield "With and without rules of screening", _variants(section("variants").tables[0])


def _offerings(report: CriterionReport) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the tables of several offerings that are put together; there are none in results of one."""
    for section in report.sections:
        if section.key == "offerings":
            for table in section.tables:
                exploratory = "" if table.key == "parts" else ", exploratory"
                yield f"{table.title}{exploratory}", _plain_table(table)
            yield "What offerings together can't say", (f"  {note}" for note in section.notes)


def _votes(report: CriterionReport) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield wins, losses and ties of each pair, where replies were compared."""
    for section in report.sections:
        if section.key == "votes":
            for table in section.tables:
                yield table.title, _plain_table(table)


def _halo(report: CriterionReport) -> Iterator[tuple[str, Iterator[str]]]:
    for section in report.sections:
        if section.key == "halo":
            yield section.title, _plain_table(section.tables[0])


def _plain_table(table: Table) -> Iterator[str]:
    lines = [[_format_head(row.head), *map(_format_cell, row.cells)] for row in table.rows]
    head = ["", *(column.title for column in table.columns)]
    widths = [max(len(line[index]) for line in (head, *lines)) + 2 for index in range(len(head))]
    for line in (head, *lines):
        yield "  " + "".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()


def _shares(section: Section) -> Iterator[str]:
    rows = [row for table in section.tables for row in table.rows]
    width = max(len(_format_head(row.head)) for row in rows) + 4  # two for being indented, two before what follows
    values = [column.value for column in section.tables[0].columns if column.key == "share"]
    has_errors = any(column.key == "mean_error" for column in section.tables[0].columns)
    errors = ["standard error", "s/√n"] if has_errors else []
    yield "  " + " " * width + _align([*values, *errors]) + "mean score"
    for table in section.tables:
        yield f"  {table.title}"
        for row in table.rows:
            shares, [mean] = table.cells(row, "share"), table.cells(row, "mean_score")
            name = f"    {_format_head(row.head):<{width - 2}}"
            if shares[0].undefined:
                yield name + _format_cell(shares[0])
            else:
                cells = [*shares, *table.cells(row, "mean_error", "published_error")]
                yield name + _align([_format_cell(cell) for cell in cells]) + _format_cell(mean)


def _comparisons(table: Table, letters: Table) -> Iterator[str]:
    if not table.rows:
        yield "  nothing: there is one model only"
        return
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    shown = [column for column in table.columns if column.key in DIFFERENCES]
    titles = "".join(f"{column.title:<{WIDER}}" for column in shown)
    yield f"  {'':{width}}{titles}{'superiority':<{WIDER}}{'p, corrected':>12}"
    for row in table.rows:
        *numbers, p_value, verdict = table.cells(row, *(column.key for column in shown), "superiority", "p", "verdict")
        name = f"  {_format_head(row.head):<{width}}"
        if verdict.undefined:
            yield f"{name}not compared: {verdict.undefined}"
            continue
        told = "".join(f"{'-' if cell.undefined else _format_cell(cell):<{WIDER}}" for cell in numbers)
        words = "different" if verdict.value else "not told apart"
        yield f"{name}{told}{_format_cell(p_value):>12}   {words}{verdict.after}"
    if not any(row.head.letters for row in letters.rows):
        yield "  Not all pairs were compared, so there are no letters:"
    else:
        yield "  Who shares a letter can't be told apart:"
    wide = max(len(_format_head(row.head)) for row in letters.rows) + 2 if letters.rows else 0
    for row in letters.rows:
        mean = "" if row.head.letters and row.cells[0].undefined else f"{_format_cell(row.cells[0]):<8}"
        yield f"    {_format_head(row.head):<{wide}}{mean}{row.head.letters}"


def _sequence(table: Table) -> Iterator[str]:
    width = max((len(_format_head(row.head)) for row in table.rows), default=0) + 2
    for row in table.rows:
        difference, so_far, *p_values = map(_format_cell, row.cells)  # p where sequences decide, as the design says
        told = "".join(f", p {one.removeprefix('p ')} (corrected, at any time)" for one in p_values)
        yield f"  {_format_head(row.head):<{width}}{difference:<{WIDER}}   {so_far}{told}"


def _ranking(table: Table) -> Iterator[str]:
    if table.undefined:
        yield f"  undefined: {table.undefined}"
        return
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    for row in table.rows:
        yield f"  {row.head.rank:>2}  {_format_head(row.head):<{width}}{_format_cell(row.cells[0])}"


def _agreement(table: Table) -> Iterator[str]:
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    yield f"  {'':{width}}" + _align(["alpha, ordinal", "interval", "nominal", "Fleiss kappa"]) + "raw"
    for row in table.rows:
        *cells, raw = table.cells(row, "alpha_ordinal", "alpha_interval", "alpha_nominal", "fleiss_kappa", "raw")
        name = f"  {_format_head(row.head):<{width}}"
        if raw.undefined:
            yield name + _format_cell(raw)
        else:
            yield (
                name
                + _align(["undefined" if cell.undefined else _format_cell(cell) for cell in cells])
                + _format_cell(raw)
            )
    for row in table.rows[:1]:
        replies, majorities = table.cells(row, "replies", "majorities")
        if not majorities.undefined:
            told = count_of(int(replies.number), "reply", "replies")
            yield f"  Of {told} rated twice or more, {majorities.number:,} have a majority."


def _true_values(section: Section) -> Iterator[str]:
    [table] = section.tables
    if table.undefined:
        yield f"  undefined: {table.undefined}"
        return
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    values = [column.value for column in table.columns if column.key == "majority"]
    wide, narrower = max(30, 7 * len(values) + 2), max(24, 7 * len(values) + 2)
    yield f"  {'':{width}}{'Dawid-Skene ' + '/'.join(values):<{wide}}{'majority':<{narrower}}mean score"
    for row in table.rows:
        true, majority = (
            "  ".join(f"{cell.number:.3f}" for cell in table.cells(row, key)) for key in ("dawid_skene", "majority")
        )
        [mean] = table.cells(row, "mean_score")
        yield f"  {_format_head(row.head):<{width}}{true:<{wide}}{majority:<{narrower}}{_format_cell(mean)}"
    yield from (f"  {note}" for note in section.notes)


def _dependences(table: Table) -> Iterator[str]:
    *factors, worker = table.rows
    for row in factors:
        effect, p_value = row.cells
        told = _format_cell(p_value) if p_value.undefined else f"p {_format_cell(p_value)}  {_format_cell(effect)}"
        yield f"  {_format_head(row.head):<10}{told}"
    deviation, p_value = worker.cells
    yield f"  {_format_head(worker.head):<10}p {_format_cell(p_value)}  {_format_cell(deviation)}"


def _labels(section: Section) -> Iterator[str]:
    for table in section.tables:
        told = f"undefined: {table.undefined}"
        if not table.undefined:
            told = ", ".join(f"{_format_head(row.head)} {row.cells[0].number:.3f}" for row in table.rows[:FEW_LABELS])
        yield f"  {table.title} ({table.count:,}): {told}"


def _metrics(section: Section) -> Iterator[str]:
    [table] = section.tables_of("metrics")
    for row, means in zip(table.rows, section.tables_of("means"), strict=True):
        replies, pearson, spearman, of_models = map(_format_cell, row.cells)
        yield f"  {_format_head(row.head)}, {replies} replies: Pearson {pearson}, Spearman {spearman}"
        yield f"    means of the {len(means.rows)} models: Pearson {of_models}"


def _slices(table: Table) -> Iterator[str]:
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    for row in table.rows:
        outcome, ratings = table.cells(row, "outcome", "ratings")
        yield f"  {_format_head(row.head):<{width}}{_format_cell(outcome):<{WIDE}}  n {_format_cell(ratings)}"


def _variants(table: Table) -> Iterator[str]:
    width = max(len(_format_head(row.head)) for row in table.rows) + 2
    for row in table.rows:
        order, alpha, ratings = table.cells(row, "order", "alpha_ordinal", "ratings")
        name, ranked = f"{_format_head(row.head):<{width}}", "" if order.undefined else _format_cell(order)
        yield f"  {name}{_format_cell(ratings):>12} ratings   ordinal alpha {_format_cell(alpha):<24}{ranked}"
        if verdicts := table.cells(row, "verdicts", "changes"):  # none until a study is complete
            told, changes = map(_format_cell, verdicts)
            yield f"  {'':{width}}    told apart {told}; verdicts that change: {changes}"


def _format_head(head: Head) -> str:
    if head.is_human:
        return f"({head.names[0]})"
    return (" - " if head.is_pair else ", ").join(head.names)


def _align(texts: Sequence[str]) -> str:
    return "".join(f"{text:<{WIDE - 1}} " for text in texts)  # a longer text keeps a gap, too


def _format_cell(cell: Cell) -> str:
    if cell.undefined:
        return f"{cell.before}undefined: {cell.undefined}"
    if isinstance(cell.value, str):
        return cell.value
    if cell.kind is Kind.P_VALUE:
        return cell.p_value(digits=4)
    style = STYLES.get(cell.kind, ".3f")
    told = f"{cell.number:{style}}"
    if isinstance(cell.interval, Undefined):
        told += f" (no interval: {cell.interval.reason})"
    elif cell.interval is not None:
        told += f" [{cell.interval.low:{style}}, {cell.interval.high:{style}}]"
    return f"{cell.before}{told}{cell.after}"
