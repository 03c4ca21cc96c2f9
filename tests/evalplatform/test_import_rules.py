"""Who may import whom, as ../shared/architecture.md has it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# In the order the data walks through them: a room imports earlier rooms only.
ROOMS = "designing batching publishing serving collecting paying screening analysing exporting".split()
ROOM_NEIGHBOURS = ("hits.models", "hits.mturk", "hits.stats")
EDGES = ("management", "views", "api", "admin", "tasks", "urls")
NETWORK_LIBRARIES = ("torch", "transformers", "sentence_transformers", "ctranslate2")
NETWORK_PLACES = tuple(f"generation.{name}" for name in ("generators", "networks", "decoding", "training", "metrics"))
MARKET_LIBRARIES = ("boto3",)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide who imports whom"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_name(path: Path, root: Path = ROOT) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def broken_rules(module: str, imported: str) -> Iterator[str]:
    def is_in(name: str, *packages: str) -> bool:
        return any(name == package or name.startswith(f"{package}.") for package in packages)

    if is_in(module, "generation") and is_in(imported, "hits"):
        yield "generation knows nothing of crowds"
    if is_in(imported, *NETWORK_LIBRARIES) and not is_in(module, *NETWORK_PLACES):
        yield "only the networks' own files import torch and its kin"
    if is_in(imported, *MARKET_LIBRARIES) and not is_in(module, "hits.mturk"):
        yield "only hits.mturk imports boto3"
    if is_in(module, *ROOM_NEIGHBOURS) and is_in(imported, "hits"):
        own_package = next(package for package in ROOM_NEIGHBOURS if is_in(module, package))
        if not is_in(imported, own_package, "hits.errors"):
            yield "models, mturk and stats import neither each other nor rooms"
    if is_in(module, "hits.stats") and is_in(imported, "django"):
        yield "stats are pure functions on frames"
    for position, room in enumerate(ROOMS):
        if is_in(module, f"hits.{room}"):
            later = [f"hits.{name}" for name in ROOMS[position + 1 :]]
            if is_in(imported, *later, *(f"hits.{edge}" for edge in EDGES)):
                yield "a room imports earlier rooms only, and no edge"
    is_wiring = is_in(module, "evalplatform") and not is_in(module, "evalplatform.urls")
    if is_wiring and is_in(imported, "generation", "hits"):
        yield "evalplatform is wiring: it knows no domain words"


def all_modules() -> list[Path]:
    return sorted(path for package in ("evalplatform", "generation", "hits") for path in (ROOT / package).rglob("*.py"))


def test_imports_follow_the_map() -> None:
    broken = [
        f"{module_name(path)} imports {imported}: {rule}"
        for path in all_modules()
        for imported in imports_of(path)
        for rule in broken_rules(module_name(path), imported)
    ]

    assert broken == []


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("generation.importing", "hits.models.Study"),
        ("generation.models", "torch"),
        ("hits.views.study", "transformers.pipeline"),
        ("hits.publishing", "boto3"),
        ("hits.localturk.server", "boto3"),
        ("hits.models.study", "hits.mturk.costs"),
        ("hits.stats.alpha", "django.db"),
        ("hits.batching", "hits.paying"),
        ("hits.paying", "hits.views.monitor"),
        ("evalplatform.settings", "hits.models"),
    ],
)
def test_the_check_itself_finds_what_breaks_the_map(module: str, imported: str) -> None:
    assert list(broken_rules(module, imported))


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("hits.designing", "generation.models.Dialog"),
        ("hits.paying", "hits.collecting.collect"),
        ("hits.paying", "hits.mturk.client"),
        ("hits.views.monitor", "hits.paying"),
        ("generation.generators.meed2", "torch"),
        ("hits.mturk.client", "boto3"),
    ],
)
def test_the_check_allows_what_the_map_allows(module: str, imported: str) -> None:
    assert list(broken_rules(module, imported)) == []
