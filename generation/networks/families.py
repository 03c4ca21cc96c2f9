"""The one list of families of networks: a line for each. CONTRIBUTING.md says how to add one.

A family's own file imports torch, which web processes must not. What they and the commands have to know of a family
before it is loaded therefore stands here, with its line.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from generation.emotions import LABELS

if TYPE_CHECKING:
    from generation.networks.family import Family
    from generation.training.train import Trainable

GENERATOR = "generator"


@dataclass(frozen=True)
class FamilyLine:
    place: str  # "module:Class"
    about: str  # what it is, in the words of docs/generating.md
    parts: Mapping[str, str] = field(default_factory=lambda: {GENERATOR: "which writes replies"})
    """What train_generator trains, and why a checkpoint needs it. Later parts go into the checkpoint of the first."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """Folders that train_generator puts into the checkpoint: the option's name, and what it is good for."""
    sizes: tuple[str, ...] = ()  # options of train_generator beside those of NetworkConfig; whole numbers
    labels: tuple[str, ...] = LABELS  # as config.json has them
    is_told_labels: bool = False  # whether a reply's label can be forced
    is_generator: bool = True  # False: it can be trained, and answers nobody
    check_settings: str = "generation.decoding.decoding_settings:check_decoding"
    """(settings, longest reply, size of the vocabulary) -> settings with their defaults. Without torch."""


FAMILIES: dict[str, FamilyLine] = {
    "transformer": FamilyLine(
        "generation.networks.transformer:TransformerFamily",
        "the paper's full Transformer; pre-trained, fine-tuned and raw are checkpoints of it",
    ),
    "meed2": FamilyLine(
        "generation.networks.meed2:Meed2Family",
        "MEED2: emotions of the turns, a predicted (or forced) emotion or intent of the reply",
        parts={GENERATOR: "which writes replies", "predictor": "which chooses the emotion or intent to reply in"},
        takes={"classifier": "an emotion classifier, which labels turns that come without an emotion or intent"},
        is_told_labels=True,
    ),
    "emotion-classifier": FamilyLine(
        "generation.networks.emotion_classifier:EmotionClassifierFamily",
        "names the emotion or intent of a turn",
        parts={"emotion-classifier": "which labels turns"},
        is_generator=False,
    ),
}


def generating_families() -> list[str]:
    return [name for name, line in FAMILIES.items() if line.is_generator]


def load_family(name: str) -> "Family":
    """Import the file of a family of generators, and torch with it."""
    family: Family = _found(FAMILIES[name].place)()
    return family


def load_trainable(name: str) -> "Trainable":
    """The same, for families that only have to be trained."""
    family: Trainable = _found(FAMILIES[name].place)()
    return family


def check_family_settings(name: str, settings: dict[str, Any], max_tokens: int, vocabulary_size: int) -> dict[str, Any]:
    check: Callable[[dict[str, Any], int, int], dict[str, Any]] = _found(FAMILIES[name].check_settings)
    return check(settings, max_tokens, vocabulary_size)


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
