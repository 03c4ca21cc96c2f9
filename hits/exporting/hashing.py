"""Writes and checks sha256sums.txt, in the format that `sha256sum --check` reads."""

from pathlib import Path

from evalplatform.file_hashes import hash_of_file

FILE = "sha256sums.txt"

# What no ratings file can give again: from the database, from a browser, or from the dialogs' texts. Each of them says
# where the work came from, and that is checked.
ONLY_HASHED = {
    "facts.json": "what the database said of recruiting, pay, consent and power; checked where the ratings say it, too",
    "figures/*.pdf": "the figures; the SVG of each is drawn again, if the software is the same",
    "manifest.jsonl": "the frozen study, whose hash bundle.json names",
    "worker_pages/": "the worker's pages, from the software and the design",
    "examples.tex": "texts of example dialogs, if they were asked for",
}

# Of a bundle of ratings from elsewhere. Without the file that was read, nobody can check what bundle.json says of it.
ONLY_HASHED_ELSEWHERE = {
    "figures/*.pdf": "the figures; the SVG of each is drawn again, if the software is the same",
    "bundle.json": "the name and hash of the file that was read, and how many of its ratings could not be used",
}


def write_hashes(folder: Path) -> None:
    lines = [f"{hash_of_file(folder / name)}  {name}\n" for name in _names(folder)]
    (folder / FILE).write_text("".join(lines), encoding="utf-8", newline="\n")


def changed_files(folder: Path) -> list[str]:
    """Describe the files that have changed, are missing, or are not on the list."""
    try:
        lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return [f"{FILE} is missing, or can't be read"]
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    here = _names(folder)
    found = [f"{name} is missing" for name in listed if name not in here]
    found += [f"{name} is not in {FILE}" for name in here if name not in listed]
    return found + [
        f"{name} has changed" for name in here if name in listed and hash_of_file(folder / name) != listed[name]
    ]


def _names(folder: Path) -> list[str]:
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in files if name != FILE)


def read_text(file: Path) -> str:
    """Return what is in the file; "" if it is missing or no text."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
