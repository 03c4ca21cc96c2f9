"""Writes and checks the bundle of ratings that another tool collected: ratings as they were read, and all from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from evalplatform.spreadsheet_cells import cell_of, text_of
from hits.analysing import Picture, Results, analyse, make_pictures, report_of, results_as_json
from hits.elsewhere import ColumnMapping, ReadRatings, without_raters
from hits.exporting.about import FILE
from hits.exporting.elsewhere_methods import elsewhere_methods
from hits.exporting.figure_files import (
    different_figures,
    different_words,
    files_of_figures,
    results_of_figures,
    write_figures,
)
from hits.exporting.gathering_facts import software
from hits.exporting.hashing import FILE as HASHES_FILE
from hits.exporting.hashing import ONLY_HASHED_ELSEWHERE, changed_files, read_text, write_hashes
from hits.exporting.report_latex import latex_tables
from hits.stats import CriterionScale

MADE_FROM = "ratings from elsewhere"
RATINGS = "ratings.csv"
ROWS_AT_ONCE = 200_000
COLUMNS = {
    "dataset": "where the item comes from",
    "item": "what was replied to",
    "worker": "the rater, as the file names them; empty if raters are not identified",
    "generator": "the model",
    "criterion": "what was asked about",
    "value": "what the rater said",
    "score": "the value as a number",
}


class AboutElsewhere(BaseModel):
    """The content of bundle.json in such a bundle."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    made_from: str = MADE_FROM
    name: str
    sha256: str  # of the file that was read
    mapping: ColumnMapping
    are_raters_known: bool
    ratings: int
    unusable: int
    datasets: list[str]
    generators: list[str]
    criteria: dict[str, CriterionScale]
    notes: list[str]
    software: dict[str, str]


def write_elsewhere_bundle(
    folder: Path, read: ReadRatings, results: Results, pictures: Sequence[Picture], name: str, sha256: str
) -> None:
    """Write all files. `pictures` are those of `results_of_figures`."""
    about = AboutElsewhere(
        name=name,
        sha256=sha256,
        mapping=read.mapping,
        are_raters_known=read.are_raters_known,
        ratings=len(read.frame),
        unusable=read.unusable,
        datasets=[str(name) for name in read.frame["dataset"].cat.categories],
        generators=[str(name) for name in read.frame["generator"].cat.categories],
        criteria=read.scales,
        notes=list(read.notes),
        software=software(),
    )
    (folder / "tables").mkdir(parents=True)
    _write_ratings(folder / RATINGS, read)
    for file, text in {FILE: about.model_dump_json(indent=1) + "\n", **_texts(about, results)}.items():
        (folder / file).write_text(text, encoding="utf-8", newline="\n")
    write_figures(folder, pictures)
    write_hashes(folder)


def _texts(about: AboutElsewhere, results: Results) -> dict[str, str]:
    """Return what `check_elsewhere_bundle` makes again and compares."""
    outcome = results.main.comparisons[0].outcome if results.main.comparisons else ""
    tables = latex_tables(report_of(results), f"Ratings from {about.name}", outcome)
    return {
        "README.md": _readme(about),
        "results.json": results_as_json(results),
        **{f"tables/{name}": text for name, text in tables.items()},
        **elsewhere_methods(results, about.criteria, about.are_raters_known, about.software),
    }


def is_from_elsewhere(folder: Path) -> bool:
    try:
        return f'"made_from": "{MADE_FROM}"' in (folder / FILE).read_text(encoding="utf-8")[:200]
    except (OSError, UnicodeDecodeError):
        return False


def check_elsewhere_bundle(folder: Path) -> list[str]:
    """Compute everything again from ratings.csv, and describe what differs."""
    try:
        about = AboutElsewhere.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{folder / FILE} is not as it was written.") from error
    found = changed_files(folder)
    try:
        frame = _read_ratings(folder / RATINGS, about)
        results = analyse(frame, scales=about.criteria)
    except (OSError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        return [*found, f"{RATINGS} has no ratings that can be analysed: {problem}"]
    results = results if about.are_raters_known else without_raters(results)
    if len(frame) != about.ratings:
        found.append(f"{RATINGS} has {len(frame):,} ratings, {FILE} says {about.ratings:,}")
    texts = _texts(about, results)
    for name, text in texts.items():
        if read_text(folder / name) != text:
            found.append(f"{name} has other numbers than {RATINGS}, or another text than {FILE} gives")
    pictures = make_pictures(results_of_figures(results))
    found += different_words(folder, pictures, RATINGS)
    expected = {*texts, *files_of_figures(one.name for one in pictures), FILE, RATINGS, HASHES_FILE}
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found += [f"{name} is no file of this bundle" for name in sorted(names - expected)]
    found += [f"{name} is missing" for name in sorted(expected - names)]
    return found or list(different_figures(folder, pictures, about.software, RATINGS))


def _write_ratings(file: Path, read: ReadRatings) -> None:
    import pyarrow as pa
    import pyarrow.csv

    schema = pa.schema([(name, pa.float64() if name == "score" else pa.string()) for name in COLUMNS])
    with pa.csv.CSVWriter(file, schema) as written:
        for start in range(0, len(read.frame), ROWS_AT_ONCE):
            part = read.frame.iloc[start : start + ROWS_AT_ONCE]
            texts = [_safe_texts(one, len(part)) for one in _text_columns(part, read.are_raters_known)]
            written.write_table(pa.table([*texts, pa.array(part["score"].to_numpy())], schema=schema))


def _text_columns(part: pd.DataFrame, are_raters_known: bool) -> Sequence[Any]:
    """Return the columns of texts, in the order of the file. Of a long scale, the score is the value."""
    values: Any = part["value"]
    if values.isna().any():
        values = values.astype(object).fillna(part["score"].map(repr))
    return (
        part["dataset"],
        part["external_id"],
        part["worker"] if are_raters_known else None,
        part["generator"],
        part["criterion"] if "criterion" in part else pd.Categorical(["overall"]).repeat(len(part)),
        values,
    )


def _safe_texts(column: Any, count: int) -> Any:
    """Return texts that no spreadsheet runs as a formula. Each different text is looked at once."""
    import pyarrow as pa

    if column is None:
        return pa.nulls(count, pa.string())
    codes, texts = pd.factorize(column)
    safe = pa.array([cell_of(str(text)) for text in texts], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), safe).cast(pa.string())


def _read_ratings(file: Path, about: AboutElsewhere) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.csv

    text = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if name == "score" else text for name in COLUMNS}
    options = pa.csv.ConvertOptions(column_types=types, include_columns=list(COLUMNS))
    parsing = pa.csv.ParseOptions(newlines_in_values=True)
    frame: pd.DataFrame = pa.csv.read_csv(file, parse_options=parsing, convert_options=options).to_pandas()
    for name in COLUMNS:
        if name != "score":
            column = frame[name].astype("category").cat
            frame[name] = column.rename_categories([text_of(str(one)) for one in column.categories])
    values = list(dict.fromkeys(value for scale in about.criteria.values() for value in scale.values))
    item = frame["item"].cat.codes.to_numpy(np.int64)
    frame["dataset"] = pd.Categorical(frame["dataset"], categories=about.datasets)
    frame["generator"] = pd.Categorical(frame["generator"], categories=about.generators)
    frame["criterion"] = pd.Categorical(frame["criterion"], categories=list(about.criteria))
    frame["value"] = frame["value"].cat.set_categories(values)
    if frame[["dataset", "generator", "criterion", "item", "score"]].isna().any(axis=None):
        raise ValueError("some rows are incomplete")
    if not about.are_raters_known:
        frame["worker"] = np.arange(1, len(frame) + 1)
    frame["dialog"] = frame["dataset"].cat.codes.to_numpy(np.int64) * (int(item.max(initial=0)) + 1) + item
    return frame


def _readme(about: AboutElsewhere) -> str:
    notes = "\n".join(f"- {note}" for note in about.notes)
    columns = "\n".join(f"| `{name}` | {text} |" for name, text in COLUMNS.items())
    return f"""# Results of ratings from elsewhere

{about.ratings:,} ratings were read from the file `{about.name}` (SHA-256 `{about.sha256}`), which another tool made;
{about.unusable:,} could not be used. EvalPlatform knows nothing about how they were collected.

## What was taken for what

{notes}

## Files

- `ratings.csv`: the ratings as they were read
- `results.json`: every statistic with its interval
- `tables/`: LaTeX tables; all.tex compiles by itself
- `figures/`: each figure as SVG and PDF, as wide as the text of the common templates (455 pt) and, with `-column` in
  its name, as wide as a column (219 pt); figures.md says the same in words
- `methods.md`, `methods.tex`, `methods.bib`: a paragraph about the analysis, with references
- `bundle.json`: what is needed to read the ratings, and the software
- `sha256sums.txt`: the SHA-256 of every other file

| column | what it says |
|---|---|
{columns}

## Checking it

- `sha256sum --check sha256sums.txt`, in this folder: no file has changed since it was written.
- `python manage.py check_bundle FOLDER`, in EvalPlatform {about.software["evalplatform"]}: every statistic, table and
  text is made again from `ratings.csv` and `bundle.json`, and compared; with the same software, each SVG, too. Only the
  hashes are checked of {", ".join(ONLY_HASHED_ELSEWHERE)}.
"""
