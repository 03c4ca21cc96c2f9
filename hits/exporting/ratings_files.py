"""Writes a bundle's ratings as CSV, JSON Lines and Parquet, and reads them back as a frame for `analyse`.

They are written piece by piece, so that memory does not grow with the study.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalplatform.errors import EvalPlatformError
from evalplatform.spreadsheet_cells import cell_of, text_of
from hits.analysing import METRIC_PREFIX
from hits.exporting.about import About
from hits.exporting.columns import COLUMNS_OF_PAIRS, described
from hits.models import Submission
from hits.screening import EXCLUDED_BY

RATINGS_FILES = ("ratings.csv", "ratings.jsonl", "ratings.parquet")
TEXTS = (
    *("worker", "dataset", "dialog", "emotion", "generator", "opponent", "criterion", "value", "label", "origin"),
    "offering",
)
BOOLEANS = ("is_checkpoint", "is_first_of_card", "is_human", "is_kept", *COLUMNS_OF_PAIRS)
TYPES = {"assignment": "int64", "active_ms": "int64", "hidden_ms": "int64", "hit": "int32", "block": "int32"}
MAY_BE_EMPTY = {"generator", "opponent", "label", "emotion"}  # e.g. the label, where nothing was predicted
NOT_ANALYSED = {"is_first_of_card", "is_human", "is_kept", "hidden_ms"}


def write_ratings(pieces: Iterable[pd.DataFrame], folder: Path, columns: Sequence[str]) -> int:
    """Write all three files, and return how many rows they have."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    schema = _schema(columns)
    rows = 0
    as_text = pa.schema([pa.field(one.name, pa.string()) if one.name == "submitted_at" else one for one in schema])
    with (
        pa.csv.CSVWriter(folder / "ratings.csv", as_text) as csv_file,
        (folder / "ratings.jsonl").open("w", encoding="utf-8", newline="\n") as jsonl_file,
        pa.parquet.ParquetWriter(folder / "ratings.parquet", schema, compression="zstd") as parquet_file,
    ):
        for piece in pieces:
            rows += len(piece)
            parquet_file.write_table(pa.Table.from_pandas(piece, schema, preserve_index=False))
            piece["submitted_at"] = np.datetime_as_string(piece["submitted_at"].to_numpy(), "s", "UTC")
            piece.to_json(jsonl_file, orient="records", lines=True, force_ascii=False)
            csv_file.write_table(pa.Table.from_pandas(_change_texts(piece, cell_of), as_text, preserve_index=False))
    return rows


def read_ratings(path: Path, about: About) -> pd.DataFrame:
    """Read a frame for `analyse`, with datasets, models and values in the bundle's order."""
    columns = list(described(about.rules, list(about.metrics), bool(about.offerings), about.columns))
    try:
        table = _READERS[path.suffix](path, columns, _analysed_columns(columns))
        # Column by column, and each is given up as soon as it is copied: two copies of all would be gigabytes.
        frame: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
        del table
        _give_memory_back()
    except (OSError, LookupError, ValueError, TypeError, NotImplementedError) as error:  # includes all of pyarrow's
        raise EvalPlatformError(f"{path.name} can't be read as a bundle's ratings: {_first_line(error)}") from error
    _refuse_gaps(frame, columns, path)
    if path.suffix == ".csv":
        frame = _change_texts(frame, text_of)
    frame = frame.rename(columns={"dialog": "external_id"})
    frame["dataset"] = _ordered_category(frame["dataset"], about.datasets, path)
    frame["generator"] = _ordered_category(frame["generator"], about.generators, path)
    frame["opponent"] = _ordered_category(frame["opponent"], about.generators, path)
    frame["criterion"] = _ordered_category(frame["criterion"], list(about.criteria), path)
    values = dict.fromkeys(value for scale in about.criteria.values() for value in scale.values)
    frame["value"] = _ordered_category(frame["value"], list(values), path)
    frame["origin"] = _ordered_category(frame["origin"], Submission.Origin.values, path)
    if about.offerings:
        frame["offering"] = _ordered_category(frame["offering"], about.offerings, path)
    frame["label"] = pd.Categorical(frame["label"], categories=sorted(frame["label"].dropna().unique()))
    frame["emotion"] = pd.Categorical(frame["emotion"], categories=sorted(frame["emotion"].dropna().unique()))
    ids, names = pd.factorize(frame["external_id"])
    frame["external_id"] = pd.Categorical.from_codes(ids, names)
    dialog = frame["dataset"].cat.codes.to_numpy(np.int64)
    dialog *= len(names)
    dialog += ids
    frame["dialog"] = dialog
    return frame


def read_all_columns(path: Path, about: About) -> pd.DataFrame:
    """Read every column as it stands in the file, to compare files."""
    try:
        frame: pd.DataFrame = _READERS[path.suffix](path, list(about.columns), list(about.columns)).to_pandas()
    except (OSError, LookupError, ValueError, TypeError, NotImplementedError) as error:
        raise EvalPlatformError(f"{path.name} can't be read as a bundle's ratings: {_first_line(error)}") from error
    if missing := [name for name in about.columns if name not in frame]:
        raise EvalPlatformError(f"{path.name} has no column {missing[0]}.")
    return _change_texts(frame, text_of) if path.suffix == ".csv" else frame


def _refuse_gaps(frame: pd.DataFrame, columns: Sequence[str], path: Path) -> None:
    """Refuse a damaged file that is still a table: with missing columns, wrong types, or empty cells."""
    for field in _schema([name for name in columns if name not in NOT_ANALYSED]):
        if field.name not in frame:
            raise EvalPlatformError(f"{path.name} has no column {field.name}.")
        may_be_empty = field.name in MAY_BE_EMPTY or field.name.startswith(METRIC_PREFIX)
        if not may_be_empty and frame[field.name].isna().any():
            raise EvalPlatformError(f"{path.name} has rows without {field.name}.")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _change_texts(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Apply `change` to the text columns. It runs once for each different text: those are few, and rows are many."""
    changed = {}
    for name in set(TEXTS) & set(frame.columns):
        codes, texts = pd.factorize(frame[name])
        changed[name] = pd.Categorical.from_codes(codes, pd.Index([change(str(text)) for text in texts], dtype=object))
    return frame.assign(**changed)


def _ordered_category(column: "pd.Series[Any]", names: Sequence[str], path: Path) -> pd.Categorical:
    if strangers := sorted(set(column.dropna().unique()) - set(names)):
        raise EvalPlatformError(f"{path.name} has {strangers[0]!r} as {column.name}, which bundle.json does not name.")
    return pd.Categorical(column, categories=list(names))


def _give_memory_back() -> None:
    """Give back what pyarrow keeps for the next table: a gigabyte for ten million ratings."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _schema(columns: Sequence[str], texts: Any = None) -> Any:
    import pyarrow as pa

    def kind(name: str) -> Any:
        if name in TEXTS:
            return texts or pa.string()
        if name in BOOLEANS or name.startswith(EXCLUDED_BY):
            return pa.bool_()
        if name == "submitted_at":
            return pa.timestamp("s")
        if name.startswith(METRIC_PREFIX):
            return pa.float64()
        return pa.type_for_alias(TYPES.get(name, "int16"))

    return pa.schema([pa.field(name, kind(name)) for name in columns])


def _read_csv(path: Path, columns: Sequence[str], wanted: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    schema = _schema(columns, pa.dictionary(pa.int32(), pa.string()))
    options = pa.csv.ConvertOptions(
        column_types={one.name: one.type for one in schema},
        include_columns=wanted,
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        timestamp_parsers=["%Y-%m-%dT%H:%M:%SZ"],
    )
    return pa.csv.read_csv(path, convert_options=options)


def _read_jsonl(path: Path, columns: Sequence[str], wanted: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.json

    schema = _schema(columns)
    table = pa.json.read_json(path, parse_options=pa.json.ParseOptions(explicit_schema=schema))
    return table.select(wanted)


def _read_parquet(path: Path, columns: Sequence[str], wanted: list[str]) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path, columns=wanted, read_dictionary=[one for one in TEXTS if one in wanted])


def _analysed_columns(columns: Sequence[str]) -> list[str]:
    return [one.name for one in _schema(columns) if one.name not in NOT_ANALYSED]


_READERS = {".csv": _read_csv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}
