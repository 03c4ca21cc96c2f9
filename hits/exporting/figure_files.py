"""Decides which files the figures of a bundle have, and compares them with figures that are drawn again.

Guaranteed: figures are drawn from results with six significant digits, as results.json has them, so that a machine with
other arithmetic draws the same.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hits.analysing import Picture, Results, results_as_json, results_from_json
from hits.exporting.gathering_facts import software
from hits.exporting.hashing import read_text

WORDS = "figures.md"
CLOSE = 0.05  # of a point: fonts and layout may differ by a hair between machines
_NUMBER = re.compile(r"-?\d+\.\d+")


def results_of_figures(results: Results) -> Results:
    return results_from_json(results_as_json(results))


def files_of_figures(names: Iterable[str]) -> set[str]:
    ends = (".svg", ".pdf", "-column.svg", "-column.pdf")
    return {f"figures/{WORDS}", *(f"figures/{name}{end}" for name in names for end in ends)}


def write_figures(folder: Path, pictures: Sequence[Picture]) -> None:
    """Write each figure as wide as a page's text and as wide as a column, and all of them in words."""
    place = folder / "figures"
    place.mkdir(exist_ok=True)
    texts = {WORDS: describe_pictures(pictures)}
    for one in pictures:
        texts |= {f"{one.name}.svg": one.svg, f"{one.name}-column.svg": one.narrow_svg}
        (place / f"{one.name}.pdf").write_bytes(one.pdf)
        (place / f"{one.name}-column.pdf").write_bytes(one.narrow_pdf)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8", newline="\n")


def describe_pictures(pictures: Sequence[Picture]) -> str:
    return "# The figures in words\n\n" + "\n".join(
        f"## {one.title} ({one.name})\n\n{one.description}\n" for one in pictures
    )


def different_words(folder: Path, pictures: Sequence[Picture], ratings: str) -> list[str]:
    is_same = read_text(folder / "figures" / WORDS) == describe_pictures(pictures)
    return [] if is_same else [f"figures/{WORDS} does not say what {ratings} gives"]


def different_figures(
    folder: Path, pictures: Sequence[Picture], made_with: Mapping[str, str], ratings: str
) -> Iterator[str]:
    """Describe the SVG files that differ from these figures. Another version of the software may draw them in another
    way, so that only their words are compared then."""
    if made_with != software():
        return
    for one in pictures:
        for name, svg in ((f"{one.name}.svg", one.svg), (f"{one.name}-column.svg", one.narrow_svg)):
            if not _look_alike(read_text(folder / "figures" / name), svg):
                yield f"figures/{name} shows something else than {ratings} gives"


def _look_alike(one: str, other: str) -> bool:
    if one == other:
        return True
    first, second = ([float(number) for number in _NUMBER.findall(svg)] for svg in (one, other))
    if _NUMBER.sub("", one) != _NUMBER.sub("", other) or len(first) != len(second):
        return False
    return all(abs(a - b) <= CLOSE for a, b in zip(first, second, strict=True))
