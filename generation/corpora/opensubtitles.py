"""Make dialogs from film subtitles (the MEED2 paper's section 3.1): which lines make a turn, where a dialog ends.

Lines are joined into turns, and turns into dialogs: a gap of more than 5 seconds between two turns ends a dialog; if a
time is missing, the dialog goes on. The paper joins lines with a trained classifier (76.69 % right) whose data is not
public. Here a dash or a speaker's name begins a turn. Where there is none, a classifier that train_turns made decides
(turn_model.py) or, without one, the sentence: an unfinished one is continued. No turn goes on over such a gap. The
paper's appendix A, the cleaning, is not in the text we have; the steps below are ours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

from generation.corpora.file_format import FileFormat, OnBytes
from generation.corpora.import_records import (
    MAX_ID_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MAX_TURNS,
    BadRecord,
    DialogRecord,
    checked_name,
    checked_text,
)
from generation.corpora.lines import Line, Problem
from generation.corpora.subtitle_cues import Cue, read_cues
from generation.corpora.subtitle_files import ARCHIVES, is_subtitles, subtitle_files
from generation.corpora.turn_model import SpokenLine, TurnModel

LONGEST_GAP_SECONDS = 5.0

# Between a bracket and its end, no other one may open. Otherwise a text of many open brackets would take quadratic
# time.
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|[\u202a-\u202e]")  # the last are in subtitles of right-to-left languages
_SOUND = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_DASH = re.compile(r"^\s*[-–—‐]+\s*")
_SPEAKER = re.compile(r"^\s*[A-Z][A-Z0-9 .'#&-]{1,30}:\s+")
_LYRICS = re.compile(r"[♪♫]|^\s*#.*#\s*$")
_CREDITS = re.compile(r"https?:|www\.|opensubtitles|subtitles?\s+by|sync(?:ed|hroni[sz]ed)?\s+(?:and|by|&)|©", re.I)
_AFTER_SENTENCE_END = "\"'”’)]"
_GOES_ON = re.compile(r"^(?:\.\.\.|…|[a-z])")
_LETTER = re.compile(r"[^\W\d_]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_LINE_BREAK = re.compile(r"\\[Nn]")
_LATER_DASH = re.compile(r" ([-–—‐]) ?(?=[^\s\-–—‐])")
_ENDS_OF_SENTENCES = ".?!…:\"'”’)]"


@dataclass(slots=True)
class _Turn:
    """What one speaker says. Texts are joined only at the end: a film without full stops would otherwise be copied
    again with every line."""

    line: int
    texts: list[str]
    length: int
    start: float | None
    end: float | None
    last_start: float | None  # of its last line

    def append(self, more: "_Turn") -> None:
        self.texts += more.texts
        self.length += 1 + more.length
        self.end, self.last_start = more.end, more.last_start


def read_dialogs(
    lines: Iterable[Line | Problem], name: str = "subtitles", turns: TurnModel | None = None
) -> Iterator[DialogRecord | Problem]:
    """Yield one record for each dialog, with its last turn as the gold. Ids begin with `name`, the file's name."""
    dialog: list[_Turn] = []
    for turn in _join_turns(read_cues(lines), turns):
        if isinstance(turn, Problem):
            # The unreadable line may have been a turn, so the turns before and after it don't follow each other.
            yield from _make_records(dialog, name)
            dialog = []
            yield turn
            continue
        if dialog and (_gap_seconds(dialog[-1], turn) > LONGEST_GAP_SECONDS or len(dialog) > MAX_TURNS):
            yield from _make_records(dialog, name)
            dialog = []
        dialog.append(turn)
    yield from _make_records(dialog, name)


def _gap_seconds(before: _Turn, after: _Turn) -> float:
    return 0.0 if before.end is None or after.start is None else after.start - before.end


def _make_records(dialog: list[_Turn], name: str) -> Iterator[DialogRecord | Problem]:
    if len(dialog) < 2:
        return  # nobody answers, so there is no gold
    line = dialog[0].line
    try:
        external_id = checked_name(f"{name}#{line}", "the file's name", MAX_ID_CHARACTERS)
        texts = [checked_text(" ".join(turn.texts), "a turn") for turn in dialog]
    except BadRecord as bad:
        yield Problem(line, str(bad))
        return
    source = {"file": name, "conv_id": external_id, "n_turns": len(texts)}
    yield DialogRecord(line=line, external_id=external_id, turns=texts[:-1], gold=texts[-1], source=source)


def _join_turns(cues: Iterable[Cue | Problem], turns: TurnModel | None) -> Iterator[_Turn | Problem]:
    """Join neighbouring utterances of the same speaker, as far as marks in the text or a model tell who speaks."""
    turn: _Turn | None = None
    for cue in cues:
        if isinstance(cue, Problem):
            if turn:
                yield turn
            turn = None
            yield cue
            continue
        for is_new_speaker, text in _split_utterances(cue):
            new = _Turn(cue.line, [text], len(text), cue.start, cue.end, cue.start)
            if turn and not is_new_speaker and _is_same_turn(turn, new, turns):
                turn.append(new)
                continue
            if turn:
                yield turn
            turn = new
    if turn:
        yield turn


def _is_same_turn(before: _Turn, after: _Turn, turns: TurnModel | None) -> bool:
    if _gap_seconds(before, after) > LONGEST_GAP_SECONDS or before.length > MAX_TEXT_CHARACTERS:
        return False  # a text that is too long already can't be used anyway
    if turns:
        last = SpokenLine(before.texts[-1], before.last_start, before.end)
        return turns.is_same_turn(last, SpokenLine(after.texts[0], after.start, after.end))
    is_sentence = before.texts[-1].rstrip(_AFTER_SENTENCE_END).endswith((".", "?", "!", "…"))
    return not is_sentence or bool(_GOES_ON.match(after.texts[0]))


def _split_utterances(cue: Cue) -> Iterator[tuple[bool, str]]:
    """Yield (whether a mark shows that someone else speaks, cleaned text). Lines of a cue without marks make up one
    utterance."""
    spoken: list[tuple[bool, list[str]]] = []
    for text in _split_lines(cue):
        text = _SOUND.sub(" ", _MARKUP.sub("", text)).strip()
        if _LYRICS.search(text) or _CREDITS.search(text):
            continue
        without_dash = _DASH.sub("", text)
        without_name = _SPEAKER.sub("", without_dash)
        clean = " ".join(without_name.split())
        if not _LETTER.search(clean):
            continue
        is_new_speaker = without_name != text
        if spoken and not is_new_speaker:
            spoken[-1][1].append(clean)
        else:
            spoken.append((is_new_speaker, [clean]))
    yield from ((is_new_speaker, " ".join(texts)) for is_new_speaker, texts in spoken)


def _split_lines(cue: Cue) -> Iterator[str]:
    """Yield lines as a viewer sees them: `\\N` is SubStation's line break, and "-A -B" are two speakers' lines."""
    for text in cue.texts:
        for line in _LINE_BREAK.split(_ENTITY.sub(lambda found: unescape(found[0]), text)):
            yield from _split_speakers(" ".join(_MARKUP.sub("", line.replace("\\h", " ")).split()))


def _split_speakers(line: str) -> Iterator[str]:
    """Split a line at dashes that begin another speaker's words.

    >>> list(_split_speakers("- Why not? - Because."))
    ['- Why not?', '- Because.']
    >>> list(_split_speakers("- I was - well - asleep."))
    ['- I was - well - asleep.']
    """
    begin = 0
    if _DASH.match(line):
        for dash in _LATER_DASH.finditer(line):
            is_end = line[dash.start() - 1] in _ENDS_OF_SENTENCES
            is_attached = not dash[0].endswith(" ")
            if dash[1] == line[0] and (is_end or (is_attached and not line[dash.end()].islower())):
                yield line[begin : dash.start()]
                begin = dash.start() + 1
    yield line[begin:]


def read_subtitles(path: Path, on_bytes: OnBytes, turns: TurnModel | None = None) -> Iterator[DialogRecord | Problem]:
    """Read a file, or all subtitle files of a folder or archive. Problems then name their file, too."""
    is_one = path.is_file() and path.suffix.lower() not in ARCHIVES
    for file in subtitle_files(path):
        if isinstance(file, Problem):
            yield file
            continue
        on_bytes(file.size)
        for found in read_dialogs(file.lines(), file.name, turns):
            if isinstance(found, Problem) and not is_one:
                yield replace(found, reason=f"{file.name}: {found.reason}")
            else:
                yield found


FORMAT = FileFormat(
    "opensubtitles",
    "subtitles in .srt, .xml, .srt.gz, .xml.gz or .zip, or a folder of them",
    read_dialogs=read_subtitles,
    read_by_turns=read_subtitles,
    is_assumed_for=is_subtitles,
)
