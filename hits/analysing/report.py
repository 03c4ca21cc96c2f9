"""Defines what a report consists of: sections, tables and cells.

In: nothing; hits.analysing.reporting makes a report from `Results`. Out: types only. The terminal (report_text), the
results page (hits.views.result_sections), the bundle's LaTeX (hits.exporting.report_latex) and the figures' alternative
texts (figures.alternative_texts) are renderers of the same report. Guaranteed: a cell knows its number, its interval
and why it is undefined; a renderer only decides how each kind of cell is written and which columns it has room for.
This file needs no pandas, because web processes render reports too.
"""

import math
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from hits.analysing.dialog_filter import DialogFilter
from hits.analysing.origin_words import Origin
from hits.analysing.results import Size
from hits.analysing.study_progress import Progress
from hits.stats import Estimate, Interval, PairTest, Undefined

ALL_DATASETS = "all datasets"
HUMAN = "human reply"


class Kind(Enum):
    """What a cell holds. Each renderer has one way to write each kind."""

    WORDS = auto()
    COUNT = auto()
    SHARE = auto()  # of ratings or replies, from 0 to 1
    SCORE = auto()  # a mean score, a probability, a deviation, a correlation
    DIFFERENCE = auto()  # of scores or strengths: written with its sign
    AGREEMENT = auto()
    METRIC = auto()  # an automatic metric, on whatever scale it has
    P_VALUE = auto()  # corrected for all comparisons that are made together
    VERDICT = auto()  # the better model's name; empty where two models can't be told apart; undefined: not compared


@dataclass(frozen=True)
class Cell:
    """One fact of a table. `value` is None if it is undefined, and `undefined` says why. `interval` is None for kinds
    that have none. `is_best` marks the best model by the planned outcome, and those that can't be told apart from it.
    `is_below` says that a p-value is smaller than the number, which is written with "<". `before` and `after` are words
    around a number, and `after` also behind a verdict."""

    kind: Kind
    value: float | str | None
    interval: Interval | Undefined | None = None
    undefined: str = ""
    is_best: bool = False
    is_below: bool = False
    before: str = ""
    after: str = ""
    dialogs: DialogFilter | None = None  # chooses the dialogs behind it, which a page links to

    def linked(self, dialogs: DialogFilter) -> "Cell":
        return replace(self, dialogs=dialogs)

    @property
    def number(self) -> float:
        if not isinstance(self.value, int | float):
            raise TypeError(f"A cell of {self.kind} has no number: {self.value!r}.")
        return self.value

    def p_value(self, digits: int) -> str:
        """Write a p-value. What it is below is rounded up, since rounded to the nearest it might be too small; and no
        number of digits says 0, because every p-value is above it.

        >>> [Cell(Kind.P_VALUE, 0.0012, is_below=is_below).p_value(3) for is_below in (False, True)]
        ['0.001', '< 0.002']
        """
        unit = 10**-digits
        if not self.is_below and self.number >= unit:
            return f"{self.number:.{digits}f}"
        return f"< {max(math.ceil(self.number / unit - 1e-9), 1) * unit:.{digits}f}"


@dataclass(frozen=True)
class Head:
    """What a row is about: a name, a pair that is compared, or a dataset and a model in it. Only rankings have `rank`
    and `letters`; models that share a letter can't be told apart."""

    names: tuple[str, ...]
    is_pair: bool = False
    is_human: bool = False
    rank: int | None = None
    letters: str = ""


@dataclass(frozen=True)
class Row:
    head: Head
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table. Several columns may have the same key, one for each `value` of the scale."""

    key: str
    title: str
    value: str = ""


@dataclass(frozen=True)
class Table:
    """A table of facts. `dataset` is None for all datasets together; `undefined` says why there are no rows. `heading`
    stands above the rows' heads. `count` says how many things (`counted`) the table is about, and `value` which value
    workers gave them, if they were chosen by it."""

    key: str
    title: str
    heading: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    dataset: str | None = None
    undefined: str = ""
    count: int = 0
    counted: str = ""
    value: str = ""

    def cells(self, row: Row, *keys: str) -> list[Cell]:
        """Return the row's cells in these columns, in the order of the keys."""
        pairs = list(zip(self.columns, row.cells, strict=True))
        return [cell for key in keys for column, cell in pairs if column.key == key]


@dataclass(frozen=True)
class Section:
    """A section of the report. `figure` is the title of its figure, empty if it has none; the figure's name is the
    section's key. `is_trivial` says that fewer than two models leave nothing to compare: pages and figures skip it."""

    key: str
    title: str
    lead: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    figure: str = ""
    is_trivial: bool = False

    def tables_of(self, key: str) -> list[Table]:
        return [table for table in self.tables if table.key == key]


@dataclass(frozen=True)
class Answer:
    """What the results say about one dataset, or all of them together, in sentences that a page puts first. `cautions`
    are what a reader has to know with it. `is_primary` says that it is about the planned comparisons; all others are
    exploratory, and their sentences say so."""

    dataset: str | None
    sentences: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    is_primary: bool = True

    @property
    def text(self) -> str:
        return " ".join((*self.sentences, *self.cautions))


@dataclass(frozen=True)
class CriterionReport:
    """The sections about one criterion. `prefix` tells the criteria of a study apart; it is empty if there is one.
    `answers` and `leaderboards` go over datasets, all of them together first."""

    criterion: str
    prefix: str
    size: Size
    sections: tuple[Section, ...]
    title: str = ""  # the criterion as people read it
    is_by_mean: bool = False  # its values are points with equal distances, and means come first
    answers: tuple[Answer, ...] = ()
    leaderboards: tuple[Table, ...] = ()
    is_comparison: bool = False  # replies were compared with each other

    @property
    def main_answers(self) -> tuple[Answer, ...]:
        """The answers about what was planned: one, or one for each dataset where all together mean nothing."""
        return tuple(one for one in self.answers if one.is_primary) or self.answers[:1]

    def section(self, key: str) -> Section:
        return next(section for section in self.sections if section.key == key)


@dataclass(frozen=True)
class Report:
    """`origin` has the warning that every rendering shows, unless everything is from people. `together` says how much
    came from which offering, where several are put together."""

    criteria: tuple[CriterionReport, ...]
    origin: Origin = field(default_factory=Origin)
    progress: Progress = field(default_factory=Progress)
    together: str = ""

    @property
    def answer(self) -> str:
        """The first criterion's answer, to be quoted: it says where the ratings came from, unless from people."""
        told = [one.text for one in self.criteria[0].main_answers]
        return " ".join([*([f"{self.origin.warning}."] if self.origin.warning else []), *told])


def words(text: str) -> Cell:
    return Cell(Kind.WORDS, text)


def count(number: int) -> Cell:
    return Cell(Kind.COUNT, number)


def number(kind: Kind, value: Estimate | Undefined | float, before: str = "", after: str = "") -> Cell:
    if isinstance(value, Undefined):
        return Cell(kind, None, undefined=value.reason, before=before)
    if isinstance(value, Estimate):
        return Cell(kind, value.value, value.interval, before=before, after=after)
    return Cell(kind, value, before=before, after=after)


def p_value(test: PairTest | Undefined | float, is_floor: bool = False) -> Cell:
    if isinstance(test, PairTest):
        return Cell(Kind.P_VALUE, test.corrected_p_value, is_below=test.is_floor)
    return replace(number(Kind.P_VALUE, test), is_below=is_floor)
