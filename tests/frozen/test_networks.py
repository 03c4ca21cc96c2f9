"""What the redesign must not change about our networks: checkpoints, replies, likelihoods, and what training computes.

Only `make_checkpoint` may follow the code as it moves. The expected values stay.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from generation.contexts import Context
from generation.registry import load_kind
from tests.networks.training_runs import PACE, SIZES, conversation

TURNS = ("I lost my keys again.", "Oh no! Where did you look?", "Everywhere, but they are gone.")
CONTEXTS = [
    Context(TURNS, ("sad", "questioning", "devastated")),
    Context(TURNS, ("sad", "questioning", "devastated"), forced_label="wishing"),
    Context(TURNS[:1], ("annoyed",)),
    Context(TURNS[:2]),
    Context(TURNS * 9),
]
GOLDS = ["Oh.", "Where did they go?", "I am sorry that your keys are gone.", "Everywhere.", "No! " * 40]
METHODS: dict[str, dict[str, Any]] = {
    "beam": {"beams": 8},
    "diverse-beam": {"method": "diverse-beam", "beams": 6, "groups": 3},
    "greedy": {"method": "greedy", "no_repeat_ngram": 2},
    "top-k": {"method": "top-k", "top_k": 5},
    "nucleus": {"method": "nucleus", "top_p": 0.7, "temperature": 1.2},
}
FAMILIES = ("transformer", "meed2")


def make_checkpoint(kind: str, folder: Path, is_spread: bool) -> None:
    """Weights as a new network has them or, spread, such that contexts get different replies, which end."""
    import torch

    from generation.networks.checkpoint import save_checkpoint
    from generation.networks.families import load_family
    from generation.networks.meed2 import PREDICTOR, ResponsePredictor
    from generation.networks.network_config import NetworkConfig
    from generation.networks.tokenizing import train_tokenizer

    tokenizer = train_tokenizer(TURNS * 3, 300)
    config = NetworkConfig(kind, 300, width=16, heads=2, layers=2, feed_forward=32, max_tokens=48)
    torch.manual_seed(0)
    network: Any = load_family(kind).build(config)
    predictor = ResponsePredictor(config) if kind == "meed2" else None
    if is_spread:
        with torch.no_grad():
            for parameter in [*network.parameters(), *(predictor.parameters() if predictor else [])]:
                if parameter.dim() > 1:
                    parameter.normal_(std=0.8)
            network.output.bias[2] += 5 if kind == "meed2" else 2
            network.output.bias[4:260] -= 30  # words, not single bytes
    save_checkpoint(folder, network, tokenizer, {PREDICTOR: predictor} if predictor else {})


@pytest.mark.parametrize("kind", FAMILIES)
def test_the_files_of_a_new_checkpoint_have_the_same_bytes(kind: str, tmp_path: Path) -> None:
    make_checkpoint(kind, tmp_path / "it", is_spread=False)

    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "it").iterdir()}

    assert found == EXPECTED["files"][kind]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FAMILIES)
def test_replies_and_their_scores_are_the_same(kind: str, method: str, tmp_path: Path) -> None:
    make_checkpoint(kind, tmp_path / "it", is_spread=True)
    loaded = load_kind(kind).load(str(tmp_path / "it"), METHODS[method], "cpu")

    replies = loaded.answer(CONTEXTS, range(len(CONTEXTS)))

    expected = EXPECTED["replies"][kind][method]
    assert [[reply.text, reply.label, reply.turns_cut, reply.failure] for reply in replies] == [
        row[:4] for row in expected
    ]
    assert [reply.score or 0 for reply in replies] == pytest.approx([row[4] for row in expected], abs=1e-4)


@pytest.mark.parametrize("kind", FAMILIES)
def test_human_replies_are_as_likely(kind: str, tmp_path: Path) -> None:
    make_checkpoint(kind, tmp_path / "it", is_spread=True)
    loaded: Any = load_kind(kind).load(str(tmp_path / "it"), {}, "cpu")

    found = loaded.score_gold(CONTEXTS, GOLDS)

    expected = EXPECTED["likelihoods"][kind]
    assert [count for _, count in found] == [count for _, count in expected]
    assert [total for total, _ in found] == pytest.approx([total for total, _ in expected], rel=1e-4)


def train(kind: str, part: str, data: Path, out: Path) -> list[list[float]]:
    sizes = {} if part == "predictor" else SIZES | {"vocabulary": 300}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in (sizes | PACE).items()]
    chosen = ["--part", part] if part else []
    call_command(
        "train_generator", kind, f"--data={data}", f"--validation={data}", f"--out={out}", "--device=cpu",
        "--warmup-steps=3", "--clip=1", "--accumulate=2", "--seed=3", *options, *chosen,
    )  # fmt: skip
    run = out.with_name(f"{out.name}.{part}.training" if part == "predictor" else f"{out.name}.training")
    entries = json.loads((run / "history.json").read_text())["history"]
    return [
        [entry["step"], entry["training_loss"], entry["validation_loss"], entry["perplexity_macro"]]
        for entry in entries
    ]


@pytest.mark.parametrize("kind", FAMILIES)
def test_training_computes_the_same_losses(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "dialogs.jsonl"
    data.write_text("".join(json.dumps(conversation(number)) + "\n" for number in range(40)))

    found = train(kind, "", data, tmp_path / "it")
    if kind == "meed2":
        found += train(kind, "predictor", data, tmp_path / "it")

    expected = EXPECTED["training"][kind]
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert [row[1:] for row in found] == [pytest.approx(row[1:], rel=2e-4) for row in expected]
    written = {
        name: hashlib.sha256((tmp_path / "it" / name).read_bytes()).hexdigest()
        for name in ("config.json", "tokenizer.json")
    }
    assert written == EXPECTED["trained files"][kind]


EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("networks.json").read_text())
