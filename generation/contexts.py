"""Define the context that a generator gets and the reply that it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Context:
    """What a generator may know about a dialog."""

    turns: tuple[str, ...]  # oldest first; speaker 1 begins
    turn_labels: tuple[str, ...] = ()  # one emotion or intent for each turn, or () if they are unknown
    gold: str = ""  # the human reply; only `reference` may read it
    forced_label: str = ""  # the reply should have this emotion or intent
    emotion: str = ""  # the dialog's own; only what is said to be told it may read it


@dataclass(frozen=True)
class Reply:
    text: str  # "" if there is a failure
    label: str = ""  # the predicted (or forced) emotion or intent
    score: float | None = None  # its meaning depends on the kind, for instance log-probability / length^penalty
    turns_cut: int = 0  # how many of the oldest turns did not fit
    failure: str = ""  # why there is no text: "empty", "endless", "not text", or a sentence
    thoughts: str = ""  # what a reasoning model wrote before its reply; stored, and never shown to workers
    source: Mapping[str, Any] = field(default_factory=dict)  # the dialog and turn that a retrieved reply was taken from


Answer = Reply | Exception  # GeneratorUnavailable means that the server did not answer this question
