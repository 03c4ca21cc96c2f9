"""The cast of the tests of TRS, Multi-TR, MoEL and their kin: small ones, their words, and contexts for them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from generation.networks.checkpoint import save_checkpoint
from generation.networks.empathy_family import EmpathyFamily
from generation.networks.empathy_network import EmpathyNetwork
from generation.networks.empathy_words import END, train_words
from generation.networks.families import load_family

KINDS = ["trs", "multi-tr", "moel"]
SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 6, "attention_width": 8, "max_tokens": 60}
TURNS = ("I lost my keys again.", "Oh no! Where did you look?", "Everywhere, but they're gone.")


def small_words(kind: str = "trs") -> Tokenizer:
    texts = [*TURNS, "so sad that it hurts", "what a pity , my friend", "you will find them soon !"]
    return train_words(texts, 999, 1, special_words_of(kind))


def special_words_of(kind: str) -> Sequence[str]:
    family = load_family(kind)
    assert isinstance(family, EmpathyFamily)
    return family.special_words


def small_network(kind: str, *, seed: int = 0, spread: float = 0.5, end: float = 2.0, **sizes: Any) -> EmpathyNetwork:
    """With weights spread so far that contexts get different replies."""
    torch.manual_seed(seed)
    family = load_family(kind)
    words = small_words(kind).get_vocab_size()
    network = family.build(family.config_class(kind=kind, vocabulary_size=words, **SMALL | sizes))
    assert isinstance(network, EmpathyNetwork)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=spread)
        network.output.bias[END] += end
    return network.eval()


def save_small(kind: str, folder: Path, **how: Any) -> Path:
    save_checkpoint(folder, small_network(kind, **how), small_words(kind))
    return folder


def edit_config(folder: Path, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text()) | values
    (folder / "config.json").write_text(json.dumps(config))
