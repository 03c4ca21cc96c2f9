"""Where a turn of subtitles ends: what scripts teach, what the importer makes of it, and what is refused."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from generation.corpora.turn_model import (
    SpokenLine,
    TurnDataRefused,
    load_turn_model,
    read_script,
    train_turn_model,
)
from generation.models import Dialog
from tests.conftest import ROOT

FRIENDS = ROOT.parent / "shared" / "data" / "friends.tsv"
SRT = """1
00:00:01,000 --> 00:00:02,000
Where is it?

2
00:00:02,100 --> 00:00:03,000
I left it here.

3
00:00:03,500 --> 00:00:04,000
On the table.

4
00:00:20,000 --> 00:00:21,000
Where is it?

5
00:00:21,500 --> 00:00:22,000
- On the table.
- I left it here.
"""


def script(scenes: int = 40, seed: int = 0) -> str:
    """Every question is answered by the other speaker, in two sentences."""
    rng = random.Random(seed)
    answers = ["I left it here. On the table.", "You had it. On the table.", "I left it here. By the door."]
    lines = []
    for _ in range(scenes):
        lines += [
            f"{who}\t{said}" for _ in range(4) for who, said in (("ANN", "Where is it?"), ("BOB", rng.choice(answers)))
        ]
        lines.append("")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns")
    (folder / "script.tsv").write_text(script())
    train_turn_model(read_script(folder / "script.tsv")).model.save(folder / "turns.npz")
    return folder / "turns.npz"


def test_the_command_learns_from_a_script_and_says_how_often_it_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "script.tsv").write_text(script())

    call_command("train_turns", str(tmp_path / "script.tsv"), out=tmp_path / "turns.npz")

    said = capsys.readouterr().out
    assert "Learned from 396 pairs of lines. Right for 1.0000 of 44 held-out pairs" in said
    assert "always the same answer would be right for 0.6364" in said


def test_a_model_is_the_same_from_the_same_script_and_needs_no_pickle(model: Path, tmp_path: Path) -> None:
    (tmp_path / "script.tsv").write_text(script())
    again = train_turn_model(read_script(tmp_path / "script.tsv")).model

    loaded = load_turn_model(model)

    np.testing.assert_array_equal(loaded.weights, again.weights)
    assert loaded.is_same_turn(SpokenLine("I left it here."), SpokenLine("On the table."))
    assert not loaded.is_same_turn(SpokenLine("Where is it?"), SpokenLine("I left it here."))
    assert loaded.is_same_turn(SpokenLine(" "), SpokenLine(" ")) in (True, False)  # nothing to read is no error


@pytest.mark.django_db
def test_subtitles_are_joined_by_the_model_and_dialogs_end_at_gaps_as_before(model: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.srt"
    film.write_text(SRT)

    call_command("import_dialogs", str(film), dataset="without")
    call_command("import_dialogs", str(film), dataset="with", turns=model)

    def dialogs(name: str) -> list[list[str]]:
        return [[*one.turns, one.gold] for one in Dialog.objects.filter(dataset__name=name).order_by("pk")]

    second = ["Where is it?", "On the table.", "I left it here."]
    assert dialogs("without") == [["Where is it?", "I left it here.", "On the table."], second]
    assert dialogs("with") == [["Where is it?", "I left it here. On the table."], second]  # dashes decide before it


def test_pauses_are_learned_where_a_script_has_times(tmp_path: Path) -> None:
    rng = random.Random(0)
    lines: list[str] = []
    for _ in range(30):
        clock, speaker = 0.0, "ANN"
        for _ in range(12):
            is_same = rng.random() < 0.5
            clock += 0.05 if is_same else 1.5
            speaker = speaker if is_same else {"ANN": "BOB", "BOB": "ANN"}[speaker]
            lines.append(json.dumps({"speaker": speaker, "text": "Well.", "start": clock, "end": clock + 1}))
            clock += 1
        lines.append("")
    (tmp_path / "script.jsonl").write_text("\n".join(lines))

    trained = train_turn_model(read_script(tmp_path / "script.jsonl"))

    assert trained.accuracy == 1
    assert trained.majority < 0.7
    assert trained.model.is_same_turn(SpokenLine("Well.", 0, 1), SpokenLine("Well.", 1.05, 2.05))
    assert not trained.model.is_same_turn(SpokenLine("Well.", 0, 1), SpokenLine("Well.", 2.5, 3.5))


def test_what_can_t_be_used_is_refused_with_one_line(model: Path, tmp_path: Path) -> None:
    (tmp_path / "no-speaker.tsv").write_text("ANN\tHello.\nHello again.\n")
    (tmp_path / "short.tsv").write_text("ANN\tHello. Hello.\nBOB\tHi.\n")
    (tmp_path / "cut.npz").write_bytes(model.read_bytes()[:500])
    np.savez(tmp_path / "other.npz", weights=np.zeros(3, dtype=np.float32), bias=0.0, version=1)
    np.savez(tmp_path / "pickled.npz", weights=np.array([{}], dtype=object), bias=0.0, version=1)

    with pytest.raises(CommandError, match=r"no-speaker\.tsv, line 2: write a speaker and what is said"):
        call_command("train_turns", str(tmp_path / "no-speaker.tsv"), out=tmp_path / "turns.npz")
    with pytest.raises(CommandError, match="Too little to learn turns from: 1 scenes"):
        call_command("train_turns", str(tmp_path / "short.tsv"), out=tmp_path / "turns.npz")
    for name in ("cut", "other", "pickled", "nowhere"):
        with pytest.raises(TurnDataRefused) as refused:
            load_turn_model(tmp_path / f"{name}.npz")
        assert "\n" not in str(refused.value)


@pytest.mark.skipif(not FRIENDS.is_file(), reason="no transcripts of Friends are at hand (../shared/data)")
def test_on_held_out_episodes_of_friends_three_of_four_pairs_are_right() -> None:
    trained = train_turn_model(read_script(FRIENDS))

    assert trained.accuracy == pytest.approx(0.75, abs=0.02)
