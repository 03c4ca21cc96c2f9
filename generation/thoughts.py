"""Separate what a reasoning model thinks from what it answers. Workers read only the answer.

In: a text as a model wrote it. Out: the reply, and the thoughts. Guaranteed: text between marks of thinking, after a
mark that is never closed, or before an end without a beginning (chat templates write the beginning themselves), is
never part of the reply. A mark that is quoted ("<think>") is a word like others.
"""

import re
from collections.abc import Iterable, Iterator

NOTHING_BUT_THOUGHTS = "nothing but thoughts"

_NAME = (
    r"(?:think|thinking|thoughts?|thought_process|reasoning|reflection|scratchpad|inner_monologue|analysis|"
    r"inner_prefix)"
)
# <think>, <thinking mode="x">, <seed:think>, <scratchpad>, [THINK], ◁think▷, <|begin_of_thought|>, <|START_THINKING|>,
# <think_start>, <|/think|>, and Gemma's <|channel>thought with <channel|>; an end has a slash or an "end".
_MARK = re.compile(
    rf"<\s?(?P<slash>/?)\s?(?:\w{{1,20}}:)?{_NAME}(?:\s[^<>]{{0,200}})?/?>"
    rf"|<\|(?P<pipe_slash>/?){_NAME}\|>"
    rf"|<\|?(?P<edge>begin|start|end)_(?:of_)?{_NAME}\|?>"
    rf"|<\|?{_NAME}_(?P<late_edge>begin|start|end)\|?>"
    r"|(?-i:\[(?P<bracket_slash>/?)THINK\])"
    r"|◁(?P<arrow_slash>/?)think▷"
    r"|<\|channel>(?!\s?final)\s?(?:thought|analysis|commentary)?|(?P<channel_end><channel\|>)",
    re.IGNORECASE,
)
# OpenAI's "harmony": channels of which only the one named final is for the reader.
_CHANNEL = re.compile(r"<\|channel\|>\s?(?P<name>\w{1,20})(?:[^<]{0,100}(?:<\|constrain\|>\w{1,20})?<\|message\|>)?")
_HARMONY = re.compile(r"<\|(?:start|end|return|call|channel|message)\|>(?:assistant(?=<\||$))?")
# The same after a decoder dropped the marks: "analysisBe kind.assistantfinalOh no!". No English word begins or goes on
# so, and a reply that begins with the word "analysis" is left alone.
_BARE_CHANNEL = re.compile(r"assistant(?P<name>final|analysis|commentary)")
_BARE_START = re.compile(
    r"\s*(?:(?P<glued>analysis|commentary)(?=[^\W_])|(?P<apart>analysis|commentary)\b|(?P<final>final)(?=[A-Z][a-z' ]))"
)
# Gemma's, dropped: where these thoughts end can't be told any more, so nothing of the text is shown.
_BARE_THOUGHT = re.compile(r"\s*thought\n")
# What some models put around the answer that follows.
_ANSWER = re.compile(
    r"</?(?:answer|response|final_answer)>|<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>"
)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}


def split_thoughts(text: str, begins_in_thought: bool = False) -> tuple[str, str]:
    """(reply, thoughts), both stripped where there is anything to tell apart; else the text as it is.

    >>> split_thoughts("<think>Be kind.</think> Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Be kind.</THINK>Oh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts("Oh no! <think>Was that kind?")
    ('Oh no!', 'Was that kind?')
    >>> split_thoughts("analysisBe kind.assistantfinalOh no!")
    ('Oh no!', 'Be kind.')
    >>> split_thoughts('What does "<think>" mean?')
    ('What does "<think>" mean?', '')
    """
    channels = _channels(text, begins_in_thought)
    of_channels = _joined(part for name, part in channels if name != "final")
    if channels:
        text, begins_in_thought = _joined(part for name, part in channels if name == "final"), False
    said: list[str] = []
    thought: list[str] = []
    place, is_thinking, has_marks = 0, begins_in_thought, begins_in_thought
    for mark in _marks(text):
        has_marks = True
        part, place = text[place : mark.start()], mark.end()
        if _is_end(mark):
            # Of an end without a beginning: all that came before it was thought.
            thought += [part] if is_thinking else [*said, part]
            said = said if is_thinking else []
            is_thinking = False
        else:
            (thought if is_thinking else said).append(part)
            is_thinking = True
    if not has_marks:
        return text, of_channels
    (thought if is_thinking else said).append(text[place:])
    return _joined(_ANSWER.sub("", part) for part in said), _joined([of_channels, *thought])


def is_open_thought(prompt: str) -> bool:
    """Return whether a prompt, as some chat templates write it, ends inside of thoughts that the model continues."""
    marks = [(mark.end(), not _is_end(mark)) for mark in _MARK.finditer(prompt)]
    marks += [(channel.end(), channel["name"] != "final") for channel in _CHANNEL.finditer(prompt)]
    end, is_open = max(marks, default=(0, False))
    return is_open and not prompt[end:].strip()


def has_marks(text: str) -> bool:
    return bool(_MARK.search(text) or _CHANNEL.search(text))


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Return the marks that are not quoted. If only an end is quoted, its quotation marks may belong to the thought
    before it and the reply after it, so it counts; unless a beginning was quoted, too."""
    counts = dict.fromkeys(_QUOTES, 0)
    place, has_quoted = 0, False
    for mark in _MARK.finditer(text):
        for quote in counts:
            counts[quote] += text.count(quote, place, mark.start())
        place = mark.start()
        before, after = text[place - 1 : place], text[mark.end() : mark.end() + 1]
        # A quotation mark that is the same at both ends opens if it is an odd one.
        is_opened = before in _QUOTES and (_QUOTES[before] != before or counts[before] % 2 == 1)
        if is_opened and after == _QUOTES[before] and (has_quoted or not _is_end(mark)):
            has_quoted = True
        else:
            yield mark


def _is_end(mark: re.Match[str]) -> bool:
    slashes = ("slash", "bracket_slash", "arrow_slash", "pipe_slash", "channel_end")
    edges = ("edge", "late_edge")
    return any(mark[name] for name in slashes) or any((mark[name] or "").lower() == "end" for name in edges)


def _channels(text: str, begins_in_thought: bool) -> list[tuple[str, str]]:
    """Return (name, text) of each channel, if the text has channels."""
    if marks := list(_CHANNEL.finditer(text)):
        # What comes before a final word, and was opened by the template, was thought.
        is_thought = begins_in_thought or marks[0]["name"] == "final"
        return [
            (name, _HARMONY.sub("", part))
            for name, part in _parts_between(text, marks, "analysis" if is_thought else "final")
        ]
    if _BARE_THOUGHT.match(text):
        return [("thought", _BARE_THOUGHT.sub("", text, count=1))]
    marks = list(_BARE_CHANNEL.finditer(text))
    start = _BARE_START.match(text)
    if start and (marks or not start["apart"]):
        marks = [start, *(mark for mark in marks if mark.start() >= start.end())]
    if not any(mark.re is _BARE_START or mark["name"] == "final" for mark in marks):
        return []
    return _parts_between(text, marks, "analysis")


def _parts_between(text: str, marks: list[re.Match[str]], before: str) -> list[tuple[str, str]]:
    parts = [(before, text[: marks[0].start()])]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        is_final = "final" in (mark.groupdict().get("name"), mark.groupdict().get("final"))
        parts.append(("final" if is_final else "analysis", text[mark.end() : end]))
    return parts


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part.strip() for part in parts if part.strip())
