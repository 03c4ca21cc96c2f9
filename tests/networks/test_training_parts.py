"""MEED2's parts: the labels it is told, its response predictor, its emotion classifier."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.errors import TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.emotion_classifier import EmotionClassifier
from generation.networks.families import load_family
from generation.networks.meed2 import CLASSIFIER, PREDICTOR
from generation.networks.tokenizing import train_tokenizer
from tests.networks.training_runs import SIZES, THINGS, Run, conversation, history


def test_the_true_label_tells_meed2_what_the_transformer_has_to_guess(run: Run, tmp_path: Path) -> None:
    """Whether a thing was lost or found stands in no context here: only labels tell."""
    lines = [
        {**conversation(number), "context": [f"My {THINGS[number % 8]}."], "context_labels": ["neutral"]}
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
    assert PREDICTOR in load_checkpoint(tmp_path / "meed2").parts
    assert history(tmp_path / "meed2.predictor.training")[-1]["accuracy"] > 0.6  # the commonest label: .33
    run("transformer", "transformer", max_steps=4)
    with pytest.raises(TrainingRefused, match="is a transformer, which has no response predictor"):
        run("meed2", "transformer", part=PREDICTOR)


def test_the_emotion_classifier_learns_and_labels_dialogs(run: Run, tmp_path: Path, data: Path) -> None:
    state = run(
        "emotion-classifier",
        "classifier",
        part="emotion-classifier",
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
    sizes = [f"--{name.replace('_', '-')}={size}" for name, size in {**SIZES, "vocabulary": 300}.items()]

    def train_meed2(out: str, *options: str) -> None:
        limits = ("--max-steps=1", "--batch-size=40")
        call_command(
            "train_generator", "meed2", "--data", str(data), "--validation", str(data), f"--out={tmp_path / out}",
            *limits, *options, stdout=StringIO(),
        )  # fmt: skip

    train_meed2("raw", *sizes)
    assert not load_family("meed2").can_rank_emotions(tmp_path / "raw")
    train_meed2("raw", *sizes, f"--classifier={tmp_path / 'classifier'}")  # though there is nothing left to train
    train_meed2("tuned", f"--from={tmp_path / 'raw'}")

    for out in ("raw", "tuned"):
        found = load_checkpoint(tmp_path / out).parts[CLASSIFIER]
        assert found.probabilities(THINGS).tolist() == classifier.probabilities(THINGS).tolist()
        assert load_family("meed2").can_rank_emotions(tmp_path / out)
    with pytest.raises(CommandError, match=r"The emotion classifier .* cannot be loaded"):
        train_meed2("wrong", *sizes, f"--classifier={data}")
    assert not (tmp_path / "wrong").exists()
    with pytest.raises(CommandError, match="The checkpoint of a transformer has no classifier"):
        call_command("train_generator", "transformer", data=[str(data)], out=tmp_path / "x", classifier="classifier")
