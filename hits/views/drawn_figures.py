"""Gives templates the stored figures of results, by the section that they stand in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe


@dataclass(frozen=True)
class Drawn:
    """A drawing as wide as a page's text, and as wide as a phone. Our own drawings are safe to show as they are: every
    name in them is escaped."""

    svg: SafeString
    narrow_svg: SafeString


def drawn_figures(stored: Iterable[Mapping[str, str]]) -> dict[str, list[Drawn]]:
    """Return the figures of each section: several, where one would be higher than a page."""
    found: dict[str, list[Drawn]] = {}
    for one in stored:
        svg, narrow = mark_safe(one["svg"]), mark_safe(one.get("narrow_svg") or one["svg"])  # noqa: S308
        found.setdefault(one.get("section") or one["name"], []).append(Drawn(svg, narrow))
    return found
