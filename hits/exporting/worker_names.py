"""Calls those who rated by the right word in all texts of a bundle.

Texts are written about "workers". Of people, they say the word of their crowd: workers on Mechanical Turk, participants
on Prolific, and raters where nobody was hired. Of a study that nobody but made-up workers or rehearsing ones worked on,
each mention says so, so that no sentence can be taken for one about a crowd.
"""

import re
from collections.abc import Iterable

from hits.exporting.bundle_facts import Sources
from hits.exporting.citations import cite_in_markdown

QUOTED_OR_WORKER = r"“[^”]*”|\b([Ww])orker(s?)\b"  # what the study itself says stands between quotation marks


def name_workers(text: str, sources: Sources) -> str:
    origin = sources.results.origin
    if origin.is_from_people:
        return call_workers(text, sources.facts.called)
    kind = {origin.simulation: "made-up", origin.rehearsal: "rehearsing"}.get(origin.total)
    if kind is None:
        return text
    bare = re.sub(rf"(?i)\b{kind} (?=workers?\b)", "", text)
    return call_workers(bare, f"{kind} worker")


def call_workers(text: str, name: str) -> str:
    """
    >>> call_workers("Workers agreed; a worker said “workers”.", "participant")
    'Participants agreed; a participant said “workers”.'
    """

    def call(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        return (name.capitalize() if found[1] == "W" else name) + found[2]

    return re.sub(QUOTED_OR_WORKER, call, text)


def prose(sources: Sources, sentences: Iterable[str]) -> str:
    """Join sentences for Markdown."""
    return name_workers(cite_in_markdown(" ".join(sentences)), sources)
