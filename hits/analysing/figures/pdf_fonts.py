"""Cuts the font of a PDF down to its letters, quicker than matplotlib, which spent most of a PDF's time on it.

Matplotlib has fontTools keep the rules for ligatures and kerning, which no PDF uses: its letters have their places
already. Reading these rules takes two thirds of the time. And the wide and the narrow form of a figure mostly have the
same letters. Matplotlib has no setting for either, so one of its functions, which is private, is replaced.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.backends._backend_pdf_ps import SubsetResults

LAYOUT_TABLES = ("GDEF", "GPOS", "GSUB", "MATH")
FONTFORGES_TABLE = "FFTM"


@cache
def cut_fonts_quickly() -> None:
    """From now on, matplotlib cuts fonts as here."""
    from matplotlib.backends import _backend_pdf_ps

    _backend_pdf_ps.get_glyphs_subset = _cut_font


def _cut_font(fontfile: Any, glyphs: set[Any]) -> "AbstractContextManager[SubsetResults]":
    """Return what matplotlib's own function returns, but never closed: the next PDF may have it, too."""
    return nullcontext(_only(fontfile, frozenset(glyphs)))


@lru_cache(maxsize=4)
def _only(fontfile: Any, glyphs: frozenset[Any]) -> "SubsetResults":
    from fontTools import subset
    from matplotlib.backends._backend_pdf_ps import SubsetResults

    options = subset.Options(glyph_names=True, recommended_glyphs=True, font_number=fontfile.face_index)
    options.drop_tables += [FONTFORGES_TABLE]
    opened = subset.load_font(fontfile, options)
    for name in LAYOUT_TABLES:
        if name in opened:
            del opened[name]  # before anything reads it
    cutter = subset.Subsetter(options)
    cutter.populate(gids=glyphs)
    cutter.subset(opened)
    return SubsetResults(opened, cutter.glyph_index_map)
