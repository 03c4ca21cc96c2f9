"""What registries list stands in the docs, too; and what only a registry should name stands nowhere else."""

import re

import pytest

from generation.corpora.formats import FORMATS
from generation.metrics.all_metrics import METRICS
from generation.networks.families import FAMILIES, generating_families
from generation.registry import KINDS
from tests.conftest import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize(
    ("page", "listed"),
    [
        ("generating.md", [f"`{kind}`" for kind in KINDS]),
        ("training.md", [f"train_generator {kind}" for kind in FAMILIES]),
        ("formats.md", [f"--format {one.name}" for one in FORMATS]),
    ],
    ids=["kinds", "families", "formats"],
)
def test_a_page_has_all_that_its_registry_lists(page: str, listed: list[str]) -> None:
    text = (DOCS / page).read_text()

    assert [name for name in listed if name not in text] == [], f"write about these in docs/{page}"


def test_the_table_of_metrics_has_all_columns() -> None:
    first_cells = "\n".join(re.findall(r"^\| ([^|]+) \|", (DOCS / "metrics.md").read_text(), re.MULTILINE))

    missing = [
        column.heading
        for metric in METRICS
        for column in metric.columns
        if not re.search(rf"(^|, ){re.escape(column.heading)}($|, )", first_cells, re.MULTILINE)
    ]
    assert missing == [], "write about these in docs/metrics.md"


def test_a_family_is_named_in_its_own_file_and_in_the_registry_only() -> None:
    """Its own file, and files of families that build upon it. Example names of models in help texts do not count."""
    names = re.compile(rf"""["']({"|".join(generating_families())})["']""")
    places = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "generation").rglob("*.py"))
        if names.search(path.read_text())
    ]

    assert places == ["generation/networks/families.py"]
