"""Read a subtitle file as numbered lines: find out its encoding, or refuse the file.

It may be UTF-8, UTF-16 (also without a byte order mark, told by its zero bytes), the encoding that an XML file names,
or else cp1252, as most old English files are. A file that seems to be none of these is refused: if it were read
wrongly, other letters would come in, and nobody would notice.
"""

import codecs
import re
from collections.abc import Iterator

from generation.corpora.import_records import BadRecord
from generation.corpora.lines import MAX_LINE_BYTES, Line, Problem

MOST_FOREIGN_LETTERS = 0.25  # the share beyond a to z in Western European languages; in other alphabets it is near 1
SAMPLE_BYTES = 100_000

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, because this mark begins with UTF-16's
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# Only these are allowed: Python also has "encodings" that are not for text (zip, rot13), or that read escapes into it.
_OLD_ENCODINGS = ("iso8859", "latin", "ascii", "cp", "koi8", "mac", "gb", "big5", "euc", "shift_jis")
_LINE_END = re.compile(r"\r{0,3}\n|\r")  # a wrong conversion turns one line end into "\r\r\n"
_NAMED_ENCODING = re.compile(rb"<\?xml[^>]{0,100}\sencoding\s?=\s?[\"']([\w.-]{1,40})[\"']")
_UNREADABLE = re.compile("[\ud800-\udfff\ufffd]")  # decoding makes these of bytes that are not valid text


def read_text_lines(data: bytes) -> Iterator[Line | Problem]:
    """Yield every line without its line end, also blank ones. Raise BadRecord if the file can't be read at all."""
    encoding, data = _find_encoding(data)
    # Invalid bytes become lone surrogates, so that each of them spoils its own line only.
    errors = "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
    for number, text in enumerate(_LINE_END.split(data.decode(encoding, errors)), 1):
        if len(text) > MAX_LINE_BYTES:
            yield Problem(number, f"the line is longer than {MAX_LINE_BYTES:,} bytes")
        elif found := _UNREADABLE.search(text):
            yield Problem(number, f"character {found.start() + 1} can't be read as {encoding}; save the file as UTF-8")
        else:
            yield Line(number, text)


def _find_encoding(data: bytes) -> tuple[str, bytes]:
    """Return the encoding, and the data after its byte order mark."""
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            return name, data[len(mark) :]
    sample = data[:SAMPLE_BYTES]
    if wide := wide_encoding(sample):
        return wide, data
    if b"\0" in sample:
        raise BadRecord("this is not a text file; if it is packed, unpack it")
    if _is_utf8(data):
        return "utf-8", data
    if (named := _NAMED_ENCODING.match(data)) and named[1].lower() not in (b"utf-8", b"utf8"):
        return _check_encoding(named[1].decode()), data
    foreign = sum(byte >= 0xC0 for byte in sample)
    plain = sum(chr(byte).isalpha() for byte in sample if byte < 0x80)
    if foreign > MOST_FOREIGN_LETTERS * (foreign + plain):
        raise BadRecord("its encoding is neither UTF-8 nor UTF-16 nor cp1252; save the file as UTF-8")
    return "cp1252", data


def wide_encoding(sample: bytes) -> str:
    """Return which UTF-16 this is, or "". Without a byte order mark, UTF-16 shows by its zero bytes: every line end,
    digit and space has one, always on the same side."""
    pairs = max(1, len(sample) // 2)
    first, second = (sample[side::2].count(0) / pairs for side in (0, 1))
    if second > 0.2 and first < 0.02:
        return "utf-16-le"
    return "utf-16-be" if first > 0.2 and second < 0.02 else ""


def _is_utf8(data: bytes) -> bool:
    """Return whether this is UTF-8, even if a few lines are damaged. A line of another encoding that goes beyond ASCII
    is practically never valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        lines = (line for line in re.split(rb"[\r\n]", data) if not line.isascii())
        return any(_decodes(line) for line in lines)
    return True


def _decodes(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_encoding(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        name = ""
    if not name.startswith(_OLD_ENCODINGS):
        raise BadRecord(f"it names the encoding {encoding!r}, which can't be read here; save the file as UTF-8")
    return name
