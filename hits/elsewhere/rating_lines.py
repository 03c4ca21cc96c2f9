"""Reads a CSV file's lines into a table of ratings, by DuckDB, which spills to disk what does not fit into its memory.

In: a UTF-8 file, what it looks like, and its mapping. Out: a table `ratings` in DuckDB with a row for each rating
(record, item, worker, generator, dataset, criterion, value), and the lines that could not be used.
"""

import csv
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalplatform.errors import EvalPlatformError
from hits.elsewhere.column_mapping import ColumnMapping, ValueColumn
from hits.elsewhere.first_look import FirstLook

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "1GB"
NO_MODEL, NO_DATASET, OVERALL = "all replies", "all", "overall"
MOST_LINE = 1_000_000  # bytes
MOST_SCANNED = 2_000_000  # lines that are looked at again to tell a problem's line; later ones are told by their record
MOST_PROBLEMS_TOLD = 10
NO_VALUE = ("n/a", "na", "nan", "null")  # what tools write where nobody rated


@dataclass(frozen=True)
class LineProblem:
    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line:,}: {self.message}"


@contextmanager
def duck(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """Open a DuckDB of its own, in memory, that spills into this folder and reaches nothing else."""
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": MEMORY,
            "temp_directory": str(folder / "spilled"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
    )
    try:
        yield connection
    except duckdb.Error as error:
        raise EvalPlatformError(f"The file can't be read as a table: {str(error).strip().splitlines()[0]}") from error
    finally:
        connection.close()


def load_ratings(
    connection: "DuckDBPyConnection", file: Path, look: FirstLook, mapping: ColumnMapping, values: Sequence[ValueColumn]
) -> None:
    """Make the table `ratings`. Empty cells are NULL; `record` counts the lines below the header, from 1."""
    used = sorted(
        {look.columns.index(name) for one in values for name in (one.column, one.worker_column) if name}
        | {look.columns.index(name) for name in _own_columns(mapping)}
    )
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(look.columns)))
    options = (
        f"delim={_quoted(look.separator)}, header=false, skip={int(look.has_header)}, auto_detect=false, "
        "quote='\"', escape='\"', strict_mode=true, store_rejects=true, rejects_limit=0, "
        f"max_line_size={MOST_LINE}, columns={{{columns}}}"
    )
    cells = ", ".join(f"NULLIF(trim(c{place}, ' \t\r\n'), '') AS c{place}" for place in used)
    connection.execute(
        f"CREATE TABLE lines AS SELECT row_number() OVER ()::INTEGER AS accepted, {cells} "  # noqa: S608 - only numbers
        f"FROM read_csv({_quoted(str(file))}, {options})"
    )
    parts = [_select_ratings(one, number, look, mapping) for number, one in enumerate(values)]
    connection.execute(f"CREATE TABLE ratings AS {' UNION ALL '.join(parts)}")


def _own_columns(mapping: ColumnMapping) -> list[str]:
    named = (mapping.item, mapping.generator, mapping.dataset, mapping.criterion)
    return [name for name in named if name]


def _select_ratings(one: ValueColumn, number: int, look: FirstLook, mapping: ColumnMapping) -> str:
    """Select the ratings of one column. What no column says has the same name everywhere; an item is then its line."""

    def cell(column: str, fixed: str, otherwise: str) -> str:
        if fixed:
            return _quoted(fixed)
        return f"c{look.columns.index(column)}" if column else otherwise

    item = cell(mapping.item, "", "'line ' || (accepted + 1)")
    worker = cell(one.worker_column, one.worker, "NULL::VARCHAR")
    generator = cell(mapping.generator, one.generator, _quoted(NO_MODEL))
    dataset = cell(mapping.dataset, "", _quoted(NO_DATASET))
    criterion = cell(mapping.criterion, one.criterion, _quoted(OVERALL))
    return (
        f"SELECT accepted, {number} AS place, {item} AS item, {worker} AS worker, {generator} AS generator, "  # noqa: S608
        f"{dataset} AS dataset, {criterion} AS criterion, {_value_of(cell(one.column, '', ''))} AS value FROM lines"
    )


def _value_of(cell: str) -> str:
    nothing = ", ".join(map(_quoted, NO_VALUE))
    return f"CASE WHEN lower({cell}) NOT IN ({nothing}) THEN {cell} END"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- Problems and their lines -----------------------------------------------------------------------------------------


class Lines:
    """Finds the line in the file of what DuckDB counts: records that it accepted, and records that it rejected."""

    def __init__(self, connection: "DuckDBPyConnection", file: Path, look: FirstLook) -> None:
        self._file, self._look = file, look
        rows = connection.execute(
            "SELECT line, any_value(error_type) FROM reject_errors GROUP BY line ORDER BY line"
        ).fetchall()
        self.rejected: dict[int, str] = {int(line): str(kind) for line, kind in rows}  # the header is 1

    def problems(self, by_accepted: Sequence[tuple[int, str]]) -> tuple[LineProblem, ...]:
        """Return the first problems, in the file's order."""
        rejected = dict(list(self.rejected.items())[:MOST_PROBLEMS_TOLD])
        accepted_lines, rejected_lines = self.find({accepted for accepted, _ in by_accepted}, set(rejected))
        found = [LineProblem(accepted_lines[accepted], message) for accepted, message in by_accepted]
        width = len(self._look.columns)
        found += [LineProblem(rejected_lines[record], _rejection(kind, width)) for record, kind in rejected.items()]
        return tuple(sorted(found, key=lambda one: one.line)[:MOST_PROBLEMS_TOLD])

    def find(self, accepted: Set[int], rejected: Set[int]) -> tuple[dict[int, int], dict[int, int]]:
        """Return the lines of these records. Cells may have line breaks and lines may be empty, so the file is looked
        at again. Far down in a large file, a record's number stands for its line."""
        header = int(self._look.has_header)
        lines, lines_of_rejected = {one: one + header for one in accepted}, {one: one for one in rejected}
        last = max([*(one + len(self.rejected) + header for one in accepted), *rejected], default=0)
        with self._file.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self._look.separator)
            start, count = 1, -header
            for record, row in enumerate(_without_errors(reader), start=1):  # DuckDB counts empty lines among these
                if record in rejected:
                    lines_of_rejected[record] = start
                if row and record not in self.rejected:
                    count += 1
                    if count in accepted:
                        lines[count] = start
                if count >= last or record > MOST_SCANNED:
                    break
                start = reader.line_num + 1
        return lines, lines_of_rejected


def _without_errors(reader: Any) -> Iterator[list[str]]:
    while True:
        try:
            yield next(reader)
        except csv.Error:
            yield ["?"]
        except StopIteration:
            return


def _rejection(kind: str, columns: int) -> str:
    told = {
        "MISSING COLUMNS": f"has fewer than {columns} columns",
        "TOO MANY COLUMNS": f"has more than {columns} columns",
        "UNQUOTED VALUE": "has a quotation mark that does not end, or text after one",
        "LINE SIZE OVER MAXIMUM": f"is longer than {MOST_LINE:,} bytes",
        "INVALID ENCODING": "is no UTF-8 text",
    }
    return told.get(kind, f"can't be read ({kind.lower()})")


def describe_problems(problems: Sequence[LineProblem], count: int) -> str:
    """Name the problems that are told, of `count` in all."""
    told = [f"  {problem}" for problem in problems]
    rest = count - len(told)
    return "\n".join([*told, *([f"  ... and {rest:,} more"] if rest else [])])
