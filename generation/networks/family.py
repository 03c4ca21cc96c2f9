"""Define what a family of networks is: everything that the rest of the code may ask of it.

A family is one file of this folder. It holds its config, network, the encoder of its contexts, the named parts of its
checkpoint, its labels, tokenizer and special tokens, its objectives and its decoder, or builds them from the shared
files beside it. families.py lists it; nothing else names it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from torch import nn

from generation.contexts import Context, Reply
from generation.networks.network_config import NetworkConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from generation.networks.checkpoint import Checkpoint
    from generation.training.objective import Objective
    from generation.training.plan import Plan, Say
    from generation.training.world import World


class Part(Protocol):
    """Stores a named part of a checkpoint, beside its network."""

    @property
    def file(self) -> str:
        """Return the name of its file or folder."""
        ...

    def write(self, part: Any, path: Path) -> None: ...
    def read(self, config: NetworkConfig, path: Path, device: str) -> Any: ...


class Answerer(Protocol):
    """A loaded checkpoint that answers. It has `score_gold`, `match_replies` and `rank_emotions`, too, if the family
    says so."""

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]: ...


class HasTokenizer(Protocol):
    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> "Tokenizer": ...
    def load_tokenizer(self, path: Path) -> "Tokenizer": ...


class Family(ABC):
    config_class: ClassVar[type[NetworkConfig]] = NetworkConfig
    parts: ClassVar[Mapping[str, Part]] = {}
    has_likelihood: ClassVar[bool] = False  # its Answerer has score_gold, for perplexity
    matches_replies: ClassVar[bool] = False  # its Answerer has match_replies, for P@1,100
    is_told_polarity: ClassVar[bool] = False  # it also has score_gold_told_polarity, for another perplexity

    @abstractmethod
    def build(self, config: NetworkConfig) -> nn.Module:
        """Return a new network. It has the attribute `config`."""

    @abstractmethod
    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> "Tokenizer": ...

    @abstractmethod
    def load_tokenizer(self, path: Path) -> "Tokenizer":
        """Read tokenizer.json, from this file or folder, or raise CheckpointRefused."""

    @abstractmethod
    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> "Objective":
        """Return what training needs to know about this part: examples, network, loss, and how to save it.

        Import modules that only training needs in here, because processes that answer should not load them.
        """

    def take(self, name: str, place: str) -> Any:
        """Load a part that is given to train_generator by its folder or name (`FamilyLine.takes`)."""
        raise NotImplementedError(f"{type(self).__name__} takes no {name}.")

    @abstractmethod
    def answerer(self, checkpoint: "Checkpoint", settings: dict[str, Any]) -> Answerer: ...

    def make_fast(self, checkpoint: "Checkpoint", folder: Path) -> None:
        """Prepare a checkpoint that only answers from here on. `folder` is where it was loaded from."""
        return

    def can_rank_emotions(self, folder: Path) -> bool:
        """Return whether the Answerer of this checkpoint has `rank_emotions`. This must not load anything."""
        return False
