"""Write the list of files in docs/files.md, with the first sentence of each: python -m examples.write_map

A module's sentence is that of its docstring; without one, a command's help or the first class that has a docstring. A
TypeScript file or style sheet begins with a comment. So the map is as good as these first sentences.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "files.md"
BEGIN, END = "<!-- python -m examples.write_map writes what follows -->", "<!-- end of what it writes -->"

# In the order in which a reader meets them.
PLACES = (
    "generation",
    "hits",
    "localturk",
    "localprolific",
    "simulated_crowd",
    "evalplatform",
    "frontend/src",
    "examples",
    "benchmarks",
)
LEFT_OUT = {"migrations", "__pycache__", "third_party"}
NEED_NO_LINE = {"__init__.py", "apps.py", "urls.py", "worker_urls.py", "wsgi.py"}


def main() -> None:
    PAGE.write_text(with_map(PAGE.read_text()))
    print(f"Written into {PAGE.relative_to(ROOT)}")


def with_map(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_map()}\n{END}{after}"


def files_without_a_line() -> list[str]:
    return [
        path.relative_to(ROOT).as_posix()
        for place in PLACES
        for path in _files(ROOT / place)
        if path.name not in NEED_NO_LINE and not first_sentence(path)
    ]


def first_sentence(path: Path) -> str:
    text = path.read_text()
    words = _said_in_python(text) if path.suffix == ".py" else _first_comment(text)
    paragraph = " ".join(words.strip().split("\n\n")[0].split())
    # A full stop as in "et al. 2019" ends no sentence: the next one begins with a capital.
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", paragraph)[0]


def _map() -> str:
    return "\n".join(line for place in PLACES for line in _folder(ROOT / place))


def _folder(folder: Path) -> Iterator[str]:
    files = [path for path in _files(folder) if path.parent == folder]
    lines = [
        f"- `{path.name}`: {said}" for path in files if path.name != "__init__.py" and (said := first_sentence(path))
    ]
    about = first_sentence(folder / "__init__.py") if (folder / "__init__.py").exists() else ""
    if lines:
        yield f"**`{folder.relative_to(ROOT).as_posix()}/`** {about}".rstrip() + "\n"
        yield "\n".join(lines) + "\n"
    for child in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in LEFT_OUT):
        yield from _folder(child)


def _files(folder: Path) -> list[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.suffix in {".py", ".ts", ".css"})
    return [path for path in found if not LEFT_OUT & set(path.relative_to(ROOT).parts)]


def _said_in_python(text: str) -> str:
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return ast.get_docstring(tree) or _help_of_command(classes) or _first_class(classes)


def _help_of_command(classes: list[ast.ClassDef]) -> str:
    for node in (statement for one in classes if one.name == "Command" for statement in one.body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "help":
            parts = node.value.values if isinstance(node.value, ast.JoinedStr) else [node.value]
            return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return ""


def _first_class(classes: list[ast.ClassDef]) -> str:
    described = {one.name: doc for one in classes if (doc := ast.get_docstring(one))}
    names = ", ".join(f"`{name}`" for name in described)
    return f"{names}: {next(iter(described.values()))}" if described else ""


def _first_comment(text: str) -> str:
    """Return the comment that a file begins with, or the first one that describes what it exports."""
    if found := re.match(r"/\*+(.*?)\*/", text, re.DOTALL):
        return found[1]
    lines = re.match(r"(?://[^\n]*\n)*", text)
    return "\n".join(line.removeprefix("//").strip() for line in lines[0].splitlines()) if lines else ""


if __name__ == "__main__":
    main()
