"""The training loop, on networks of a width of 16: what it learns, how it goes on, and what it refuses."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.management import CommandError, call_command
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, processors

from generation.generators.own_networks import Meed2Generator
from generation.networks.checkpoint import load_checkpoint
from generation.networks.emotion_classifier import EmotionClassifier
from generation.networks.tokenizing import BEGIN, END, encode_context, train_tokenizer
from generation.training.history import run_folder
from generation.training.loop import Progress
from generation.training.pairs import DataRefused, Source
from generation.training.preparing import Data, Plan
from generation.training.running import CLASSIFIER, GENERATOR, PREDICTOR, train
from generation.training.settings import TrainingRefused, TrainingSettings
from generation.training.state import STATE, RunState
from generation.training.world import World
from tests.conftest import ROOT

pytestmark = pytest.mark.once

SIZES = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 32, "max_tokens": 24}
PACE = {"learning_rate": 0.01, "batch_size": 8, "max_steps": 8, "validate_every": 4, "save_every": 3}
THINGS = ("lamp", "boat", "garden", "horse", "letter", "kettle", "window", "coat")
ALONE = World(0, 1, torch.device("cpu"))

Run = Callable[..., RunState]


class Killed(Exception):
    pass


class Listener:
    """Hears of each step, and may kill the run at one: nothing gets the chance to save more."""

    def __init__(self, kill_at: int = 0) -> None:
        self.kill_at = kill_at
        self.began_at = 0
        self.heard: list[Progress] = []

    def begin(self, state: RunState, total_steps: int) -> None:
        self.began_at = state.step

    def step(self, progress: Progress) -> None:
        self.heard.append(progress)
        if progress.step == self.kill_at:
            raise Killed

    def validation(self, entry: dict[str, Any], is_best: bool) -> None: ...


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations that a small network can learn: the reply names the thing, in a way that its label decides."""
    path = tmp_path_factory.mktemp("data") / "dialogs.jsonl"
    path.write_text("".join(json.dumps(_line(number)) + "\n" for number in range(40)))
    return path


def _line(number: int) -> dict[str, Any]:
    thing, emotion = THINGS[number % 8], "sad" if number % 3 == 0 else "joyful"
    first = f"I lost my {thing}." if emotion == "sad" else f"I found my {thing}!"
    return {
        "id": number,
        "context": [first, f"The {thing}?", "Yes."],
        "reference": f"Poor {thing}." if emotion == "sad" else f"Good old {thing}!",
        "context_labels": [emotion, "questioning", "neutral"],
        "reference_label": "sympathizing" if emotion == "sad" else "joyful",
        "situation": f"{first} {number}",
        "emotion": emotion,
    }


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Run:
    def train_small(
        kind: str, out: str, *, part: str = GENERATOR, start: str = "", dropout: float = 0.1, training: Path = data,
        validation: Path | None = data, listener: Listener | None = None, world: World = ALONE, width: int = 16,
        tokenizer: Path | None = None, vocabulary: int = 300, **settings: Any,
    ) -> RunState:  # fmt: skip
        place = tmp_path / out
        plan = Plan(
            kind=kind,
            data=Data(Source([str(training)]), Source([str(validation)]) if validation else None),
            out=place,
            run_folder=run_folder(place, "predictor" if part == PREDICTOR else ""),
            start=start and str(tmp_path / start),
            tokenizer=tokenizer,
            vocabulary_size=vocabulary,
            sizes={} if start or part == PREDICTOR else SIZES | {"dropout": dropout, "width": width},
        )
        chosen = TrainingSettings(**PACE | settings)
        return train(plan, part, chosen, world, listener or Listener(), lambda text: None)

    return train_small


def history(folder: Path) -> list[dict[str, Any]]:
    entries = json.loads((folder / "history.json").read_text())["history"]
    return [{name: value for name, value in entry.items() if "seconds" not in name} for entry in entries]


def assert_same_tensors(one: Path, other: Path) -> None:
    first, second = load_file(one), load_file(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


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
    with pytest.raises(TrainingRefused, match="is a transformer, so it can't be gone on with as a meed2"):
        run("meed2", "other", start="pre-trained")


@pytest.fixture(scope="module")
def roberta_s(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer.json like RoBERTa's: it adds <s> and </s> by itself, cuts, and ends with <mask>."""
    tokenizer = train_tokenizer([f"I found my {thing}!" for thing in THINGS] * 3, 310)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", END), ("<s>", BEGIN))
    tokenizer.enable_truncation(4)
    folder = tmp_path_factory.mktemp("roberta")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_a_byte_level_bpe_is_taken_from_a_folder(roberta_s: Path, run: Run, tmp_path: Path) -> None:
    state = run("transformer", "taken", tokenizer=roberta_s, max_steps=1)

    checkpoint = load_checkpoint(tmp_path / "taken")
    theirs = Tokenizer.from_file(str(roberta_s / "tokenizer.json"))
    theirs.no_truncation()
    encoded = encode_context(checkpoint.tokenizer, ["I found my lamp!", "The lamp?"], (), 100).ids
    assert checkpoint.tokenizer.get_vocab() == theirs.get_vocab()
    assert checkpoint.config.vocabulary_size == theirs.get_vocab_size()
    assert encoded == theirs.encode("I found my lamp!", "The lamp?").ids  # <s> A </s></s> B </s>, as RoBERTa joins two
    assert state.step == 1


def test_a_run_that_goes_on_refuses_another_tokenizer(roberta_s: Path, run: Run, tmp_path: Path) -> None:
    run("transformer", "trained", max_steps=1)
    run("transformer", "taken", tokenizer=roberta_s, max_steps=1)

    with pytest.raises(
        TrainingRefused, match=r"began with tokenizer 'of 300 tokens, trained .* 'of 290 tokens, trained"
    ):
        run("transformer", "trained", vocabulary=290)
    with pytest.raises(TrainingRefused, match=r"began with tokenizer 'of 300 tokens, trained .* 'taken from a folder"):
        run("transformer", "trained", tokenizer=roberta_s)
    with pytest.raises(TrainingRefused, match=r"began with tokenizer 'taken from a folder, .* 'of 300 tokens, trained"):
        run("transformer", "taken")
    moved = shutil.copytree(roberta_s, tmp_path / "moved")
    assert run("transformer", "taken", tokenizer=moved, vocabulary=290, max_steps=2).step == 2


def test_a_run_that_was_begun_before_tokenizers_were_noted_goes_on(run: Run, tmp_path: Path) -> None:
    run("transformer", "old", max_steps=1)
    path = tmp_path / "old.training" / STATE
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    identity = json.loads(metadata["identity"])
    del identity["tokenizer"]
    save_file(load_file(path), path, metadata={**metadata, "identity": json.dumps(identity)})

    assert run("transformer", "old", max_steps=2).step == 2


def test_a_run_that_was_killed_before_it_saved_anything_begins_anew_with_the_tokenizer_that_it_is_told(
    run: Run, tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        run("transformer", "killed", listener=Listener(kill_at=1))

    run("transformer", "killed", vocabulary=290, max_steps=1)

    assert load_checkpoint(tmp_path / "killed").config.vocabulary_size == 290


def test_the_true_label_tells_meed2_what_the_transformer_has_to_guess(run: Run, tmp_path: Path) -> None:
    """Whether a thing was lost or found stands in no context here: only labels tell."""
    lines = [
        {**_line(number), "context": [f"My {THINGS[number % 8]}."], "context_labels": ["neutral"]}
        for number in range(40)
    ]
    mute = tmp_path / "mute.jsonl"
    mute.write_text("".join(json.dumps(line) + "\n" for line in lines))

    for kind in ("transformer", "meed2"):
        run(kind, kind, training=mute, validation=mute, max_steps=60, validate_every=30)
    output = StringIO()
    figure = tmp_path / "both.svg"
    call_command("compare_training", tmp_path / "transformer", tmp_path / "meed2", figure=figure, stdout=output)

    assert "meed2 has the lower macro perplexity at 2 of 2 steps." in output.getvalue()
    assert "meed2 validation, macro" in figure.read_text()


def test_the_response_predictor_is_trained_into_its_generators_checkpoint(run: Run, tmp_path: Path) -> None:
    run("meed2", "meed2", max_steps=4)
    before = (tmp_path / "meed2" / "model.safetensors").read_bytes()

    run("meed2", "meed2", part=PREDICTOR, max_steps=240, validate_every=120, batch_size=16)

    assert (tmp_path / "meed2" / "model.safetensors").read_bytes() == before
    assert load_checkpoint(tmp_path / "meed2").predictor is not None
    assert history(tmp_path / "meed2.predictor.training")[-1]["accuracy"] > 0.6  # the commonest label: .33
    run("transformer", "transformer", max_steps=4)
    with pytest.raises(TrainingRefused, match="only meed2 predicts the reply's label"):
        run("meed2", "transformer", part=PREDICTOR)


def test_the_emotion_classifier_learns_and_labels_dialogs(run: Run, tmp_path: Path, data: Path) -> None:
    state = run(
        "emotion-classifier",
        "classifier",
        part=CLASSIFIER,
        width=64,
        batch_size=64,
        max_steps=200,
        validate_every=100,
        learning_rate=0.003,
    )
    output = StringIO()
    call_command(
        "label_dialogs", str(data), classifier=str(tmp_path / "classifier"), out=tmp_path / "labelled.jsonl",
        most_emotional=5, stdout=output,
    )  # fmt: skip

    assert state.history[-1]["accuracy"] > 0.7  # the commonest label: .33
    assert "40 dialogs labelled, 5 of them written" in output.getvalue()
    assert EmotionClassifier.load(str(tmp_path / "classifier")).label(["The boat?"]) == ["questioning"]


def test_meed2_takes_an_emotion_classifier_along_whenever_it_is_given_and_to_what_starts_from_it(
    tmp_path: Path, data: Path
) -> None:
    classifier = EmotionClassifier.start_from_scratch(train_tokenizer(THINGS * 3, 300), width=16, heads=2, layers=1)
    classifier.save(tmp_path / "classifier")
    sizes = [f"--{name.replace('_', '-')}={size}" for name, size in SIZES.items()]

    def train_meed2(out: str, *options: str) -> None:
        limits = ("--max-steps=1", "--batch-size=40", "--vocabulary=300")
        call_command(
            "train_generator", "meed2", "--data", str(data), "--validation", str(data), f"--out={tmp_path / out}",
            *limits, *options, stdout=StringIO(),
        )  # fmt: skip

    train_meed2("raw", *sizes)
    assert not Meed2Generator.can_rank_emotions(str(tmp_path / "raw"))
    train_meed2("raw", *sizes, f"--classifier={tmp_path / 'classifier'}")  # though there is nothing left to train
    train_meed2("tuned", f"--from={tmp_path / 'raw'}")

    for out in ("raw", "tuned"):
        found = load_checkpoint(tmp_path / out).classifier
        assert found is not None
        assert found.probabilities(THINGS).tolist() == classifier.probabilities(THINGS).tolist()
        assert Meed2Generator.can_rank_emotions(str(tmp_path / out))
    with pytest.raises(CommandError, match=r"The emotion classifier .* cannot be loaded"):
        train_meed2("wrong", *sizes, f"--classifier={data}")
    assert not (tmp_path / "wrong").exists()
    with pytest.raises(CommandError, match="Only meed2 has an emotion classifier"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", classifier="classifier")


def test_mistakes_are_one_line(run: Run, tmp_path: Path, data: Path) -> None:
    run("transformer", "kept", max_steps=4)

    with pytest.raises(TrainingRefused, match=r"began with learning_rate 0.01 and can't go on with 0.5"):
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
    with pytest.raises(DataRefused, match="a label 'peckish', which is none of the 41"):
        run("meed2", "strange", training=tmp_path / "strange.jsonl")
    with pytest.raises(CommandError, match="--batch-size must be above 0"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", batch_size=0)
    with pytest.raises(CommandError, match="has no GPU that torch can use"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", device="cuda")
