"""Files and patterns that a researcher may hand in: none stops a web process, and each is refused in one line."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from evalplatform.errors import EvalPlatformError
from hits.elsewhere import ColumnMapping, keep_upload
from hits.elsewhere.column_mapping import value_columns
from hits.elsewhere.first_look import look_at
from hits.elsewhere.table_files import json_as_csv
from hits.elsewhere.value_scales import long_scale

NOW = datetime(2026, 11, 19, tzinfo=UTC)
COLUMNS = ("item", "rating_a", "rating_b", "annotator_a", "annotator_b")


@pytest.mark.parametrize("values", ["rating_{generator}", "rating_a"])
@pytest.mark.parametrize(
    "worker",
    [
        "annotator_{nobody}",
        "annotator_{",
        "{0}",
        "{}",
        "{generator.x}",
        "annotator_{generator:d}",
        "{generator!z}",
        "{generator:>300000000}",
        "{generator.__class__.__mro__}",
    ],
)
def test_a_pattern_of_the_rater_is_text_and_no_format(worker: str, values: str) -> None:
    with pytest.raises(EvalPlatformError) as told:
        value_columns(ColumnMapping(values=(values,), worker=worker), COLUMNS)
    assert "<class" not in str(told.value)
    assert len(str(told.value)) < 1000


def test_a_pattern_of_the_rater_is_still_filled() -> None:
    found = value_columns(ColumnMapping(values=("rating_{generator}",), worker="annotator_{generator}"), COLUMNS)
    assert [(one.generator, one.worker_column) for one in found] == [("a", "annotator_a"), ("b", "annotator_b")]


def test_long_names_and_patterns_take_no_time() -> None:
    began = time.monotonic()
    for pattern, column in [("{criterion}x{worker}x{generator}y", "x" * 4000), ("{" * 50_000, "x")]:
        with pytest.raises(EvalPlatformError):
            value_columns(ColumnMapping(values=(pattern,)), ("item", column))
    assert time.monotonic() - began < 10


def test_a_name_of_a_column_is_no_essay(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text(f"item,{'x' * 201}\n1,2\n")
    with pytest.raises(EvalPlatformError, match="a column whose name has 201 characters"):
        look_at(file)
    with pytest.raises(EvalPlatformError, match="a column whose name has 300 characters"):
        json_as_csv(_written(tmp_path, [{"x" * 300: 1}]), tmp_path / "out.csv", "long.json")


def test_a_small_file_of_records_does_not_fill_the_disk(tmp_path: Path, settings: Any) -> None:
    """One record with 2,000 fields, then short ones: each becomes a line with 2,000 commas."""
    settings.UPLOAD_MB = 2
    target = tmp_path / "large.csv"
    source = _written(tmp_path, [{f"c{number}": 1 for number in range(2000)}, *[{"c0": 1}] * 20_000])
    with pytest.raises(EvalPlatformError, match=r"becomes larger than 2 MB \(UPLOAD_MB\)"):
        json_as_csv(source, target, "small.json")
    assert target.stat().st_size < 2_200_000


def test_half_a_letter_is_told_in_a_line(researcher: User, settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    for piece in (b'[{"item": "\\ud800", "rating": 1}]', b'[{"item\\ud800": "a", "rating": 1}]'):
        with pytest.raises(EvalPlatformError, match="half a letter"):
            keep_upload(researcher, "a.json", [piece], NOW)


def test_numbers_as_far_apart_as_there_are_make_no_scale() -> None:
    with pytest.raises(EvalPlatformError, match="too wide for a scale"):
        long_scale(-1.7e308, 1.7e308, False)


def _written(folder: Path, records: list[dict[str, Any]]) -> Path:
    file = folder / "records.json"
    file.write_text(json.dumps(records))
    return file
