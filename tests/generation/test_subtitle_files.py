"""Subtitle files as they lie around: encodings, line ends, packing, damage. Read, or refused aloud; never in part."""

import gzip
import random
import time
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest

from evalplatform.errors import EvalPlatformError
from generation.corpora import opensubtitles
from generation.corpora.formats import dialog_format, read_dialog_file
from generation.corpora.import_records import DialogRecord
from generation.corpora.lines import Line, Problem
from generation.corpora.subtitle_text import read_text_lines
from generation.importing import ImportOptions, import_dialogs
from generation.models import Dialog

Found = list[DialogRecord | Problem]


def cue(number: int, *lines: str) -> str:
    return f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},900\n" + "\n".join(lines) + "\n\n"


FILM = cue(1, "Where is the café?") + cue(2, "Behind the “naïve” painter’s house.") + cue(3, "Ça alors!")
TURNS = [["Where is the café?", "Behind the “naïve” painter’s house.", "Ça alors!"]]
OPUS = '<?xml version="1.0" encoding="{}"?>\n<document>\n{}</document>\n'


def read(path: Path) -> Found:
    return list(read_dialog_file(path, dialog_format(path)))


def turns_of(found: Found) -> list[list[str]]:
    return [[*record.turns, record.gold] for record in found if isinstance(record, DialogRecord)]


def problems_of(found: Found) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in found if isinstance(problem, Problem)]


@pytest.mark.parametrize(
    "data",
    [
        FILM.encode(),
        FILM.encode("utf-8-sig"),
        FILM.encode("utf-16"),
        FILM.encode("utf-16-le"),
        FILM.encode("utf-16-be"),
        b"\xfe\xff" + FILM.encode("utf-16-be"),
        FILM.encode("utf-32"),
        FILM.encode("cp1252"),
        FILM.replace("\n", "\r").encode(),
        FILM.replace("\n", "\r\n").encode("cp1252"),
        FILM.replace("\n", "\r\r\n").encode(),
        FILM.replace("\n", "\r").encode("utf-16-le"),
    ],
    ids=[
        *("utf-8", "utf-8 with mark", "utf-16", "utf-16-le without mark", "utf-16-be without mark", "utf-16-be"),
        *("utf-32", "cp1252", "CR", "CR LF in cp1252", "CR CR LF", "CR in utf-16"),
    ],
)
def test_every_usual_encoding_and_line_end_gives_the_same_dialog(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "film.srt").write_bytes(data)

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == TURNS
    assert problems_of(found) == []


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ("a\r\r\nb", ["a", "b"]),  # one line end, as a wrong conversion makes it
        ("a\r\rb", ["a", "", "b"]),
        ("a\n\rb", ["a", "", "b"]),
        ("a" + "\r" * 5 + "\nb", ["a", "", "", "b"]),
        (
            "\r" * 2_000_000 + "x",
            [""] * 2_000_000 + ["x"],
        ),  # took far too long: each looked for the end of all that follow
    ],
    ids=["CR CR LF", "CR CR", "LF CR", "CR x 5 LF", "CR x 2,000,000"],
)
def test_runs_of_carriage_returns_are_read_in_one_go(data: str, lines: list[str]) -> None:
    found = [line.text for line in read_text_lines(data.encode()) if isinstance(line, Line)]

    assert found == lines


def test_a_line_costs_the_same_however_long_the_turn_is_that_it_goes_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes, when all that was said so far was copied, and searched for its end, again with every line."""
    monkeypatch.setattr(opensubtitles, "MAX_TEXT_CHARACTERS", 10**9)
    film = "<s>and so on</s>\n" * 60_000 + "<s>- Stop.</s>\n"
    (tmp_path / "film.xml").write_text(OPUS.format("utf-8", film))

    assert problems_of(read(tmp_path / "film.xml")) == [
        (3, "a turn has 599,999 characters; at most 10,000 are allowed")
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1251"])
def test_xml_is_read_in_the_encoding_that_it_names(tmp_path: Path, encoding: str) -> None:
    words = ["Где кафе?", "Там."] if encoding == "windows-1251" else ["Où est le café?", "Là."]
    sentences = "".join(f'<s id="{number}">{text}</s>\n' for number, text in enumerate(words))
    (tmp_path / "film.xml").write_bytes(OPUS.format(encoding, sentences).encode(encoding))

    assert turns_of(read(tmp_path / "film.xml")) == [words]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ((cue(1, "Где здесь кафе?") + cue(2, "За домом художника.")).encode("cp1251"), "neither UTF-8 nor UTF-16 nor"),
        (b"\x00\x01\x02" * 1000, "not a text file"),
        (OPUS.format("klingon", "<s>\xe9</s>").encode("cp1252"), "'klingon', which can't be read"),
        (OPUS.format("unicode_escape", "<s>\xe9</s>").encode("cp1252"), "'unicode_escape', which can't be read"),
        (OPUS.format("utf-8", "<s>&nbsp;Hi.</s>").encode(), "broken XML: undefined entity"),
    ],
)
def test_what_can_t_be_read_rightly_is_refused_aloud(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "film.srt").write_bytes(data)

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == []
    assert [reason in told for _, told in problems_of(found)] == [True]


def test_a_line_that_can_t_be_read_breaks_the_dialog_instead_of_leaving_a_hole(tmp_path: Path) -> None:
    damaged = cue(3, "She went to the caf\udcff", "and never came back.")
    film = "".join(
        [*map(cue, (1, 2), ("Où est-elle?", "Who?")), damaged, *map(cue, (4, 5), ("That is sad.", "It is."))]
    )
    (tmp_path / "film.srt").write_bytes(film.encode(errors="surrogateescape"))

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == [["Où est-elle?", "Who?"], ["That is sad.", "It is."]]
    assert problems_of(found) == [(11, "character 20 can't be read as utf-8; save the file as UTF-8")]


def test_text_that_stands_nowhere_and_lines_without_end_break_the_dialog_too(tmp_path: Path) -> None:
    stray = "nobody knows when\n\n"
    film = cue(1, "A one.") + cue(2, "A two.") + stray + cue(3, "B one.") + cue(4, "B two.")
    film += cue(5, "x" * 1_000_001) + cue(6, "C one.") + cue(7, "C two.")
    (tmp_path / "film.srt").write_text(film)

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == [["A one.", "A two."], ["B one.", "B two."], ["C one.", "C two."]]
    assert len(problems_of(found)) == 2


def test_a_sentence_of_opus_with_a_hole_is_left_out_and_breaks_the_dialog(tmp_path: Path) -> None:
    sentences = "<s>Où?</s>\n<s>There.</s>\n<s>\nIt was\nnot \udcff\nme.\n</s>\n<s>Really?</s>\n<s>Really.</s>\n"
    (tmp_path / "film.xml").write_bytes(OPUS.format("utf-8", sentences).encode(errors="surrogateescape"))

    found = read(tmp_path / "film.xml")

    assert turns_of(found) == [["Où?", "There."], ["Really?", "Really."]]
    assert len(problems_of(found)) == 1


@pytest.mark.parametrize(
    ("line", "turns"),
    [
        ("-Where is he? -There.", ["Where is he?", "There."]),
        ("- Where is he? - There.", ["Where is he?", "There."]),
        ("-A -B", ["A", "B"]),
        ("– Wait! – No! – Yes!", ["Wait!", "No!", "Yes!"]),
        ("<i>-Where?</i> <i>-There.</i>", ["Where?", "There."]),
        ("- I was - well - asleep.", ["I was - well - asleep."]),
        ("It is - I think - a well-known thing.", ["It is - I think - a well-known thing."]),
        (r"-Where?\N-There.", ["Where?", "There."]),
        (r"Where is\Nthe boat?", ["Where is the boat?"]),
        (r"{\an8}Where is\hhe?", ["Where is he?"]),
        ("&lt;i&gt;Rock &amp; roll&lt;/i&gt; &quot;here&quot;&#33;", ['Rock & roll "here"!']),
        ("Where&nbsp;is &#x27;he&#x27;?", ["Where is 'he'?"]),
        ("AT&T and Q&A &notes stay.", ["AT&T and Q&A &notes stay."]),
    ],
)
def test_two_speakers_of_a_cue_are_two_turns_and_what_is_coded_is_read(
    tmp_path: Path, line: str, turns: list[str]
) -> None:
    (tmp_path / "film.srt").write_text(cue(1, "Listen.") + cue(2, line) + cue(3, "- Good."))

    assert turns_of(read(tmp_path / "film.srt")) == [["Listen.", *turns, "Good."]]


@pytest.mark.django_db
def test_packed_films_are_read_and_have_the_ids_of_unpacked_ones(tmp_path: Path) -> None:
    folder, packed = tmp_path / "plain", tmp_path / "packed"
    for name in ("1999/one.srt", "2000/two.srt"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(FILM)
        (packed / name).parent.mkdir(parents=True)
        (packed / f"{name}.gz").write_bytes(gzip.compress(FILM.encode()))
    with ZipFile(tmp_path / "en.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("1999/one.srt", FILM)
        archive.writestr("2000/two.srt.gz", gzip.compress(FILM.encode("cp1252")))
        archive.writestr("README", "about")

    added = [import_dialogs(path, "OS") for path in (folder, packed, tmp_path / "en.zip")]

    assert [(counts.added, counts.known, counts.rejected) for counts in added] == [(2, 0, 0), (0, 2, 0), (0, 2, 0)]
    assert set(Dialog.objects.values_list("external_id", flat=True)) == {"1999/one.srt#2", "2000/two.srt#2"}


@pytest.mark.django_db
def test_what_is_packed_otherwise_damaged_or_too_large_is_said(tmp_path: Path) -> None:
    (tmp_path / "good.srt").write_text(FILM)
    (tmp_path / "film.rar").write_bytes(b"Rar!")
    (tmp_path / "films.tar.gz").write_bytes(gzip.compress(b"films"))
    (tmp_path / "cut.srt.gz").write_bytes(gzip.compress(FILM.encode())[:-20])
    (tmp_path / "no.srt.gz").write_bytes(FILM.encode())
    (tmp_path / "bomb.srt.gz").write_bytes(gzip.compress(b"\n" * 200_000_000))
    problems: list[str] = []
    began = time.monotonic()

    counts = import_dialogs(
        tmp_path, "OS", options=ImportOptions(on_problem=lambda problem: problems.append(problem.reason))
    )

    assert (counts.added, counts.rejected) == (1, 5)
    starts = {problem.split(":")[0]: problem for problem in problems}
    assert "more than 20,000,000 bytes" in starts["bomb.srt"]
    assert "can't be unpacked" in starts["cut.srt"]
    assert "can't be unpacked" in starts["no.srt"]
    assert "unpack it, and name the folder" in starts["film.rar"]
    assert "unpack it, and name the folder" in starts["films.tar.gz"]
    assert time.monotonic() - began < 20


def test_a_film_with_a_password_is_said_and_the_others_are_read(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "films.zip", "w") as archive:
        archive.writestr("a.srt", FILM)
        archive.writestr("b.srt", FILM)
    data = bytearray((tmp_path / "films.zip").read_bytes())
    data[data.find(b"PK\1\2") + 8] |= 1  # the flag of the first one in the archive's list
    (tmp_path / "films.zip").write_bytes(data)

    found = read(tmp_path / "films.zip")

    assert turns_of(found) == TURNS
    assert problems_of(found) == [(1, "a.srt: it is packed with a password; unpack it, and name the folder")]


@pytest.mark.django_db
def test_single_files_that_are_packed_otherwise_are_refused_in_one_line(tmp_path: Path) -> None:
    for name, content, words in (
        ("films.tar.gz", gzip.compress(b"films"), "is packed"),
        ("films.zip", b"no zip", "is not a zip archive"),
        ("dialogs.jsonl", gzip.compress(b"{}"), "is packed; unpack it first"),
        ("test.csv", gzip.compress(b"{}"), "is packed; unpack it first"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EvalPlatformError, match=words):
            import_dialogs(tmp_path / name, "OS")
    with ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("README", "about")
    with pytest.raises(EvalPlatformError, match="has no subtitle files"):
        import_dialogs(tmp_path / "empty.zip", "OS")


@pytest.mark.parametrize("method", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_an_archive_with_any_damage_is_refused_or_has_a_problem_and_never_breaks(tmp_path: Path, method: int) -> None:
    path, chance = tmp_path / "films.zip", random.Random(method)
    with ZipFile(path, "w", method) as archive:
        archive.writestr("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n" * 20)
    whole = path.read_bytes()
    told: set[str] = set()

    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 2, 5])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            found = list(read_dialog_file(path, "opensubtitles"))
        except EvalPlatformError:
            continue
        told |= {one.reason.split(":")[1] for one in found if isinstance(one, Problem)}

    assert " it can't be unpacked" in told
