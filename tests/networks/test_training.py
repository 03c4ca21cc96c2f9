"""The training loop, on networks of a width of 16: what it learns, how it goes on, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from django.core.management import CommandError, call_command
from safetensors.torch import load_file

from generation.errors import DataRefused, TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.training.state import STATE
from tests.conftest import ROOT
from tests.networks.training_runs import PACE, SIZES, Killed, Listener, Run, assert_same_tensors, history


@pytest.mark.parametrize(("kind", "precision"), [("transformer", "fp32"), ("meed2", "fp16"), ("meed2", "bf16")])
def test_a_killed_run_goes_on_to_the_same_numbers(kind: str, precision: str, run: Run, tmp_path: Path) -> None:
    run(kind, "whole", precision=precision)

    with pytest.raises(Killed):  # two steps after the state was saved, in the second of its epochs' middles
        run(kind, "killed", precision=precision, listener=Listener(kill_at=6))
    second = Listener()
    run(kind, "killed", precision=precision, listener=second)

    assert second.began_at == 4
    assert history(tmp_path / "killed.training") == history(tmp_path / "whole.training")
    assert_same_tensors(tmp_path / "killed" / "model.safetensors", tmp_path / "whole" / "model.safetensors")
    assert_same_tensors(tmp_path / "killed.training" / STATE, tmp_path / "whole.training" / STATE)


def test_a_run_that_is_done_goes_on_when_it_may_do_more_and_says_how_long_it_will_take(
    run: Run, tmp_path: Path
) -> None:
    run("transformer", "whole", max_steps=12)
    run("transformer", "more", max_steps=8)
    again = Listener()
    run("transformer", "more", max_steps=8, listener=again)
    more = Listener()
    state = run("transformer", "more", max_steps=12, listener=more)

    assert (again.heard, again.began_at) == ([], 8)
    assert state.stopped == "12 steps are done"
    assert_same_tensors(tmp_path / "more" / "model.safetensors", tmp_path / "whole" / "model.safetensors")
    assert [(heard.step, heard.total_steps) for heard in more.heard] == [(step, 12) for step in range(9, 13)]
    assert more.heard[-1].seconds_left == 0 < more.heard[0].seconds_left
    assert (tmp_path / "more.training" / "curves.svg").read_text().startswith("<?xml")


def test_parts_of_a_batch_add_up_to_the_whole(run: Run, tmp_path: Path) -> None:
    run("meed2", "whole", dropout=0.0, clip=1.0)
    run("meed2", "parts", dropout=0.0, clip=1.0, accumulate=3)

    whole, parts = history(tmp_path / "whole.training"), history(tmp_path / "parts.training")
    assert [entry["perplexity_macro"] for entry in parts] == pytest.approx(
        [entry["perplexity_macro"] for entry in whole], rel=1e-4
    )


def test_two_processes_of_torch_s_launcher_learn_together_what_one_does(run: Run, tmp_path: Path, data: Path) -> None:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    named = {"data": data, "validation": data, "out": tmp_path / "both", "vocabulary": 300, "device": "cpu"}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in (named | SIZES | PACE | {"dropout": 0}).items()]
    launched = subprocess.Popen(
        [*torchrun, "manage.py", "train_generator", "transformer", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        run("transformer", "alone", dropout=0.0)
        output, _ = launched.communicate(timeout=60)
    finally:
        launched.terminate()

    assert launched.returncode == 0, output
    assert output.count("Stopped at step 8: 8 steps are done.") == 1  # one speaks for both
    alone, both = history(tmp_path / "alone.training"), history(tmp_path / "both.training")
    assert [entry["perplexity_macro"] for entry in both] == pytest.approx(
        [entry["perplexity_macro"] for entry in alone], rel=1e-4
    )
    settings = json.loads((tmp_path / "both.training" / "history.json").read_text())["settings"]
    assert settings["processes"] == 2


def test_training_stops_early_and_keeps_the_best_checkpoint(run: Run, tmp_path: Path, data: Path) -> None:
    state = run("transformer", "early", training=_few(tmp_path, data), max_steps=500, validate_every=5, patience=2)

    losses = {entry["step"]: entry["validation_loss"] for entry in history(tmp_path / "early.training")}
    assert state.stopped == "no lower validation loss in 2 validations"
    assert state.best_step == min(losses, key=lambda step: losses[step]) == state.step - 10
    best = load_file(tmp_path / "early" / "model.safetensors")
    last = load_file(tmp_path / "early.training" / STATE)
    assert not torch.equal(best["output.bias"], last["network.output.bias"])


def test_training_stops_after_so_much_cpu_time_counting_that_before_it_was_resumed(run: Run) -> None:
    first = run("transformer", "measured", max_cpu_minutes=1e-6)
    again = run("transformer", "measured", max_cpu_minutes=1e-6)

    assert (first.step, first.stopped) == (again.step, again.stopped) == (1, "the time is up")
    assert run("transformer", "measured", max_cpu_minutes=60).stopped == "8 steps are done"


def _few(folder: Path, data: Path) -> Path:
    few = folder / "few.jsonl"
    few.write_text("".join(data.read_text().splitlines(keepends=True)[:3]))
    return few


def test_fine_tuning_is_the_same_command_from_another_starting_point(run: Run, tmp_path: Path) -> None:
    run("transformer", "pre-trained", max_steps=40, validate_every=40)
    run("transformer", "fine-tuned", start="pre-trained", max_steps=4)
    run("transformer", "raw", max_steps=4)

    tuned, raw = history(tmp_path / "fine-tuned.training")[0], history(tmp_path / "raw.training")[0]
    assert tuned["perplexity_macro"] < history(tmp_path / "pre-trained.training")[0]["perplexity_macro"] * 1.2
    assert tuned["perplexity_macro"] < raw["perplexity_macro"] / 2
    tokenizers = [load_checkpoint(tmp_path / name).tokenizer.to_str() for name in ("pre-trained", "fine-tuned")]
    assert tokenizers[0] == tokenizers[1]
    with pytest.raises(TrainingRefused, match="is a transformer, so it can't be trained further as a meed2"):
        run("meed2", "other", start="pre-trained")


def test_mistakes_are_one_line(run: Run, tmp_path: Path, data: Path) -> None:
    run("transformer", "kept", max_steps=4)

    with pytest.raises(TrainingRefused, match=r"began with learning_rate 0.01 and can't be resumed with 0.5"):
        run("transformer", "kept", learning_rate=0.5)
    with pytest.raises(TrainingRefused, match="training data"):
        run("transformer", "kept", training=_few(tmp_path, data))
    (tmp_path / "kept.training" / STATE).write_bytes(b"nonsense")
    with pytest.raises(TrainingRefused, match=r"state.safetensors is broken .* delete"):
        run("transformer", "kept")
    with pytest.raises(TrainingRefused, match=r"loss of step .* is not a number"):
        run("transformer", "wild", learning_rate=1e30)
    (tmp_path / "silent.jsonl").write_text('{"id": 1, "context": ["Alone."]}\n')
    with pytest.raises(DataRefused, match=r"training data of .* no conversation in it has two turns"):
        run("transformer", "silent", training=tmp_path / "silent.jsonl")
    (tmp_path / "strange.jsonl").write_text(data.read_text().replace('"neutral"', '"peckish"'))
    with pytest.raises(DataRefused, match="a label 'peckish', which is not one of the 41"):
        run("meed2", "strange", training=tmp_path / "strange.jsonl")
    with pytest.raises(CommandError, match="--batch-size must be above 0"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", batch_size=0)
    with pytest.raises(CommandError, match="leave --vocabulary out"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", start="kept", vocabulary=9)
    with pytest.raises(CommandError, match="has no GPU that torch can use"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", device="cuda")
