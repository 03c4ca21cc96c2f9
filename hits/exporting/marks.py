"""Says how each file of a bundle carries the warning that its work is not from people, and finds those that do not.

In: a bundle's folder and its warning, such as "Simulated: not for publication". Guaranteed: a kind of file that is not
listed here counts as unmarked, so that no new file of a bundle is forgotten.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from hits.analysing import WARNINGS

# What says it in another way, or can't say it.
NEEDS_NO_MARK = {
    "ratings.csv": "each row has its origin",
    "ratings.jsonl": "each row has its origin",
    "ratings.parquet": "each row has its origin",
    "repeats.csv": "each row has its origin",
    "manifest.jsonl": "it was frozen before any work came in, and its hash is known",
    "sha256sums.txt": "it has hashes only",
}


def _says(content: bytes, warning: str) -> bool:
    return warning.encode() in content


def _draws(content: bytes, warning: str) -> bool:
    return f">{escape(warning)}</text>".encode() in content


# Of a PDF and a PNG these are the words that stand beside the picture in the file; the picture has them as well.
MARKS: dict[str, Callable[[bytes, str], bool]] = {
    **dict.fromkeys((".md", ".tex", ".bib", ".txt", ".json", ".html", ".pdf", ".png"), _says),
    ".svg": _draws,
}


def unmarked_files(folder: Path, warning: str) -> list[str]:
    """Return the names of files that do not say the warning."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return [
        name
        for name, path in sorted(files.items())
        if name not in NEEDS_NO_MARK and not (path.suffix in MARKS and MARKS[path.suffix](path.read_bytes(), warning))
    ]


def wrongly_marked_files(folder: Path) -> Iterator[str]:
    """Yield the names of files that say that the work is not from people."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in MARKS:
            content = path.read_bytes()
            if any(MARKS[path.suffix](content, warning) for warning in WARNINGS):
                yield path.relative_to(folder).as_posix()
