"""Who may import whom. The rooms and their order are read from hits/__init__.py, which says what each is for."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hits

ROOT = Path(__file__).resolve().parent.parent.parent

PACKAGES = ("evalplatform", "generation", "hits", "localturk", "localprolific", "simulated_crowd")
NETWORK_LIBRARIES = ("torch", "transformers", "sentence_transformers", "ctranslate2")
NETWORK_PLACES = tuple(
    f"generation.{name}" for name in ("devices", "decoding", "training", "networks", "generators", "metrics")
)
WEB_HAS_NOT = ("pandas", "torch", "transformers", "matplotlib")
# Django looks for some by these names; each program has errors of its own, and two of them a registry.
FOR_DJANGO = {"__init__", "0001_initial", "admin", "apps", "commands", "models", "tasks", "urls"}
# What runs here in place of an outside service is entered in the same way, whichever service that is.
NAMED_ALIKE = FOR_DJANGO | {"errors", "registry", "in_process", "openness", "seeding"}
OUTSIDE_SERVICES = ("localturk", "localprolific")
WRITES = {"create", "bulk_create", "get_or_create", "update_or_create", "bulk_update", "update", "delete", "save"}


def listed(heading: str) -> list[str]:
    """The first words of the indented lines below a heading of hits' docstring; all words where a line has no text."""
    assert hits.__doc__
    block = re.search(rf"^{heading}.*?\n((?: {{4}}.*\n)+)", hits.__doc__, re.MULTILINE)
    assert block, f"hits/__init__.py lists no {heading}"
    lines = [re.split(r" {2,}", line.strip()) for line in block[1].splitlines()]
    return [word for line in lines for word in (line if all(" " not in part for part in line) else line[:1])]


ROOMS, BESIDE, EDGES = listed("Rooms"), listed("Beside them"), listed("Edges")


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide who imports whom"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_name(path: Path, root: Path = ROOT) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def is_in(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def broken_rules(module: str, imported: str) -> Iterator[str]:
    if is_in(module, "generation") and is_in(imported, "hits"):
        yield "generation knows nothing of crowds"
    if is_in(imported, *NETWORK_LIBRARIES) and not is_in(module, *NETWORK_PLACES):
        yield "only the networks' own files import torch and its kin"
    if is_in(imported, "boto3") and not is_in(module, "hits.crowds.mturk"):
        yield "only hits.crowds.mturk imports boto3"
    if is_in(module, "hits") and is_in(imported, "hits.crowds.mturk") and not is_in(module, "hits.crowds"):
        yield "rooms know the contract of a crowd, and none by its name"
    if is_in(module, "generation", "hits") and is_in(imported, "simulated_crowd"):
        yield "a simulated crowd is an outside program"
    if is_in(module, "generation", "hits") and is_in(imported, *OUTSIDE_SERVICES) and not is_in(module, "hits.crowds"):
        yield "only the wiring that opens a crowd knows the marketplaces that run here"
    if is_in(module, "localprolific") and is_in(imported, "hits", "generation", "localturk"):
        yield "the local Prolific knows nothing but its API"
    if is_in(module, "hits.stats") and is_in(imported, "django"):
        yield "stats are pure functions on frames"
    yield from _broken_order(module, imported)
    is_wiring = is_in(module, "evalplatform") and not is_in(module, "evalplatform.urls")
    if is_wiring and is_in(imported, "generation", "hits"):
        yield "evalplatform is wiring: it knows no domain words"


def _broken_order(module: str, imported: str) -> Iterator[str]:
    walk = [*BESIDE, *ROOMS]
    own, other = (name.split(".")[1] if name.startswith("hits.") else "" for name in (module, imported))
    if own in walk and other in EDGES:
        yield "a room imports no edge"
    if own in walk and other in walk and walk.index(other) > walk.index(own):
        yield f"{other} comes after {own} in hits/__init__.py"


def all_modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_imports_follow_the_map() -> None:
    broken = [
        f"{module_name(path)} imports {imported}: {rule}"
        for path in all_modules()
        for imported in imports_of(path)
        for rule in broken_rules(module_name(path), imported)
    ]

    assert broken == []


def test_every_module_of_hits_is_in_a_room_that_is_listed() -> None:
    names = {path.relative_to(ROOT / "hits").parts[0].removesuffix(".py") for path in (ROOT / "hits").rglob("*.py")}

    assert names == {*ROOMS, *BESIDE, *EDGES, "__init__", "errors", "migrations"}
    assert len(list((ROOT / "hits").glob("*.py"))) <= 12


def test_no_two_files_have_the_same_name() -> None:
    """Who reads a name in a traceback or a listing knows which file is meant; nor is a file named like a folder."""
    by_name: dict[str, list[str]] = {}
    for path in all_modules():
        by_name.setdefault(path.stem, []).append(str(path.relative_to(ROOT)))
        if path.stem == "__init__" and path.parent.parent != ROOT:
            by_name.setdefault(path.parent.name, []).append(f"{path.parent.relative_to(ROOT)}/")
    for path in (ROOT / "benchmarks").glob("*.py"):  # one may be called like the room that it measures
        by_name.setdefault(path.stem, []).append(f"benchmarks/{path.name}")

    same = {name: paths for name, paths in by_name.items() if name not in NAMED_ALIKE and len(paths) > 1}
    confusing = {name: paths for name, paths in same.items() if sum(path.endswith(".py") for path in paths) > 1}
    like_folders = {
        name: paths
        for name, paths in same.items()
        if any(path.endswith("/") for path in paths)
        if any(path.endswith(".py") and not path.startswith("benchmarks/") for path in paths)
    }

    assert confusing == {}
    assert like_folders == {}


@pytest.mark.parametrize("edge", ["views", "api"])
def test_pages_and_endpoints_write_no_rows(edge: str) -> None:
    """They call a room, which says what else must happen with it."""
    writes = [
        f"{path.name}:{node.lineno} {ast.unparse(node)[:80]}"
        for path in (ROOT / "hits" / edge).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES
        if re.search(r"\.objects\b|_set\b|\.filter\(", ast.unparse(node.func)) or node.func.attr == "save"
    ]

    assert writes == []


def test_the_web_process_has_neither_pandas_nor_torch(tmp_path: Path) -> None:
    """Results are computed by tasks: web processes start quickly, stay small, and install without them."""
    script = "import sys, evalplatform.wsgi, evalplatform.urls; print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={"VAR_DIR": str(tmp_path)}, capture_output=True, text=True
    )

    assert loaded.returncode == 0, loaded.stderr
    assert not set(WEB_HAS_NOT) & set(loaded.stdout.split())


def names_on_the_door(room: str) -> dict[str, str]:
    """Return each name that a room's stub lists with the file that it comes from; nothing where there is no stub."""
    stub = ROOT / "hits" / room / "__init__.pyi"
    if not stub.exists():
        return {}
    lines = (node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(line.module) for line in lines for alias in line.names}


def past_a_door(module: str, imported: str) -> bool:
    """Whether a module of the product takes something from inside a room that is not its own."""
    if not imported.startswith("hits.") or is_in(module, ".".join(imported.split(".")[:2])):
        return False
    if is_in(module, "localturk", "simulated_crowd") and is_in(imported, "hits.crowds.mturk"):
        return False  # they speak MTurk's language, and take its facts from where they are told
    room, name = [*imported.split(".")[1:], ""][:2]
    return room in DOORS and name not in {"", *DOORS[room]}


DOORS = {room: names_on_the_door(room) for room in [*ROOMS, *BESIDE] if names_on_the_door(room)}


def test_rooms_are_entered_by_their_doors() -> None:
    past = [
        f"{module_name(path)} imports {imported}: import it from the package, and list it in its __init__.pyi"
        for path in [*all_modules(), *sorted((ROOT / "examples").rglob("*.py"))]
        for imported in imports_of(path)
        if past_a_door(module_name(path), imported)
    ]

    assert past == []


def test_every_name_on_a_door_is_there_and_used_outside() -> None:
    used = {
        (imported.split(".")[1], imported.split(".")[2])
        for path in [*all_modules(), *sorted((ROOT / "examples").rglob("*.py"))]
        for imported in imports_of(path)
        if imported.startswith("hits.") and imported.count(".") == 2
        if not is_in(module_name(path), ".".join(imported.split(".")[:2]))
    }

    for room, names in DOORS.items():
        package = importlib.import_module(f"hits.{room}")
        files = {path.stem for path in (ROOT / "hits" / room).iterdir()}
        assert [name for name in names if not hasattr(package, name)] == []
        assert [name for name in names if (room, name) not in used] == [], f"nobody outside hits.{room} uses these"
        assert files.isdisjoint(names), f"a file of hits.{room} would take the place of a function on its door"


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("generation.importing", "hits.models.Study"),
        ("generation.models", "torch"),
        ("hits.views.study", "transformers.pipeline"),
        ("hits.publishing.creating", "boto3"),
        ("localturk.server", "boto3"),
        ("hits.models.study", "hits.crowds.fees"),
        ("hits.paying.payments", "hits.crowds.mturk.client"),
        ("hits.stats.alpha", "django.db"),
        ("hits.batching.building", "hits.paying.payments"),
        ("hits.paying.payments", "hits.views.monitor"),
        ("hits.views.work", "simulated_crowd.channels"),
        ("hits.paying.payments", "localturk.models"),
        ("hits.paying.payments", "localprolific.in_process"),
        ("localprolific.wallet", "hits.paying.payments.pay"),
        ("localprolific.wallet", "localturk.funds"),
        ("evalplatform.settings", "hits.models"),
    ],
)
def test_the_check_itself_finds_what_breaks_the_map(module: str, imported: str) -> None:
    assert list(broken_rules(module, imported))


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("hits.designing.study_files", "generation.models.Dialog"),
        ("hits.paying.payments", "hits.collecting.confirmed_work"),
        ("hits.paying.payments", "hits.crowds.contract.Market"),
        ("hits.crowds.registry", "hits.crowds.mturk.crowd"),
        ("hits.crowds.opening", "localturk.in_process"),
        ("hits.crowds.prolific.client", "localprolific.in_process"),
        ("hits.views.monitor", "hits.paying"),
        ("generation.networks.layers", "torch"),
        ("hits.crowds.mturk.client", "boto3"),
    ],
)
def test_the_check_allows_what_the_map_allows(module: str, imported: str) -> None:
    assert list(broken_rules(module, imported)) == []


@pytest.mark.parametrize(
    ("module", "imported", "is_past"),
    [
        ("hits.views.monitor", "hits.paying.payments.pay", True),
        ("hits.views.monitor", "hits.paying.payments", True),
        ("examples.demo", "hits.stats.clusters.Clusters", True),
        ("hits.paying.fair_pay", "hits.paying.payments.pay", False),
        ("hits.views.monitor", "hits.models.study.Study", False),
        ("localturk.funds", "hits.crowds.mturk.costs.MTurkFees", False),
    ],
)
def test_the_check_knows_a_door_from_a_wall(module: str, imported: str, is_past: bool) -> None:
    assert past_a_door(module, imported) == is_past
