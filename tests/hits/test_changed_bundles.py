"""check_bundle finds every change, though the hashes were made anew with it: whoever forges a file can hash it."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hits.exporting import check_bundle, export_bundle
from hits.exporting.hashing import write_hashes
from hits.models import Study, offering_for
from hits.screening import screen
from tests.hits.crowd import now
from tests.hits.rated import rate

Change = Callable[[str], str]


def other(old: str, new: str) -> Change:
    def change(text: str) -> str:
        assert re.search(old, text), old
        return re.sub(old, new, text, count=1)

    return change


def with_more(words: str) -> Change:
    return lambda text: text + words


CLAIM = "\n## Another\n\nlistener-large is better than all others (p < .001).\n"
CHANGES: list[tuple[str, Change, str]] = [
    ("ratings.jsonl", other('"value":"good"', '"value":"bad"'), "ratings.jsonl has another value than ratings.csv"),
    ("ratings.jsonl", other('"hidden_ms":0', '"hidden_ms":9'), "ratings.jsonl has another hidden_ms than"),
    ("ratings.csv", other(r",true,(?=\w+,\w+,\w+\n)", ",false,"), "whether they count"),
    ("figures/figures.md", with_more(CLAIM), "figures/figures.md does not say what ratings.csv gives"),
    ("figures/figures.md", other(r"(?s)## [^#]*\(funnel\).*", ""), "figures/figures.md does not say what"),
    ("figures/shares.svg", other(">listener-large<", ">listener-small<"), "figures/shares.svg shows something else"),
    ("figures/ranking-column.svg", other(r'd="M \d', 'd="M 9'), "figures/ranking-column.svg shows something else"),
    ("facts.json", other('"warning": "[^"]*"', '"warning": ""'), "facts.json says of where the work came from"),
    ("worker_pages/pages.md", with_more("- `9-more.html`\n"), "worker_pages/pages.md does not list the pages"),
    ("extra.txt", with_more("hello"), "extra.txt is no file of a bundle"),
    ("tables/table6.tex", with_more("x"), "tables/table6.tex is no table of this bundle"),
    ("worker_pages/9-more.html", with_more("x"), "worker_pages/9-more.html is no file of a bundle"),
    ("bundle.json", other('"tau2": ', '"tau2": 1'), "bundle.json tells of another design"),
    ("bundle.json", other('"equal_within": 0.0', '"equal_within": 0.1'), "bundle.json tells of another design"),
    ("methods.bib", other("1979", "1978"), "methods.bib does not say what"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles") / "whole"


@pytest.fixture
def folder(whole: Path, tmp_path: Path, demo_study: Study) -> Path:
    """A copy of a bundle that is made once."""
    if not whole.exists():
        rate(demo_study)
        screen(offering_for(demo_study, "local"), now())
        export_bundle(offering_for(demo_study, "local"), whole)
        assert check_bundle(whole) == []
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


@pytest.mark.once
@pytest.mark.parametrize(("name", "change", "complaint"), CHANGES)
def test_a_change_is_found_and_named(folder: Path, name: str, change: Change, complaint: str) -> None:
    file = folder / name
    file.write_text(change(file.read_text() if file.exists() else ""))
    write_hashes(folder)

    found = check_bundle(folder)

    assert any(complaint in line for line in found), found
    assert not any("has changed" in line for line in found)


@pytest.mark.once
@pytest.mark.parametrize("name", ["figures/shares.pdf", "figures/funnel-column.svg", "tables/ranking.tex", "heds.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    write_hashes(folder)

    assert any(name in line for line in check_bundle(folder))


@pytest.mark.once
def test_a_damaged_parquet_file_is_found_though_the_csv_is_whole(folder: Path) -> None:
    file = folder / "ratings.parquet"
    file.write_bytes(file.read_bytes() + b"x")
    write_hashes(folder)

    assert any("ratings.parquet can't be read" in line for line in check_bundle(folder))
