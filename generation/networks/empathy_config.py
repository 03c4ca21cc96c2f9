"""Define the sizes, options and decoding defaults that TRS, Multi-TR, MoEL, MIME and EmpDG share.

This file imports no torch, so that web pages and commands can check a checkpoint and its settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from generation.decoding.decoding_settings import check_decoding
from generation.networks.network_config import NetworkConfig

LONGEST_REPLY = 51  # tokens, as in the published code; longer ones can be asked for


@dataclass(frozen=True)
class EmpathyConfig(NetworkConfig):
    """The defaults are those of the MoEL and MIME papers."""

    heads: int = 2
    layers: int = 2
    feed_forward: int = 50  # inner vectors of the convolutional feed-forward
    max_tokens: int = 1000
    dropout: float = 0.0  # the published code has dropout 0 everywhere
    attention_width: int = 40  # of all heads together

    def _problems(self) -> list[str]:
        problems = super()._problems()
        if problems:
            return problems
        size = self.attention_width
        if not isinstance(size, int) or isinstance(size, bool) or size < 1 or size % self.heads:
            problems.append(f"attention_width is {size!r}, not a multiple of {self.heads} heads")
        if self.width % 2:
            problems.append(f"width {self.width} is odd, but half of the position's numbers are sines, half cosines")
        if self.dropout:
            problems.append(f"dropout is {self.dropout}, but this kind of network has none")
        return problems


EMPATHY_DEFAULTS: Mapping[str, Any] = {
    "vocabulary": 1_000_000,  # all words of the training data
    "learning_rate": (300 * 8000) ** -0.5,  # the highest rate of the papers' schedule, reached after the warm-up
    "warmup_steps": 8000,
    "batch_size": 16,
    "validate_every": 2000,
}


def check_empathy_decoding(values: dict[str, Any], longest_reply: int, vocabulary_size: int) -> dict[str, Any]:
    """Return the settings with the defaults of these papers: beam 5 by summed log-probability, no n-gram blocking."""
    defaults = {
        "beams": 5,
        "groups": 5,
        "length_penalty": 0.0,
        "no_repeat_ngram": 0,
        "max_tokens": min(LONGEST_REPLY, longest_reply),
    }
    return check_decoding(values, longest_reply, vocabulary_size, defaults)
