"""Sets what all figures share (width, colours, hatches, font), and turns a drawing into SVG or PDF.

Matplotlib takes most of a second to import, so only the functions that draw import it, and a web process starts without
it. Threads share its state and its style, so only one drawing is made at a time.
"""

import re
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from hits.analysing.figures.pdf_fonts import cut_fonts_quickly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

WIDE, NARROW = 455 / 72, 219 / 72  # inches: the text and the column of the common templates; phones show the narrow one
STAMP = 0.36  # inches that the warning takes
INK = "#010203"  # becomes the colour of the text around the SVG, so nothing else may have this colour
DARK, MIDDLE, LIGHT = "#24577a", "#8fb8d3", "#f3e9d6"  # they differ in grey too, on light and on dark paper
WHITE, BLACK = "#ffffff", "#000001"
HATCHES = ("", "////", "\\\\\\\\", "----", "xxxx", "++++")  # no dots: a tile of them is 100 kB of SVG
MARKERS = ("o", "s", "^", "D", "v")

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is everywhere
    "font.size": 8,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "evalplatform",
    "pdf.fonttype": 42,
    **{f"{name}.color": INK for name in ("text", "xtick", "ytick")},
    **{f"axes.{name}": INK for name in ("edgecolor", "labelcolor", "titlecolor")},
}

Dot = tuple[float, float, tuple[float, float] | None]  # x, y, and how far the interval reaches to both sides

_one_at_a_time = threading.Lock()


def new_axes(
    heights: Sequence[float], width: float, share_x: bool = False, around: float = 0.3
) -> tuple["Figure", list["Axes"]]:
    """Make panels below each other, of these heights in inches. `around` is what axes, titles and legend need."""
    figure_class = _figure_class()
    figure = figure_class(figsize=(width, sum(heights) + around), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, sharex=share_x, gridspec_kw={"height_ratios": [*heights]})
    return figure, list(axes[:, 0])


def new_pairs(
    heights: Sequence[float], width: float, ratios: tuple[float, float], around: float
) -> tuple["Figure", Any]:
    """Make two panels beside each other in each row, (row, 2); the panels of a column share their axis."""
    figure = _figure_class()(figsize=(width, sum(heights) + around), layout="constrained")
    shape: dict[str, Any] = {"height_ratios": [*heights], "width_ratios": [*ratios]}
    return figure, figure.subplots(len(heights), 2, squeeze=False, sharex="col", gridspec_kw=shape)


def set_title(ax: "Axes", words: str) -> None:
    """Write a panel's title. Without a height for it, all ticks are measured again and again for some that it is over:
    a twelfth of the time."""
    ax.set_title(words, loc="left", fontsize=9, y=1)


def draw_dots(ax: "Axes", dots: Sequence[Dot], marker: str = "o", fill: str = INK, linewidth: float = 1) -> None:
    """Draw values as dots and their intervals as lines: all at once, since each call takes long."""
    ax.plot([x for x, _, _ in dots], [y for _, y, _ in dots], marker, color=INK, markerfacecolor=fill, markersize=4)
    bounded = [(x, y, reach) for x, y, reach in dots if reach is not None]
    low, high = ([x + sign * reach[side] for x, _, reach in bounded] for side, sign in enumerate((-1, 1)))
    ax.hlines([y for _, y, _ in bounded], low, high, colors=INK, linewidth=linewidth)


def round_ticks(most: int) -> "Locator":
    """Put ticks at round numbers: 40, 45 and 50 %, never 42.5 % that is written as 43."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10])


def stamp(figure: "Figure", words: str) -> None:
    """Write the words above all panels, in a frame, so that they go wherever the figure goes. The figure becomes higher
    by what they need: matplotlib's own title would cut the frame at the edge."""
    width, height = figure.get_size_inches()
    higher = height + STAMP
    figure.set_size_inches(width, higher)
    if engine := figure.get_layout_engine():
        engine.set(rect=(0, 0, 1, height / higher))  # type: ignore[call-arg]  # it is the constrained one
    box = {"boxstyle": "square,pad=0.4", "facecolor": "none", "edgecolor": INK, "linewidth": 0.8}
    middle = 1 - STAMP / 2 / higher
    figure.text(0.5, middle, words, fontsize=10, color=INK, bbox=box, ha="center", va="center").set_in_layout(False)


def as_pdf(figure: "Figure", words: str) -> bytes:
    """Return the PDF. `words` go into its properties, where programs can read them."""
    told = {"Subject": words} if words else {}
    cut_fonts_quickly()
    return _saved(figure, "pdf", {"CreationDate": None, "Producer": None, "Creator": None, **told})


def as_svg(figure: "Figure", name: str, title: str, description: str) -> str:
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return _for_pages(_saved(figure, "svg", nothing).decode(), name, title, description)


def laid_out(draw: Callable[[], "Figure"]) -> "Figure":
    """Draw the figure and lay it out once, for all formats."""
    with _drawing():
        figure = draw()
        if engine := figure.get_layout_engine():
            engine.execute(figure)
        figure.set_layout_engine(None)  # any layout engine, even "none", would lay it out once more before each save
    return figure


@contextmanager
def _drawing() -> Iterator[None]:
    """Draw alone, and without warnings about letters that the font lacks (Chinese, emoji): an SVG uses the reader's
    fonts, and a PDF shows boxes."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        yield


def fills(count: int) -> list[tuple[str, str, str]]:
    """Return a fill, a hatch and a readable text colour for each of `count` values, best first."""
    known = {1: [DARK], 2: [DARK, LIGHT], 3: [DARK, MIDDLE, LIGHT]}.get(count) or _shades(count)
    return [
        (fill, HATCHES[index % len(HATCHES)], WHITE if _lightness(fill) < 0.5 else BLACK)
        for index, fill in enumerate(known)
    ]


def _shades(count: int) -> list[str]:
    ends = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (DARK, LIGHT)]
    steps = [index / (count - 1) for index in range(count)]
    return ["#" + "".join(f"{round(a + (b - a) * step):02x}" for a, b in zip(*ends, strict=True)) for step in steps]


def _lightness(colour: str) -> float:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


@cache
def _figure_class() -> type["Figure"]:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(matplotlib.rcParamsDefault)  # forget the machine's own settings
    matplotlib.rcParams.update(STYLE)
    return Figure


def _saved(figure: "Figure", kind: str, metadata: dict[str, Any]) -> bytes:
    buffer = BytesIO()
    with _drawing():
        figure.savefig(buffer, format=kind, metadata=metadata, transparent=True)
    return buffer.getvalue()


# --- What matplotlib writes, made fit for a page ----------------------------------------------------------------------


def _for_pages(svg: str, name: str, title: str, description: str) -> str:
    """Make matplotlib's SVG fit for a page. Only tags are changed: between them stand names of models and datasets,
    which may look like anything. Matplotlib escapes `<` and `>` in texts and attributes alike, so whatever stands
    between the two is a tag."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.S)
    svg = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", svg, flags=re.S)
    numbers: dict[str, int] = {}
    label = escape(f"{title}. {description}", {'"': "&quot;"})
    opening, _, rest = re.sub(r"<[^>]*>", lambda tag: _tag_for_pages(tag[0], name, numbers), svg).partition(">")
    size = r' (?:width|height)="[^"]*"'
    head = f'<svg role="img" aria-label="{label}" class="figure" stroke-linejoin="round" stroke-linecap="butt"'
    svg = f"{head}{re.sub(size, '', opening.removeprefix('<svg'))}>{rest}"
    return "\n".join(line for line in svg.split("\n") if line.strip()) + "\n"


def _tag_for_pages(tag: str, name: str, numbers: dict[str, int]) -> str:
    if tag.startswith("<g "):
        tag = re.sub(r' id="[^"]*"', "", tag)
    tag = _with_ids(tag, name, numbers)
    tag = re.sub(r' style="([^"]*)"', lambda found: _attributes(found[1]), tag)
    return tag.replace(INK, "currentColor")


def _with_ids(tag: str, name: str, numbers: dict[str, int]) -> str:
    """Replace ids: matplotlib makes them from memory addresses, and a page has several figures."""

    def numbered(found: re.Match[str]) -> str:
        return f"{found[1]}{name}-{numbers.setdefault(found[2], len(numbers))}"

    return re.sub(r'(\bid="|url\(#|href="#)([^")]+)', numbered, tag)


def _attributes(style: str) -> str:
    """Turn style declarations into attributes: a page may forbid inline style, but not attributes."""
    found = ""
    for declaration in filter(None, (one.strip() for one in style.replace("&quot;", "'").split(";"))):
        key, value = (part.strip() for part in declaration.split(":", 1))
        found += _font(value) if key == "font" else f' {key}="{value}"'
    return found


def _font(shorthand: str) -> str:
    size = re.search(r"([\d.]+)px", shorthand)
    weight = ' font-weight="bold"' if re.search(r"\b(bold|700)\b", shorthand) else ""
    return f' font-size="{size[1] if size else 9}" font-family="sans-serif"{weight}'
