"""Checkpoints of our networks: what comes back, and what is refused."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from generation.contexts import Context
from generation.errors import CheckpointRefused
from generation.networks.checkpoint import load_checkpoint, save_checkpoint
from generation.networks.emotion_classifier import EmotionClassifier
from generation.registry import load_kind
from tests.networks.small_networks import TURNS


def test_a_checkpoint_comes_back_as_it_was_saved(trained: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    first = load_checkpoint(trained)

    save_checkpoint(tmp_path / "again", first.network, first.tokenizer, first.parts)
    second = load_checkpoint(tmp_path / "again")

    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    assert second.config == first.config
    assert second.tokenizer.to_str() == first.tokenizer.to_str()
    assert not second.network.training
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_saving_again_replaces_the_network_and_keeps_the_predictor(copied: Path) -> None:
    checkpoint = load_checkpoint(copied)
    with torch.no_grad():
        checkpoint.network.output.bias.add_(1)

    save_checkpoint(copied, checkpoint.network, checkpoint.tokenizer)

    again = load_checkpoint(copied)
    assert torch.equal(again.network.output.bias, checkpoint.network.output.bias)
    assert "predictor" in again.parts


def test_a_save_that_died_between_its_two_renames_leaves_the_former_checkpoint(copied: Path) -> None:
    copied.rename(copied.with_name(f".{copied.name}.former"))

    assert load_checkpoint(copied).config.kind == "meed2"
    assert copied.is_dir()


REPLACE_AGAIN_AND_AGAIN = """
import hashlib, shutil, sys
from itertools import cycle
from pathlib import Path
from generation.replaced_folders import replace_folder

place, *sources = map(Path, sys.argv[1:])
for source in cycle(sources):
    with replace_folder(place) as new:
        shutil.copytree(source, new, dirs_exist_ok=True)
    print("replaced", flush=True)
    hashlib.sha256(bytes(60_000_000))  # what a training does between two saves
"""


def test_a_checkpoint_that_a_process_keeps_replacing_is_never_put_together_from_two(
    trained: Path, tmp_path: Path
) -> None:
    for name, dropout in (("first", 0.0), ("second", 0.5)):
        checkpoint = load_checkpoint(trained)
        checkpoint.network.config = replace(checkpoint.config, dropout=dropout)
        torch.nn.init.constant_(checkpoint.network.output.bias, dropout)
        save_checkpoint(tmp_path / name, checkpoint.network, checkpoint.tokenizer, checkpoint.parts)
    place, first, second = (str(tmp_path / name) for name in ("place", "first", "second"))
    command = [sys.executable, "-c", REPLACE_AGAIN_AND_AGAIN, place, first, second]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout
            assert writer.stdout.readline()
            found = [load_checkpoint(tmp_path / "place") for _ in range(40)]
        finally:
            writer.kill()

    assert {checkpoint.config.dropout for checkpoint in found} == {0.0, 0.5}
    for checkpoint in found:
        assert bool((checkpoint.network.output.bias == checkpoint.config.dropout).all())


def _edit_config(**values: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text()) | values
        (folder / "config.json").write_text(json.dumps(config))

    return edit


def _cut_model(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def _spoil_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["output.bias"][0] = torch.nan
    save_file(weights, folder / "model.safetensors")


def _drop_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    del weights["output.bias"]
    save_file(weights, folder / "model.safetensors")


def _save_as(dtype: torch.dtype) -> Callable[[Path], None]:
    def convert(folder: Path) -> None:
        for name in ("model.safetensors", "predictor.safetensors"):
            weights = load_file(folder / name)
            weights["output.bias"] = weights["output.bias"].to(dtype)
            save_file(weights, folder / name)

    return convert


def _write(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (shutil.rmtree, "There is no checkpoint folder"),
        (lambda folder: (folder / "model.safetensors").unlink(), "lacks model.safetensors"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "lacks tokenizer.json"),
        (_cut_model, "bytes instead of"),
        (_write("model.safetensors", ""), "header can't be read"),
        (_write("model.safetensors", "pickled or what?" * 9), "not a safetensors file"),
        (_write("config.json", "{"), "cannot be read"),
        (_write("config.json", "[]"), "not of format 1"),
        (_write("tokenizer.json", "{}"), "is not a tokenizer"),
        (_edit_config(format_version=99), "not of format 1"),
        (_edit_config(width=31), "not a multiple of 2 heads"),
        (_edit_config(kind="lstm"), "not one of transformer, meed2"),
        (_edit_config(labels=["happy"]), "other labels"),
        (_edit_config(layers=2), "does not fit its config.json"),
        (_edit_config(vocabulary_size=300), "its tokenizer has"),
        (_drop_weights, "does not fit its config.json: output.bias has shape nothing"),
        (_save_as(torch.int64), "output.bias is int64"),
        (_spoil_weights, "output.bias holds numbers that are not finite"),
    ],
)
def test_a_broken_or_mismatched_checkpoint_is_refused_with_one_line(
    copied: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(copied)

    with pytest.raises(CheckpointRefused) as refused:
        load_checkpoint(copied)

    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_that_were_saved_in_another_precision_answer_in_the_network_s_own(
    copied: Path, dtype: torch.dtype
) -> None:
    _save_as(dtype)(copied)

    generator = load_kind("meed2").load(str(copied), {"beams": 2}, "cpu")
    (reply,) = generator.answer([Context(TURNS, forced_label="sad")], [0])

    assert reply.text == "sad"


def test_a_classifier_without_its_head_is_refused_though_its_config_names_the_labels(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    EmotionClassifier.start_from_scratch(tokenizer, width=16, heads=2, layers=1).save(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    encoder = {name: weight for name, weight in weights.items() if not name.startswith("classifier.")}
    save_file(encoder, tmp_path / "model.safetensors", metadata={"format": "pt"})

    with pytest.raises(CheckpointRefused, match=r"is not complete: its weights lack classifier\.") as refused:
        EmotionClassifier.load(str(tmp_path))

    assert len(encoder) < len(weights)
    assert "\n" not in str(refused.value)


def test_a_kind_refuses_checkpoints_of_another_and_a_meed2_without_its_predictor(copied: Path) -> None:
    with pytest.raises(CheckpointRefused, match="is of kind meed2, not transformer"):
        load_kind("transformer").check(str(copied), {})
    (copied / "predictor.safetensors").unlink()
    with pytest.raises(CheckpointRefused, match="--part predictor"):
        load_kind("meed2").check(str(copied), {})
