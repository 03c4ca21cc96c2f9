"""List the families of our own networks, a line for each. CONTRIBUTING.md says how to add one.

A family's own file imports torch, which web processes must not. So the line also holds what they and the commands have
to know of a family before it is loaded.
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
    """Parts that train_generator trains, each with its purpose. Later parts go into the checkpoint of the first."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """Folders or files that train_generator puts into the checkpoint: the name of the option, and what it is."""
    sizes: tuple[str, ...] = ()  # options of train_generator beside those of NetworkConfig; whole numbers
    labels: tuple[str, ...] = LABELS  # those that config.json must have
    is_told_labels: bool = False  # whether a reply's label can be forced
    is_generator: bool = True  # False: it can be trained, but does not answer dialogs
    check_settings: str = "generation.decoding.decoding_settings:check_decoding"
    """A function (settings, longest reply, size of the vocabulary) -> settings with defaults. It imports no torch."""


_LABELLER = {
    "labeller": "a file of train_labeller, or a fastText model: its label is put before what the network reads"
}

FAMILIES: dict[str, FamilyLine] = {
    "transformer": FamilyLine(
        "generation.networks.transformer:TransformerFamily",
        "the paper's full Transformer; pre-trained, fine-tuned and raw are checkpoints of it",
        takes=_LABELLER,
    ),
    "meed2": FamilyLine(
        "generation.networks.meed2:Meed2Family",
        "MEED2: emotions of the turns, a predicted (or forced) emotion or intent of the reply",
        parts={GENERATOR: "which writes replies", "predictor": "which chooses the emotion or intent to reply in"},
        takes={"classifier": "an emotion classifier, which labels turns that come without an emotion or intent"},
        is_told_labels=True,
    ),
    "retrieval": FamilyLine(
        "generation.networks.retrieval:RetrievalFamily",
        "chooses a reply of the training data, by two Transformer encoders",
        takes=_LABELLER,
        sizes=("context_turns",),
        labels=(),
        check_settings="generation.networks.reply_pool:check_no_settings",
    ),
    "retrieval-hf": FamilyLine(
        "generation.networks.retrieval_hf:EncoderRetrievalFamily",
        "chooses a reply of the training data, by two encoders of Hugging Face",
        takes=_LABELLER,
        sizes=("context_turns", "vector"),
        labels=(),
        check_settings="generation.networks.reply_pool:check_no_settings",
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
    family: Family = _import_object(FAMILIES[name].place)()
    return family


def load_trainable(name: str) -> "Trainable":
    """Import the file of any family, to train it."""
    family: Trainable = _import_object(FAMILIES[name].place)()
    return family


def check_family_settings(name: str, settings: dict[str, Any], max_tokens: int, vocabulary_size: int) -> dict[str, Any]:
    check: Callable[[dict[str, Any], int, int], dict[str, Any]] = _import_object(FAMILIES[name].check_settings)
    return check(settings, max_tokens, vocabulary_size)


def _import_object(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
