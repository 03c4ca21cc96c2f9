"""generation/ has an order, too: its packages import only what stands before them."""

from pathlib import Path

from tests.evalplatform.test_import_rules import ROOT, imports_of, module_name

# From generation/__init__.py: what comes first knows nothing of what comes later.
ORDER = [
    line.split()[0] for line in (ROOT / "generation/__init__.py").read_text().splitlines() if line.startswith("    ")
]


def place_of(module: str) -> int | None:
    """The place of the longest listed name that the module is, or is in."""
    found = [name for name in ORDER if module == f"generation.{name}" or module.startswith(f"generation.{name}.")]
    return ORDER.index(max(found, key=len)) if found else None


def test_packages_import_only_what_stands_before_them() -> None:
    broken = []
    for path in sorted((ROOT / "generation").rglob("*.py")):
        own = place_of(module_name(path))
        for imported in imports_of(path) if own is not None else ():
            other = place_of(imported)
            if own is not None and other is not None and other > own:
                broken.append(f"{module_name(path)} imports {imported}")

    assert broken == []


def test_the_list_names_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "generation").glob("*/__init__.py")}

    assert packages - {"migrations"} <= set(ORDER)
    assert [name for name in ORDER if not _exists(ROOT / "generation" / name)] == []


def _exists(place: Path) -> bool:
    return place.is_dir() or place.with_suffix(".py").is_file()
