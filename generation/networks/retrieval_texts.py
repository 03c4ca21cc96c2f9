"""Turn contexts and replies into the token ids that a retrieval network reads, and hold its config.

In: turns and replies as text. Out: token ids. Guaranteed: of a context that is too long, the newest tokens are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenizers import Tokenizer

from generation.networks.labeller import Labeller, label_ids
from generation.networks.network_config import NetworkConfig

UNKNOWN_WORDS = {"<unk>", "[UNK]"}


@dataclass(frozen=True)
class RetrievalConfig(NetworkConfig):
    """Defaults are those of Rashkin et al. (2019) and their code."""

    dropout: float = 0.0
    context_turns: int = 4  # the newest turns, which are read
    pad: int = 1
    begin: list[int] = field(default_factory=list)  # tokens before each text
    joint: list[int] = field(default_factory=list)  # between turns
    end: list[int] = field(default_factory=list)  # after each text


@dataclass(frozen=True)
class RetrievalTexts:
    """With a labeller, the label of a context or reply stands before it. It takes no room, and is never in the text."""

    tokenizer: Tokenizer
    config: RetrievalConfig
    labeller: Labeller | None = None

    def context(self, turns: Sequence[str]) -> tuple[list[int], int]:
        """Return the ids of the newest turns, and how many of the oldest turns were left out or cut."""
        ids: list[int] = []
        whole = 0
        newest = turns[-self.config.context_turns :]
        for turn in reversed(newest):
            ids = self._encode(turn) + (self.config.joint + ids if ids else [])
            whole += len(ids) <= self._room
        return self._finish(newest, ids[-self._room :]), len(turns) - whole

    def reply(self, text: str) -> list[int]:
        return self._finish([text], self._encode(text)[: self._room])

    def count_known(self, text: str) -> int:
        """Return the number of tokens, or 0 if one is unknown."""
        tokens = self.tokenizer.encode(text, add_special_tokens=False).tokens
        return 0 if UNKNOWN_WORDS.intersection(tokens) else len(tokens)

    @property
    def _room(self) -> int:
        return self.config.max_tokens - len(self.config.begin) - len(self.config.end)

    def _finish(self, texts: Sequence[str], ids: list[int]) -> list[int]:
        label = label_ids(self.tokenizer, self.labeller, texts)
        return self.config.begin + label + ids + self.config.end

    def _encode(self, text: str) -> list[int]:
        """A text that someone typed may be the pad token itself; the network must not take it for padding."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return [number for number in ids if number != self.config.pad]
