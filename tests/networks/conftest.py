"""A tokenizer, a MEED2 that was trained and saved, and what it takes to train one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from generation.emotions import LABELS
from generation.networks.batches import stack, stack_contexts
from generation.networks.checkpoint import save_checkpoint
from generation.networks.families import GENERATOR, load_trainable
from generation.networks.meed2 import PREDICTOR, Meed2, ResponsePredictor
from generation.networks.network_config import NetworkConfig
from generation.networks.tokenizing import PAD, encode_context, encode_reply, train_tokenizer
from generation.training.context_pairs import Source
from generation.training.history import run_folder
from generation.training.options import TrainingSettings
from generation.training.plan import Data, Plan
from generation.training.state import RunState
from generation.training.train import train
from generation.training.world import World
from tests.networks.empathy_networks import SMALL as EMPATHY_SIZES
from tests.networks.small_networks import TURNS
from tests.networks.training_runs import ALONE, PACE, SIZES, Listener, Run, conversation


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return train_tokenizer([*TURNS, *LABELS] * 3, 400)


@pytest.fixture(scope="session")
def config(tokenizer: Tokenizer) -> NetworkConfig:
    return NetworkConfig(
        "meed2", tokenizer.get_vocab_size(), width=32, heads=2, layers=1, feed_forward=64, max_tokens=40
    )


@pytest.fixture(scope="session")
def trained(tokenizer: Tokenizer, config: NetworkConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MEED2 that has learned to name the label that it is told."""
    torch.manual_seed(0)
    network, predictor = Meed2(config), ResponsePredictor(config)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    context = encode_context(tokenizer, TURNS, (), config.max_tokens)
    source = stack_contexts([context] * len(LABELS))
    replies = stack([encode_reply(tokenizer, label, config.max_tokens) for label in LABELS], PAD)
    said, wanted = replies[:, :-1], replies[:, 1:]
    for _ in range(60):
        logits = network(
            source["source_ids"],
            source["source_segments"],
            said,
            torch.ones_like(said),
            source["source_labels"],
            torch.arange(len(LABELS)),
        )
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    folder = tmp_path_factory.mktemp("checkpoints") / "meed2"
    save_checkpoint(folder, network.eval(), tokenizer, {PREDICTOR: predictor.eval()})
    return folder


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "copied"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations that a small network can learn: the reply names the thing, in a way that its label decides."""
    path = tmp_path_factory.mktemp("data") / "dialogs.jsonl"
    path.write_text("".join(json.dumps(conversation(number)) + "\n" for number in range(40)))
    return path


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Run:
    def train_small(
        kind: str, out: str, *, part: str = GENERATOR, start: str = "", dropout: float = 0.1, training: Path = data,
        validation: Path | None = data, listener: Listener | None = None, world: World = ALONE, width: int = 16,
        tokenizer: Path | None = None, vocabulary: int = 300, sizes: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None, labeller: Path | None = None,
        **settings: Any,
    ) -> RunState:  # fmt: skip
        place = tmp_path / out
        plan = Plan(
            kind=kind,
            data=Data(Source([str(training)]), Source([str(validation)]) if validation else None),
            out=place,
            run_folder=run_folder(place, "" if part == GENERATOR else part),
            start=start and str(tmp_path / start),
            takes={"labeller": str(labeller)} if labeller else {},
            tokenizer=tokenizer,
            vocabulary_size=vocabulary,
            sizes=_sizes(start or part != GENERATOR, sizes, dropout, width),
            options=options or {},
        )
        chosen = TrainingSettings(**PACE | settings)
        return train(load_trainable(kind), plan, part, chosen, world, listener or Listener(), lambda text: None)

    return train_small


@pytest.fixture
def empathy_run(run: Run) -> Run:
    """Train a small network with words for tokens, at the papers' schedule."""

    def train_small(kind: str, out: str, **settings: Any) -> RunState:
        usual = {"warmup_steps": 4, "vocabulary": 1000, "dropout": 0.0, "sizes": EMPATHY_SIZES | {"layers": 1}}
        return run(kind, out, **usual | settings)

    return train_small


def _sizes(has_own: bool | str, sizes: dict[str, Any] | None, dropout: float, width: int) -> dict[str, Any]:
    if sizes is not None:
        return sizes
    return {} if has_own else SIZES | {"dropout": dropout, "width": width}
