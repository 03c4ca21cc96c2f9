"""Checkpoints, pools, labellers and models of turns that somebody made to harm, or that a killed process left."""

import io
import json
import signal
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from evalplatform.errors import EvalPlatformError
from generation.checkpoint_version import check_safetensors, read_config
from generation.corpora.turn_model import BUCKETS, load_turn_model
from generation.errors import CheckpointRefused
from generation.networks.checkpoint_files import check_checkpoint
from generation.networks.labeller import read_labeller
from generation.networks.labeller_training import train_labeller
from generation.networks.pool_vectors import open_vectors
from generation.networks.reply_pool import Pool
from generation.replaced_folders import replace_folder
from tests.conftest import ROOT

DEEP = "[" * 100_000
REPLY = {"text": "Oh no!", "dialog": "d1", "turn": 2, "dataset": "tales", "opening": "0f"}
LABELS = {"words": ["oh"], "labels": ["sad", "glad"], "longest_ngram": 2}


@pytest.mark.parametrize("place", [".", "/", ".."])
def test_a_folder_without_a_name_is_refused_like_any_other(place: str) -> None:
    with pytest.raises(CheckpointRefused, match=r"lacks config\.json"):
        check_checkpoint(Path(place))


@pytest.mark.parametrize(
    "header",
    [
        DEEP,
        '{"a": {"data_offsets": [0, "x"]}}',
        '{"a": {"data_offsets": [0]}}',
        "[]",
        '{"a": {"data_offsets": [0, 9]}}',
    ],
)
def test_weights_with_an_odd_header_are_refused_in_one_line(tmp_path: Path, header: str) -> None:
    for name, text in {"config.json": DEEP, "tokenizer.json": "{}"}.items():
        (tmp_path / name).write_text(text)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(len(header).to_bytes(8, "little") + header.encode())

    for look in (check_checkpoint, read_config, lambda folder: check_safetensors(weights)):
        with pytest.raises(CheckpointRefused) as refused:
            look(tmp_path)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        *(
            json.dumps({**REPLY, **odd})
            for odd in (
                *({"opening": "f" * 20}, {"opening": "-1"}, {"opening": 15}, {"turn": [2]}),
                *({"text": 5}, {"text": "\ud800"}, {"dialog": "\0"}, {"dataset": None}),
            )
        ),
    ],
)
def test_a_pool_with_an_odd_line_is_refused_before_it_answers(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pool.jsonl"
    file.write_text(f"{json.dumps(REPLY)}\n{line}\n")

    with pytest.raises(CheckpointRefused, match="line 2 is no reply of a pool"):
        Pool(file)
    with pytest.raises(CheckpointRefused, match="can't be read"):
        Pool(tmp_path)


@pytest.mark.parametrize(
    "odd",
    [
        *({"labels": {"0": 1}}, {"labels": []}, {"labels": [1, 2]}, {"labels": ["\ud800", "b"]}, {"labels": "ab"}),
        *({"words": {"oh": 7}}, {"words": [["oh"]]}, {"longest_ngram": 1.5}, {"longest_ngram": "2"}),
    ],
)
def test_a_labeller_whose_words_are_none_is_refused(tmp_path: Path, odd: dict[str, Any]) -> None:
    numbers = {"vectors": np.zeros((3, 2), np.float32), "output": np.zeros((2, 2), np.float32)}
    for described in ({**LABELS, **odd}, {**LABELS, "labels": DEEP}):
        told = {name: value if value is DEEP else json.dumps(value) for name, value in described.items()}
        save_file(numbers, tmp_path / "labeller.safetensors", metadata=told)
        with pytest.raises(CheckpointRefused, match="is no labeller"):
            read_labeller(tmp_path / "labeller.safetensors")


def test_a_text_that_names_a_label_teaches_none() -> None:
    texts = [("sad", f"no no __label__evil {number}") for number in range(9)] + [("glad", "yes yes")] * 9

    assert sorted(train_labeller(texts).labels) == ["glad", "sad"]


def stored(value: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(value))
    return file.getvalue()


def promising(*shape: int) -> bytes:
    """The beginning of an array of this shape, without its numbers."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(
    "odd",
    [
        *({"weights": promising(10**12)}, {"weights": promising(10**30)}, {"version": stored(np.inf)}),
        {"weights": b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"(" * 8999 + b"\n"},
        {"weights": promising(6 * BUCKETS) + bytes(24 * BUCKETS)},  # packed, it has a thousandth of these bytes
    ],
)
def test_a_model_of_turns_that_would_fill_the_memory_or_break_its_reader_is_refused(
    tmp_path: Path, odd: Mapping[str, bytes]
) -> None:
    right = {"version": stored(1), "weights": stored(np.zeros(BUCKETS, np.float32)), "bias": stored(0.5)}
    path = tmp_path / "turns.npz"

    def pack(members: Mapping[str, bytes]) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(f"{name}.npy", content)

    pack(right)
    assert load_turn_model(path).bias == 0.5
    pack({**right, **odd})
    with pytest.raises(EvalPlatformError) as refused:
        load_turn_model(path)
    assert "\n" not in str(refused.value)


WRITE_AND_WAIT = """
import sys, time
from pathlib import Path
from generation.replaced_folders import replace_folder
from generation.networks.labeller_training import train_labeller
with replace_folder(Path(sys.argv[1])) as new:
    (new / "model").write_bytes(bytes(1000))
    print("writing", flush=True)
    time.sleep(600)
"""


def test_what_killed_processes_were_writing_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE_AND_WAIT, str(tmp_path / "model")]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for one in processes:
            assert one.stdout is not None
            assert one.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait()

        with replace_folder(tmp_path / "model") as new:
            (new / "model").write_text("mine")

        left = sorted(path.name for path in tmp_path.iterdir())
        assert len(left) == 2  # the checkpoint, and what the living one writes
        assert left[1] == "model"
    finally:
        for one in processes:
            one.kill()
            one.wait()


@pytest.mark.parametrize("spoiled", [b"", b"\x93NUMPY", promising(3, 8), stored(np.zeros((3, 9), np.float32))])
def test_vectors_that_were_cut_short_or_exchanged_are_computed_again(tmp_path: Path, spoiled: bytes) -> None:
    def embed(texts: Sequence[str]) -> torch.Tensor:
        return torch.full((len(texts), 8), float(len(texts)))

    def vectors() -> list[float]:
        found = open_vectors(tmp_path / "model", "f", lambda start, end: ["a", "b", "c"], 3, 8, embed)
        return [float(one) for one in found.sum(axis=1)]

    assert vectors() == [24, 24, 24]
    (tmp_path / "model.vectors" / "f.npy").write_bytes(spoiled)
    assert vectors() == [24, 24, 24]
    assert [path.name for path in (tmp_path / "model.vectors").iterdir()] == ["f.npy"]
