"""Dialogs out of subtitle files, as in section 3.1 of the MEED2 paper."""

from pathlib import Path

import pytest

from evalplatform.errors import EvalPlatformError
from generation.corpora.formats import dialog_format, read_dialog_file
from generation.corpora.import_records import DialogRecord
from generation.corpora.lines import Problem
from generation.importing import ImportOptions, import_dialogs
from generation.models import Dialog

FILM = """1
00:00:01,000 --> 00:00:02,500
Subtitles by somebody, www.example.org

2
00:00:10,000 --> 00:00:12,000
<i>Where did you put</i>
the lantern?

3
00:00:12,500 --> 00:00:14,000
- In the boat.
- In the boat?

4
00:00:14,500 --> 00:00:16,000
[thunder] I looked in the boat,

5
00:00:16,100 --> 00:00:18,000
and there was only rope.

6
00:00:19,000 --> 00:00:20,000
♪ a song about the sea ♪

7
00:00:23,000 --> 00:00:24,500
MARTHA: Then somebody took it.

8
00:00:29,600 --> 00:00:31,000
Good morning, captain.

9
00:00:31,500 --> 00:00:32,000
...

10
00:00:32,500 --> 00:00:34,000
(coughs) Morning.
"""

OPUS = """<?xml version="1.0" encoding="utf-8"?>
<document id="77">
  <s id="1">
    <time id="T1S" value="00:00:01,000" />
    <w id="1.1">Do</w> <w id="1.2">n't</w> <w id="1.3">touch</w> <w id="1.4">it</w> <w id="1.5">!</w>
    <time id="T1E" value="00:00:02,000" />
  </s>
  <s id="2"><w id="2.1">-</w> <w id="2.2">Why</w> <w id="2.3">not</w> <w id="2.4">?</w></s>
  <s id="3"><time id="T3S" value="00:05:00,000" />Because it is hot &amp; wet.<time id="T3E" value="00:05:01,000" /></s>
  <s id="4"><time id="T4S" value="00:05:06,001" />Nobody answers this.<time id="T4E" value="00:05:08,000" /></s>
</document>
"""


def read(path: Path) -> list[DialogRecord | Problem]:
    return list(read_dialog_file(path, dialog_format(path)))


def turns_of(found: list[DialogRecord | Problem]) -> list[list[str]]:
    return [[*record.turns, record.gold] for record in found if isinstance(record, DialogRecord)]


def test_marks_that_turn_text_around_are_cleaned_away(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,000\n\u202bשלום.\u202c\n\n2\n00:00:03,000 --> 00:00:04,000\n\u202bמה?\u202c\n"
    )

    assert turns_of(read(tmp_path / "film.srt")) == [["שלום.", "מה?"]]


def test_a_film_becomes_dialogs_of_cleaned_turns_cut_at_gaps_of_more_than_5_seconds(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(FILM)

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == [
        [
            "Where did you put the lantern?",
            "In the boat.",
            "In the boat?",
            "I looked in the boat, and there was only rope.",
            "Then somebody took it.",  # 5 s after the last spoken turn, the song aside: not more than 5
        ],
        ["Good morning, captain.", "Morning."],
    ]


def test_an_unfinished_sentence_is_not_finished_by_a_line_of_another_scene(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(
        "1\n00:00:08,000 --> 00:00:09,000\nWhere is she?\n\n"
        "2\n00:00:10,000 --> 00:00:12,000\nBut I thought\n\n"
        "3\n00:10:00,000 --> 00:10:01,000\nShe is gone.\n\n"
        "4\n00:10:06,000 --> 00:10:07,000\nand nobody saw her,\n\n"
        "5\n00:10:08,000 --> 00:10:09,000\n- Nobody?\n"
    )

    found = read(tmp_path / "film.srt")

    assert turns_of(found) == [
        ["Where is she?", "But I thought"],
        ["She is gone. and nobody saw her,", "Nobody?"],  # 5 s between them: not more than 5
    ]


def test_files_of_opus_are_read_with_words_or_plain_text_and_go_on_where_a_time_is_missing(tmp_path: Path) -> None:
    (tmp_path / "film.xml").write_text(OPUS)

    found = read(tmp_path / "film.xml")

    assert turns_of(found) == [["Don't touch it!", "Why not?", "Because it is hot & wet."]]
    assert [record.external_id for record in found if isinstance(record, DialogRecord)] == ["film.xml#7"]


@pytest.mark.django_db
def test_a_folder_of_films_is_imported_and_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "1999").mkdir()
    (tmp_path / "1999" / "film.srt").write_text(FILM)
    (tmp_path / "broken.xml").write_text(OPUS.replace("</document>", "<s>"))
    (tmp_path / "prose.srt").write_text("Once upon a time\n")
    (tmp_path / "notes.txt").write_text("not a subtitle file")
    problems: list[str] = []
    options = ImportOptions(on_problem=lambda problem: problems.append(problem.reason))

    counts = import_dialogs(tmp_path, "OS", "opensubtitles", options)
    again = import_dialogs(tmp_path, "OS", "opensubtitles")

    assert (counts.added, counts.rejected, again.added, again.known) == (3, 2, 0, 3)
    assert "broken.xml: broken XML" in problems[0]
    assert "prose.srt: text outside of a subtitle" in problems[1]
    first = Dialog.objects.get(external_id="1999/film.srt#6")
    assert (first.source["file"], first.source["n_turns"]) == ("1999/film.srt", 5)


def test_a_folder_without_subtitles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvalPlatformError, match="has no subtitle files"):
        read(tmp_path)
