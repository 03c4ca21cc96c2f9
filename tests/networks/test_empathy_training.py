"""How TRS, Multi-TR, MoEL and their kin are trained: examples, loss, schedule, and what a run writes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from django.core.management import CommandError, call_command

from generation.corpora.import_records import DialogRecord
from generation.emotions import EMOTIONS, MOEL_EMOTIONS
from generation.errors import DataRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.empathy_examples import EmpathyExamples
from generation.networks.empathy_objective import score_reply, smoothed_losses, warm_rate
from generation.networks.empathy_words import END, PAD, train_words
from generation.training.objective import IGNORED, rank_labels
from generation.training.options import TrainingSettings
from generation.training.state import STATE
from tests.networks.empathy_networks import KINDS, SMALL
from tests.networks.training_runs import Killed, Listener, Run, assert_same_tensors, history

SIZES = SMALL | {"layers": 1, "max_tokens": 24}


def test_label_smoothing_is_a_divergence_from_all_words_but_padding() -> None:
    uniform = torch.full((1, 1, 10), 0.1).log()
    assert smoothed_losses(uniform, torch.tensor([[4]])).tolist() == pytest.approx([1.76956], abs=1e-5)

    torch.manual_seed(0)
    log_probabilities = torch.randn(2, 3, 10).log_softmax(dim=-1)
    targets = torch.tensor([[4, 5, END], [7, END, IGNORED]])
    smoothed = torch.full((2, 3, 10), 0.1 / 8)
    smoothed[:, :, PAD] = 0
    smoothed.scatter_(2, targets.clamp_min(0)[:, :, None], 0.9)
    divergences = F.kl_div(log_probabilities, smoothed, reduction="none").sum(dim=2)
    divergences[1, 2] = 0

    torch.testing.assert_close(smoothed_losses(log_probabilities, targets), divergences.sum(dim=1))


def test_an_example_s_loss_is_its_words_and_its_emotion() -> None:
    torch.manual_seed(0)
    log_probabilities, targets = torch.randn(2, 3, 10).log_softmax(dim=-1), torch.tensor([[4, 5, 2], [7, 2, IGNORED]])
    logits, emotions = torch.randn(2, 32), torch.tensor([6, IGNORED])

    found = score_reply(log_probabilities, targets, logits, emotions, emotion_weight=0.5)

    missed = -logits.log_softmax(dim=1)[0, 6]
    assert found.minimised is not None
    words = smoothed_losses(log_probabilities, targets)
    assert found.minimised.tolist() == pytest.approx([float(words[0] + 0.5 * missed), float(words[1])])
    likelihoods = [log_probabilities[0, [0, 1, 2], [4, 5, 2]], log_probabilities[1, [0, 1], [7, 2]]]
    assert found.losses.tolist() == pytest.approx([float(-one.sum()) for one in likelihoods])
    assert found.ranks is not None
    assert found.ranks.tolist() == [1 + int((logits[0] > logits[0, 6]).sum()), 0]


def test_equal_logits_flatter_no_network() -> None:
    assert rank_labels(torch.zeros(32, 32), torch.arange(32)).tolist() == list(range(1, 33))


def test_the_rate_rises_and_falls_as_published() -> None:
    pace = TrainingSettings(learning_rate=(300 * 8000) ** -0.5, warmup_steps=8000)

    rates = [warm_rate(number - 1, pace) for number in (1, 4000, 8000, 32_000)]

    assert rates == pytest.approx([8.0687e-8, 3.2275e-4, 6.4550e-4, 3.2275e-4], rel=1e-4)


def test_every_listener_turn_is_one_example_with_the_dialog_s_emotion() -> None:
    words = train_words(["one two three four five"], 100, 1)
    record = {"conv_id": "c"}
    records = [
        DialogRecord(1, "a", ["one"], "two", emotion="sad", source=record),
        DialogRecord(2, "b", ["one", "two", "three"], "four", emotion="sad", source=record),
        DialogRecord(3, "c", ["two"], "five", emotion="peckish"),
    ]

    examples = EmpathyExamples.from_records(records, words, 100)
    batch = examples.batch(np.array([0, 1, 2]), torch.device("cpu"))

    said = [words.decode(row, skip_special_tokens=True) for row in batch["source_ids"].tolist()]
    assert said == ["one", "one two three", "two"]
    assert [words.decode(row[row != IGNORED].tolist(), skip_special_tokens=True) for row in batch["targets"]] == [
        "two", "four", "five"
    ]  # fmt: skip
    assert batch["emotions"].tolist() == [MOEL_EMOTIONS.index("sad")] * 2 + [IGNORED]
    assert (examples.unlabelled, set(MOEL_EMOTIONS)) == (1, set(EMOTIONS))


@pytest.mark.parametrize("kind", [*KINDS, "mime", "empdg"])
def test_a_killed_run_goes_on_to_the_same_numbers(kind: str, empathy_run: Run, tmp_path: Path) -> None:
    empathy_run(kind, "whole")

    with pytest.raises(Killed):  # two steps after the state was saved, in the second of its epochs' middles
        empathy_run(kind, "killed", listener=Listener(kill_at=6))
    second = Listener()
    empathy_run(kind, "killed", listener=second)

    assert second.began_at == 4
    assert history(tmp_path / "killed.training") == history(tmp_path / "whole.training")
    assert_same_tensors(tmp_path / "killed" / "model.safetensors", tmp_path / "whole" / "model.safetensors")
    assert_same_tensors(tmp_path / "killed.training" / STATE, tmp_path / "whole.training" / STATE)


@pytest.mark.parametrize("kind", [*KINDS, "mime", "empdg"])
def test_a_network_learns_in_parts_of_a_batch_and_in_bfloat16_what_it_learns_at_once(
    kind: str, empathy_run: Run, tmp_path: Path
) -> None:
    empathy_run(kind, "whole", max_steps=6, validate_every=3)
    empathy_run(kind, "parts", max_steps=6, validate_every=3, accumulate=3)
    empathy_run(kind, "narrow", max_steps=6, validate_every=3, precision="bf16")

    whole, parts, narrow = (
        [entry["perplexity_macro"] for entry in history(tmp_path / f"{name}.training")]
        for name in ("whole", "parts", "narrow")
    )
    assert parts == pytest.approx(whole, rel=1e-4)
    assert narrow == pytest.approx(whole, rel=0.05)
    assert whole[-1] < whole[0]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "trs"])
def test_emotions_are_recognised_and_their_accuracies_reported(kind: str, empathy_run: Run, tmp_path: Path) -> None:
    empathy_run(kind, "it", max_steps=24, validate_every=24, learning_rate=0.03)

    (entry,) = history(tmp_path / "it.training")
    assert entry["accuracy"] > 0.8  # the commoner emotion: .67
    assert 1 >= entry["accuracy_top_5"] >= entry["accuracy_top_2"] >= entry["accuracy"]


def test_without_the_weight_of_emotions_multi_tr_trains_trs_bit_for_bit(empathy_run: Run, tmp_path: Path) -> None:
    empathy_run("trs", "trs")
    empathy_run("multi-tr", "weightless", options={"emotion_weight": 0.0})
    empathy_run("multi-tr", "weighted")

    trained = tmp_path / "trs.training" / STATE
    assert_same_tensors(tmp_path / "weightless.training" / STATE, trained)
    with pytest.raises(AssertionError):
        assert_same_tensors(tmp_path / "weighted.training" / STATE, trained)
    assert "accuracy" not in history(tmp_path / "trs.training")[-1]


def test_fine_tuning_keeps_words_and_sizes(empathy_run: Run, tmp_path: Path) -> None:
    empathy_run("multi-tr", "first")
    empathy_run("multi-tr", "second", start="first", max_steps=4)

    first, second = (load_checkpoint(tmp_path / name) for name in ("first", "second"))
    assert (second.tokenizer.to_str(), second.config) == (first.tokenizer.to_str(), first.config)


def test_the_command_takes_the_papers_defaults_and_the_options_of_a_kind(tmp_path: Path, data: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {' '.join(['0.5'] * 16)}\n" for word in ("lamp", "boat", "unheard")))
    sizes = [f"--{name.replace('_', '-')}={size}" for name, size in SIZES.items()]

    def train(kind: str, *more: str, out: str = "it") -> None:
        call_command(
            "train_generator", kind, "--data", str(data), "--validation", str(data), f"--out={tmp_path / out}",
            "--device=cpu", "--max-steps=1", *sizes, *more,
        )  # fmt: skip

    train("moel", "--minimum-count=2", f"--vectors={vectors}", "--mixed-listeners=3", "--emotion-weight=2")

    settings = json.loads((tmp_path / "it.training" / "history.json").read_text())["settings"]
    assert (settings["batch_size"], settings["warmup_steps"], settings["minimum_count"]) == (16, 8000, 2)
    assert settings["learning_rate"] == pytest.approx(6.4550e-4, rel=1e-4)
    checkpoint = load_checkpoint(tmp_path / "it")
    assert checkpoint.config.mixed_listeners == 3  # type: ignore[attr-defined]
    assert checkpoint.tokenizer.token_to_id("poor") is not None
    row = checkpoint.network.words.weight[checkpoint.tokenizer.token_to_id("lamp")]
    assert row.tolist() == pytest.approx([0.5] * 16, abs=1e-3)
    for more, reason in (
        (["--minimum-count=3"], "began with minimum_count 2 and can't be resumed with 3"),
        (["--minimum-count=2", "--emotion-weight=3"], "began with emotion_weight 2.0 and can't be resumed with 3.0"),
    ):
        with pytest.raises(CommandError, match=reason):
            train("moel", "--mixed-listeners=3", *more)
    with pytest.raises(CommandError, match="A trs has no --emotion-weight; leave it out"):
        train("trs", "--emotion-weight=2", out="other")
    with pytest.raises(CommandError, match="its own words and their vectors; leave --minimum-count out"):
        train("moel", "--minimum-count=2", f"--from={tmp_path / 'it'}", out="other")
    with pytest.raises(CommandError, match=r"dropout is 0\.1, but this kind of network has none"):
        train("trs", "--dropout=0.1", out="other")


def test_data_that_names_no_emotions_is_refused(empathy_run: Run, tmp_path: Path, data: Path) -> None:
    lines: list[dict[str, Any]] = [json.loads(line) | {"emotion": ""} for line in data.read_text().splitlines()]
    plain = tmp_path / "plain.jsonl"
    plain.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with pytest.raises(DataRefused, match="names no emotions of dialogs, which moel learns to recognise"):
        empathy_run("moel", "it", training=plain)
