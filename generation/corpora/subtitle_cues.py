"""Read subtitle files as cues (what is shown at once, and when): SubRip (.srt), and the XML of the OPUS collection."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# The standard library's parser is safe here: Expat reads no external entities, and refuses those that explode.
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from generation.corpora.lines import Line, Problem, without_blanks

_TIME = re.compile(r"(\d{1,3}):(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?")
# Words are joined by one space each. A pattern for several would search a long run of spaces again and again.
_SPACE_BEFORE = re.compile(r" (?=[,.;:?!%)\]}]|'\w|n't\b)")
_SPACE_AFTER = re.compile(r"(?<=[(\[{$#]) ")


@dataclass(slots=True)
class Cue:
    """A block of SubRip, or a sentence of OPUS. Times are in seconds, or None if the file doesn't say."""

    line: int
    texts: list[str] = field(default_factory=list)
    start: float | None = None
    end: float | None = None


def read_cues(lines: Iterable[Line | Problem]) -> Iterator[Cue | Problem]:
    source = iter(_skip_leading_blanks(lines))
    first = next(source, None)
    if first is None:
        return
    is_xml = isinstance(first, Line) and first.text.lstrip().startswith("<?xml")
    yield from (_read_xml if is_xml else _read_srt)(_prepend(first, source))


def _skip_leading_blanks(lines: Iterable[Line | Problem]) -> Iterator[Line | Problem]:
    has_begun = False
    for line in lines:
        has_begun = has_begun or isinstance(line, Problem) or bool(line.text.strip())
        if has_begun:
            yield line


def _prepend(first: Line | Problem, rest: Iterator[Line | Problem]) -> Iterator[Line | Problem]:
    yield first
    yield from rest


def _read_srt(lines: Iterable[Line | Problem]) -> Iterator[Cue | Problem]:
    cue: Cue | None = None
    is_spoilt = False  # a part of this block can't be read; skip lines until the next one
    for line in lines:
        if isinstance(line, Problem):
            cue, is_spoilt = None, True
            yield line
            continue
        text = line.text.strip()
        is_spoilt = is_spoilt and bool(text) and "-->" not in text
        if is_spoilt:
            continue
        if "-->" in text:
            if cue:  # no blank line came between, so this block's number was read as the last block's text
                cue.texts = cue.texts[:-1] if cue.texts and cue.texts[-1].isdigit() else cue.texts
                yield cue
            start, _, end = text.partition("-->")
            cue = Cue(line.number, start=_parse_time(start), end=_parse_time(end))
        elif not text and cue and cue.texts:
            yield cue
            cue = None
        elif text and cue:
            cue.texts.append(text)
        elif text and not text.isdigit():
            yield Problem(line.number, "text outside of a subtitle: a line of times (00:01:02,000 --> ...) comes first")
    if cue:
        yield cue


def _read_xml(lines: Iterable[Line | Problem]) -> Iterator[Cue | Problem]:
    parser: Any = XMLPullParser(["start", "end"])
    number = 1
    is_open = is_spoilt = False  # whether a sentence is open, and whether a part of it can't be read
    for line in without_blanks(lines):
        if isinstance(line, Problem):
            is_spoilt = is_open
            yield line
            continue
        number = line.number
        try:
            parser.feed(line.text + "\n")
            events = [(event, element) for event, element in parser.read_events() if element.tag == "s"]
        except ParseError as error:
            yield Problem(number, f"broken XML: {error}")
            return
        for event, sentence in events:
            is_open = event == "start"
            if not is_open:
                if not is_spoilt:
                    yield _make_cue(number, sentence)
                is_spoilt = False
                sentence.clear()
    try:
        parser.close()
    except ParseError as error:
        yield Problem(number, f"broken XML: {error}")


def _make_cue(number: int, sentence: Element) -> Cue:
    """Make a cue of an `<s>`, which has words in `<w>` (tokenised files) or plain text, and times whose id ends in S
    (start) or E (end)."""
    times = [(time.get("id", ""), _parse_time(time.get("value", ""))) for time in sentence.iter("time")]
    starts = [seconds for name, seconds in times if name.endswith("S") and seconds is not None]
    ends = [seconds for name, seconds in times if name.endswith("E") and seconds is not None]
    words = [word.text or "" for word in sentence.iter("w")]
    text = _join_words(words) if words else " ".join("".join(sentence.itertext()).split())
    return Cue(number, [text] if text else [], min(starts, default=None), max(ends, default=None))


def _join_words(words: list[str]) -> str:
    return _SPACE_AFTER.sub("", _SPACE_BEFORE.sub("", " ".join(" ".join(words).split())))


def _parse_time(text: str) -> float | None:
    found = _TIME.search(text)
    if not found:
        return None
    hours, minutes, seconds, fraction = found.groups()
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction or 0}")
