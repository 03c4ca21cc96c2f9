"""Reads a file of ratings that another tool collected into a frame for `analyse`.

A value is a number (the higher the better), a word of a scale that is named best first, or a label without an order. An
item is what was replied to: the same for all models, so that they can be compared within it.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evalplatform.errors import EvalPlatformError
from hits.analysing import Results, Tell, analyse
from hits.elsewhere.column_mapping import ColumnMapping, ValueColumn, describe_mapping, value_columns
from hits.elsewhere.first_look import FirstLook, look_at
from hits.elsewhere.guessed_mapping import guess_mapping
from hits.elsewhere.rating_lines import (
    MOST_PROBLEMS_TOLD,
    LineProblem,
    Lines,
    describe_problems,
    duck,
    load_ratings,
)
from hits.elsewhere.table_files import check_utf8, copy_as_utf8, is_json, json_as_csv
from hits.elsewhere.unidentified import UNIDENTIFIED, without_raters
from hits.elsewhere.value_scales import COMMA_NUMBER, NUMBER, ValueScale, find_scale
from hits.stats import CriterionScale

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_CRITERIA = 50
NAMED = ("item", "worker", "generator", "dataset", "criterion")
TOLD = {"item": "item", "worker": "rater", "generator": "model", "dataset": "dataset", "criterion": "criterion"}


@dataclass(frozen=True)
class ReadRatings:
    """What was read. `unusable` counts the ratings that could not be used, of which `problems` names the first ones;
    `notes` say what was taken for what, and what can't be said about these ratings."""

    frame: pd.DataFrame
    scales: dict[str, CriterionScale]
    mapping: ColumnMapping
    notes: tuple[str, ...]
    problems: tuple[LineProblem, ...]
    unusable: int
    are_raters_known: bool

    def analyse(self, tell: Tell | None = None) -> Results:
        results = analyse(self.frame, scales=self.scales, tell=tell)
        return results if self.are_raters_known else without_raters(results)


def read_elsewhere(
    path: Path, change: Callable[[FirstLook, ColumnMapping], ColumnMapping] | None = None, tell: Tell | None = None
) -> ReadRatings:
    """Read a file. `change` gets the guessed mapping and returns the one to use."""
    tell = tell or (lambda share, what: None)
    with tempfile.TemporaryDirectory(prefix="ratings-") as place:
        folder = Path(place)
        tell(0.0, "looking at the file")
        file, look, note = _as_table(path, folder)
        guess = guess_mapping(look)
        mapping = change(look, guess) if change else guess
        values = value_columns(mapping, look.columns)
        tell(0.1, "reading the lines")
        with duck(folder) as connection:
            load_ratings(connection, file, look, mapping, values)
            tell(0.5, "finding the scales")
            return _Reading(connection, file, look, mapping, values, path.name).read([note] if note else [], tell)


def _as_table(path: Path, folder: Path) -> tuple[Path, FirstLook, str]:
    """Return a UTF-8 CSV file of it, and what it looked like before."""
    file = path
    if is_json(path):
        file = folder / "records.csv"
        json_as_csv(path, file, path.name)
    look = look_at(file)
    if look.encoding.startswith("utf-8") and check_utf8(file):
        return file, look, ""
    note = ""
    if look.encoding.startswith("utf-8"):
        note = "Not all of the file is UTF-8; it was read as Windows-1252 (Latin-1). Look at its names with accents."
    copy_as_utf8(file, folder / "copy.csv", look.encoding)
    return folder / "copy.csv", look, note


@dataclass
class _Reading:
    connection: "DuckDBPyConnection"
    file: Path
    look: FirstLook
    mapping: ColumnMapping
    values: Sequence[ValueColumn]
    name: str

    def read(self, notes: list[str], tell: Tell) -> ReadRatings:
        scales = self._find_scales()
        is_known = self._are_raters_known()
        tell(0.6, "coding the ratings")
        rows = self._fetch(scales)
        tell(0.9, "looking for problems")
        problems, unusable, is_usable = self._check(rows, scales, is_known)
        if not is_usable.any():
            raise EvalPlatformError(
                f"{self.name} has no rating that can be used.\n{describe_problems(problems, unusable)}"
            )
        frame = _make_frame(rows if is_usable.all() else rows[is_usable], scales, is_known)
        tell(1.0, "read")
        told = [
            self.look.described,
            *describe_mapping(self.mapping, self.values),
            *notes,
            *self._notes(scales, is_known),
        ]
        used = {name: one.scale for name, one in scales.items()}
        return ReadRatings(frame, used, self.mapping, tuple(told), problems, unusable, is_known)

    def _find_scales(self) -> dict[str, ValueScale]:
        query = (
            "SELECT criterion FROM ratings WHERE criterion IS NOT NULL AND value IS NOT NULL GROUP BY criterion "  # noqa: S608
            f"ORDER BY min(accepted), min(place) LIMIT {MOST_CRITERIA + 1}"
        )
        names = [str(name) for (name,) in self.connection.execute(query).fetchall()]
        if not names:
            raise EvalPlatformError(f"{self.name} has no rating that can be used: there is no value.")
        if len(names) > MOST_CRITERIA:
            raise EvalPlatformError(f"{self.name} has more than {MOST_CRITERIA} criteria: is the right column mapped?")
        return {name: find_scale(self.connection, name, self.mapping.kind, self.mapping.words) for name in names}

    def _are_raters_known(self) -> bool:
        different = self.connection.execute("SELECT count(DISTINCT worker) FROM ratings").fetchall()[0][0]
        return int(different) > 1 and not self.mapping.is_unidentified

    def _fetch(self, scales: dict[str, ValueScale]) -> pd.DataFrame:
        """Return a row for each cell that may be a rating, in the file's order: names as categories, in the order in
        which they first stand in the file, a number, and the place on a scale of words or labels (-1 for none)."""
        for column in NAMED:
            self.connection.execute(
                f"CREATE TYPE {column}_names AS ENUM (SELECT {column} FROM ratings WHERE {column} IS NOT NULL "  # noqa: S608
                f"GROUP BY {column} ORDER BY min(accepted), min(place))"
            )
        self.connection.execute("CREATE TABLE codes (criterion VARCHAR, value VARCHAR, code SMALLINT)")
        for name, one in scales.items():
            if one.kind != "numbers":
                self._write_codes(name, one)
        commas = [name for name, one in scales.items() if one.has_decimal_commas]
        points = [name for name, one in scales.items() if one.kind == "numbers" and not one.has_decimal_commas]
        named = ", ".join(f"{column}::{column}_names AS {column}" for column in NAMED)
        with_comma = f"WHEN list_contains($2, criterion) THEN {COMMA_NUMBER} END"
        value = f"CASE WHEN list_contains($1, criterion) THEN {NUMBER} {with_comma}"
        is_wide = len(self.values) > 1  # an empty cell of many is a rating that nobody gave; an empty line is a problem
        query = (
            f"SELECT accepted, place::SMALLINT AS place, {named}, {value} AS number, value IS NULL AS is_empty, "  # noqa: S608
            "coalesce(code, -1)::SMALLINT AS code FROM (SELECT r.*, c.code FROM ratings r LEFT JOIN codes c "
            f"ON r.criterion = c.criterion AND r.value = c.value) {'WHERE value IS NOT NULL' if is_wide else ''} "
            "ORDER BY accepted, place"
        )
        return self.connection.execute(query, [points, commas]).df()

    def _write_codes(self, criterion: str, one: ValueScale) -> None:
        texts = self.connection.execute(
            "SELECT DISTINCT value FROM ratings WHERE criterion = ?", [criterion]
        ).fetchall()
        found = [(text, one.codes.get(text, one.codes.get(text.casefold()))) for (text,) in texts if text is not None]
        rows = [(criterion, text, code) for text, code in found if code is not None]
        if rows:
            self.connection.executemany("INSERT INTO codes VALUES (?, ?, ?)", rows)

    def _check(
        self, rows: pd.DataFrame, scales: dict[str, ValueScale], is_known: bool
    ) -> tuple[tuple[LineProblem, ...], int, "np.ndarray[Any, np.dtype[np.bool_]]"]:
        """Return the first problems, how many ratings are left out, and which rows are usable."""
        needed = [name for name in NAMED if name != "worker" or is_known]
        is_missing = {name: rows[name].isna().to_numpy() for name in needed} | {"value": rows["is_empty"].to_numpy()}
        has_all = ~np.logical_or.reduce(list(is_missing.values()))
        has_score = rows["number"].notna().to_numpy() | (rows["code"].to_numpy() >= 0)
        is_double = _is_double(rows, has_all & has_score) if is_known else np.zeros(len(rows), bool)
        is_usable = has_all & has_score & ~is_double
        lines = Lines(self.connection, self.file, self.look)
        told: list[tuple[int, str]] = []
        for index in np.flatnonzero(~is_usable)[:MOST_PROBLEMS_TOLD]:
            row = rows.iloc[index]
            if not has_all[index]:
                lacking = [str(TOLD.get(name, name)) for name, mask in is_missing.items() if mask[index]]
                told.append((int(row["accepted"]), f"has no {' and no '.join(lacking)}"))
            elif is_double[index]:
                same = (rows[list(NAMED)] == row[list(NAMED)]).all(axis=1).to_numpy()
                first_record = int(rows["accepted"].iloc[int(np.flatnonzero(same)[0])])
                first = lines.find({first_record}, set())[0][first_record]
                names = [str(row[name])[:40] for name in ("worker", "generator", "item")]
                message = f"{names[0]} rated {names[1]} on {names[2]} in line {first:,} already"
                told.append((int(row["accepted"]), message))
            else:
                told.append((int(row["accepted"]), self._unknown_value(row, scales[str(row["criterion"])])))
        unusable = int((~is_usable).sum()) + len(lines.rejected)
        return lines.problems(told)[:MOST_PROBLEMS_TOLD], unusable, is_usable

    def _unknown_value(self, row: "pd.Series[Any]", scale: ValueScale) -> str:
        query = "SELECT value FROM ratings WHERE accepted = ? AND place = ?"
        [(value,)] = self.connection.execute(query, [int(row["accepted"]), int(row["place"])]).fetchall()
        if scale.kind == "numbers":
            return f"{value[:40]!r} is no number"
        return f"{value[:40]!r} is not one of {', '.join(scale.scale.values)}"

    def _notes(self, scales: dict[str, ValueScale], is_known: bool) -> list[str]:
        has_models = bool(self.mapping.generator) or any(one.generator for one in self.values)
        notes = [] if is_known else [UNIDENTIFIED]
        if is_known and any(one.worker for one in self.values):
            notes.append(
                "Each column counts as one rater. If columns are only places (the first rater of a line is not that of "
                "the next), say that raters are not identified."
            )
        if not has_models:
            notes.append("No column names a model: all replies count as one model's, and nothing is compared.")
        if not self.mapping.item:
            notes.append("No column names the item: each line counts as an item of its own.")
        for name, one in scales.items():
            whose = f"The values of {name}" if len(scales) > 1 else "The values"
            notes.append(f"{whose} are {_describe_scale(one)}")
        return notes


def _describe_scale(one: ValueScale) -> str:
    if one.kind == "labels":
        return (
            f"labels without an order ({', '.join(one.scale.values)}): no means, no ranking. If they have an order, "
            "name them best first."
        )
    if one.kind == "words":
        return f"words, best first: {', '.join(one.scale.values)}."
    commas = ", with decimal commas" if one.has_decimal_commas else ""
    if one.scale.bins:
        low, high = min(one.scale.scores), max(one.scale.scores)
        bins = len(one.scale.bins)
        return f"numbers from {low:g} to {high:g}{commas}: analysed by exact scores, and shown in {bins} bins."
    return f"numbers{commas}, the higher the better: {', '.join(one.scale.values)}."


def _is_double(
    rows: pd.DataFrame, is_usable: "np.ndarray[Any, np.dtype[np.bool_]]"
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Mark each rating of the same reply by the same rater but the first. The key is one number: lists of names would
    take gigabytes for many ratings."""
    key = np.zeros(len(rows), np.int64)
    for name in NAMED:
        key *= len(rows[name].cat.categories) + 1
        key += rows[name].cat.codes.to_numpy()
    found = np.zeros(len(rows), bool)
    places = np.flatnonzero(is_usable)
    found[places] = pd.Series(key[places]).duplicated().to_numpy()
    return found


def _make_frame(rows: pd.DataFrame, scales: dict[str, ValueScale], is_known: bool) -> pd.DataFrame:
    criterion = rows["criterion"].cat.set_categories(list(scales))
    codes = criterion.cat.codes.to_numpy()
    score = rows["number"].to_numpy(np.float64, copy=True)
    names = list(dict.fromkeys(value for one in scales.values() for value in one.scale.values))
    value = np.full(len(rows), -1, np.int16)
    for place, one in enumerate(scales.values()):
        here = codes == place
        own = np.array([names.index(name) for name in one.scale.values], np.int16)
        if one.kind != "numbers":
            chosen = rows["code"].to_numpy()[here]
            score[here], value[here] = np.array(one.scale.scores)[chosen], own[chosen]
        elif not one.scale.bins:
            rising = np.array(one.scale.scores)[::-1]
            value[here] = own[::-1][np.searchsorted(rising, score[here])]
    item, dataset = rows["item"].cat, rows["dataset"].cat
    dialog = dataset.codes.to_numpy(np.int64) * len(item.categories) + item.codes.to_numpy()
    worker = rows["worker"] if is_known else pd.Series(np.arange(1, len(rows) + 1, dtype=np.int32))
    frame = pd.DataFrame(
        {
            "worker": worker.cat.remove_unused_categories().array if is_known else worker.array,
            "dialog": dialog,
            "dataset": dataset.remove_unused_categories().array,
            "external_id": rows["item"].array,
            "generator": rows["generator"].cat.remove_unused_categories().array,
            "value": pd.Categorical.from_codes(value, categories=pd.Index(names)),
            "score": score,
        }
    )
    if len(scales) > 1 or list(scales) != ["overall"]:
        frame["criterion"] = criterion.array
    return frame
