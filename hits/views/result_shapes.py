"""What the results page is laid out from: sections with tables, made from results as JSON.

From JSON and not from the dataclasses: those bring the statistics' libraries, which web processes do without.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hits.views.result_words import ALL, HUMAN, counted, estimated, share, undefined

Found = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A row's first cell is its heading; `columns` names the others."""

    caption: str
    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def labelled_rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        return [(row[0], list(zip(self.columns, row[1:], strict=True))) for row in self.rows]


@dataclass(frozen=True)
class Section:
    """`key` is its figure's name, if it has one; `notes` are said in any case, and `more` is there for who wants it."""

    key: str
    title: str
    lead: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    more: Sequence[Table] = ()
    more_title: str = ""


def tables_by_dataset(rows: Sequence[Found], values: Sequence[str]) -> list[Table]:
    names = list(dict.fromkeys(row["dataset"] or ALL for row in rows))
    columns = [*values, "mean score", "ratings", "dialogs", "workers"]
    return [
        Table(name, "Model", columns, [_share_row(row, values) for row in rows if (row["dataset"] or ALL) == name])
        for name in names
    ]


def _share_row(row: Found, values: Sequence[str]) -> list[str]:
    sizes = [counted(row[name]) for name in ("ratings", "dialogs", "workers")]
    reason = undefined(row["shares"])
    shares = [reason] * len(values) if reason else [share(one) for one in row["shares"]]
    return [row["generator"] or HUMAN, *shares, estimated(row["mean_score"]), *sizes]
