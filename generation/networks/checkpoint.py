"""In: networks and their tokenizer. Out: a checkpoint folder (checkpoint_files.py), and the networks again.
Guaranteed: nothing is unpickled; a folder is complete or absent; what does not fit together is refused."""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from generation.generators.base import CheckpointRefused
from generation.networks.checkpoint_files import (
    CLASSIFIER,
    CONFIG,
    MODEL,
    PREDICTOR,
    TOKENIZER,
    check_checkpoint,
    finish_replacing,
    former_folder,
)
from generation.networks.config import MEED2, NetworkConfig
from generation.networks.meed2 import Meed2
from generation.networks.response_predictor import ResponsePredictor
from generation.networks.tokenizing import load_tokenizer
from generation.networks.transformer import Transformer
from generation.networks.unfilled import build_unfilled

if TYPE_CHECKING:
    from generation.networks.emotion_classifier import EmotionClassifier

Network = TypeVar("Network", bound=nn.Module)


@dataclass
class Checkpoint:
    network: Transformer
    tokenizer: Tokenizer
    predictor: ResponsePredictor | None = None
    classifier: "EmotionClassifier | None" = None

    @property
    def config(self) -> NetworkConfig:
        return self.network.config


def build_network(config: NetworkConfig) -> Transformer:
    return Meed2(config) if config.kind == MEED2 else Transformer(config)


def save_checkpoint(
    folder: Path,
    network: Transformer,
    tokenizer: Tokenizer,
    predictor: ResponsePredictor | None = None,
    classifier: "EmotionClassifier | None" = None,
) -> None:
    """Written beside and renamed, in place of what was there. A predictor or classifier that is there already stays,
    unless a new one is given."""
    finish_replacing(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new.", dir=folder.parent))
    try:
        new.chmod(0o755)
        (new / CONFIG).write_text(json.dumps(network.config.as_json(), indent=1) + "\n", encoding="utf-8")
        tokenizer.save(str(new / TOKENIZER))
        _write_weights(network, new / MODEL)
        _write_predictor(predictor, folder, new)
        _write_classifier(classifier, folder, new)
        _replace(folder, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def load_checkpoint(folder: Path, device: str = "cpu") -> Checkpoint:
    """Everything in evaluation mode on the device, or CheckpointRefused."""
    config = check_checkpoint(folder)
    tokenizer = load_tokenizer(folder)
    if tokenizer.get_vocab_size() > config.vocabulary_size:
        raise CheckpointRefused(
            f"The checkpoint {folder} is refused: its tokenizer has {tokenizer.get_vocab_size():,} tokens, its network "
            f"knows {config.vocabulary_size:,}."
        )
    loaded = Checkpoint(_read_weights(build_network, config, folder / MODEL, device), tokenizer)
    if config.has_labels and (folder / PREDICTOR).exists():
        loaded.predictor = _read_weights(ResponsePredictor, config, folder / PREDICTOR, device)
    if config.has_labels and (folder / CLASSIFIER).exists():
        from generation.networks.emotion_classifier import EmotionClassifier  # takes seconds to import

        loaded.classifier = EmotionClassifier.load(str(folder / CLASSIFIER), device)
    return loaded


def read_output_weight(folder: Path) -> Tensor:
    """Of a checkpoint that was loaded before, and so is known to be whole."""
    with safe_open(folder / MODEL, framework="pt") as file:
        weight: Tensor = file.get_tensor("output.weight").float()
        return weight


def _write_weights(network: nn.Module, path: Path) -> None:
    weights = {name: tensor.detach().contiguous().cpu() for name, tensor in network.state_dict().items()}
    save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)  # for workers who run as someone else; the library writes for its own user alone


def _write_predictor(predictor: ResponsePredictor | None, folder: Path, new: Path) -> None:
    if predictor is not None:
        _write_weights(predictor, new / PREDICTOR)
    elif (folder / PREDICTOR).exists():
        shutil.copyfile(folder / PREDICTOR, new / PREDICTOR)


def _write_classifier(classifier: "EmotionClassifier | None", folder: Path, new: Path) -> None:
    if classifier is not None:
        classifier.save(new / CLASSIFIER)
    elif (folder / CLASSIFIER).exists():
        shutil.copytree(folder / CLASSIFIER, new / CLASSIFIER)


def _replace(folder: Path, new: Path) -> None:
    former = former_folder(folder)
    shutil.rmtree(former, ignore_errors=True)
    if folder.exists():
        folder.rename(former)
    new.rename(folder)
    shutil.rmtree(former, ignore_errors=True)


def _read_weights(build: Callable[[NetworkConfig], Network], config: NetworkConfig, path: Path, device: str) -> Network:
    try:
        weights = load_file(path)
    except (SafetensorError, OSError) as error:
        raise CheckpointRefused(f"{path} cannot be read: {error}") from error
    network = build_unfilled(lambda: build(config))
    _check_fits(network, weights, path)
    _check_are_finite(load_file(path), path)  # read apart, to be forgotten: not all of it is needed in memory
    weights = {name: tensor.float() for name, tensor in weights.items()}  # whatever precision they were saved in
    network.load_state_dict(weights, assign=True)
    return network.to(device).eval()


def _check_fits(network: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    if wrong:
        name = wrong[0]
        raise CheckpointRefused(
            f"{path} does not fit its config.json: {name} has shape {found.get(name, 'nothing')}, the config wants "
            f"{expected.get(name, 'nothing')} ({len(wrong)} such)."
        )
    for name, tensor in weights.items():
        if not tensor.is_floating_point():
            kind = str(tensor.dtype).removeprefix("torch.")
            raise CheckpointRefused(f"{path} is no network's: {name} holds {kind}, where fractions belong.")


def _check_are_finite(weights: dict[str, Tensor], path: Path) -> None:
    for name, tensor in weights.items():
        if not bool(tensor.float().isfinite().all()):
            raise CheckpointRefused(f"{path} is broken: {name} holds numbers that are not finite.")
