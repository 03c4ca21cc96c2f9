"""List the decoding methods (beam, top-k, nucleus, ...) with their defaults, and check their settings.

This file imports no torch, because web pages check settings, too.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from generation.errors import SettingsRefused

BEAM = "beam"
DIVERSE_BEAM = "diverse-beam"
GREEDY = "greedy"
TOP_K = "top-k"
NUCLEUS = "nucleus"

_BEAMS = ("beams", "length_penalty")
_OF_METHOD = {
    BEAM: _BEAMS,
    DIVERSE_BEAM: (*_BEAMS, "groups", "diversity"),
    GREEDY: (),
    TOP_K: ("top_k", "temperature"),
    NUCLEUS: ("top_p", "temperature"),
}
_OF_ALL = ("method", "no_repeat_ngram", "max_tokens")
_RANGES: tuple[tuple[tuple[str, ...], type | tuple[type, ...], float, float], ...] = (
    (("no_repeat_ngram",), int, 0, 100),
    (("beams", "groups"), int, 1, 1000),
    (("top_k",), int, 1, 1_000_000),
    (("length_penalty",), (int, float), -10, 10),
    (("diversity",), (int, float), 0, 100),
    (("top_p",), (int, float), 0.000001, 1),
    (("temperature",), (int, float), 0.001, 100),
)


@dataclass(frozen=True)
class DecodingSettings:
    """The defaults are those of the MEED2 paper."""

    method: str = BEAM
    no_repeat_ngram: int = 4  # a reply never has the same four tokens in a row twice; 0 allows that
    max_tokens: int = 100  # of a reply, including its end token
    beams: int = 32
    length_penalty: float = 1.0  # log-probability / length ^ this
    groups: int = 4  # for diverse beams; each group avoids the tokens that earlier groups have just chosen
    diversity: float = 0.5
    top_k: int = 40
    top_p: float = 0.9
    temperature: float = 1.0

    @classmethod
    def from_json(cls, values: dict[str, Any], longest_reply: int, defaults: Mapping[str, Any]) -> Self:
        """Refuse settings that are unknown, out of range, or belong to another method."""
        method = values.get("method", BEAM)
        if method not in _OF_METHOD:
            raise SettingsRefused(f"method is {method!r}; the methods are {', '.join(_OF_METHOD)}.")
        allowed = (*_OF_ALL, *_OF_METHOD[method])
        for name in values:
            if name not in allowed:
                raise SettingsRefused(f"{method} has no setting named {name!r}; its settings are {', '.join(allowed)}.")
        settings = cls(**{"max_tokens": longest_reply, **defaults, **values})
        settings._check(longest_reply)
        return settings

    def as_json(self) -> dict[str, Any]:
        """Return the settings that the method uses, with their defaults."""
        allowed = (*_OF_ALL, *_OF_METHOD[self.method])
        return {name: value for name, value in asdict(self).items() if name in allowed}

    def _check(self, longest_reply: int) -> None:
        _check_number("max_tokens", self.max_tokens, int, 1, longest_reply)
        for names, kind, least, most in _RANGES:
            for name in names:
                _check_number(name, getattr(self, name), kind, least, most)
        if self.method == DIVERSE_BEAM and self.beams % self.groups:
            raise SettingsRefused(f"{self.beams} beams can't be split into {self.groups} equal groups.")


def _check_number(name: str, value: Any, kind: type | tuple[type, ...], least: float, most: float) -> None:
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise SettingsRefused(f"{name} is {value!r}; it must be a number from {least:,} to {most:,}.")


def check_decoding(
    values: dict[str, Any], longest_reply: int, vocabulary_size: int, defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the settings with their defaults, or raise SettingsRefused. A family may have other defaults."""
    settings = DecodingSettings.from_json(values, longest_reply, defaults or {})
    if settings.method in (BEAM, DIVERSE_BEAM) and 2 * settings.beams > vocabulary_size:
        raise SettingsRefused(f"{settings.beams} beams are too many for {vocabulary_size} tokens.")
    return settings.as_json()
