"""List the families of our own networks, a line for each. CONTRIBUTING.md says how to add one.

A family's own file imports torch, which web processes must not. So the line also holds what they and the commands have
to know of a family before it is loaded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from generation.emotions import LABELS, MOEL_EMOTIONS
from generation.networks.empathy_config import EMPATHY_DEFAULTS

if TYPE_CHECKING:
    from generation.networks.family import Family
    from generation.training.plan import Plan
    from generation.training.train import Trainable

GENERATOR = "generator"


@dataclass(frozen=True)
class Option:
    """An option of train_generator that only some families have. One that its config has, too, is stored there."""

    default: Any  # its type is the option's
    about: str
    is_file: bool = False  # a run is resumed with the same content, wherever the file is now


@dataclass(frozen=True)
class FamilyLine:
    place: str  # "module:Class"
    about: str  # what it is, in the words of docs/generating.md
    parts: Mapping[str, str] = field(default_factory=lambda: {GENERATOR: "which writes replies"})
    """Parts that train_generator trains, each with its purpose. Later parts go into the checkpoint of the first."""
    parts_to_spare: tuple[str, ...] = ()  # those without which a checkpoint answers, too
    takes: Mapping[str, str] = field(default_factory=dict)
    """Folders or files that train_generator puts into the checkpoint: the name of the option, and what it is."""
    sizes: tuple[str, ...] = ()  # options of train_generator beside those of NetworkConfig; whole numbers
    options: Mapping[str, Option] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)  # of options that all families have
    labels: tuple[str, ...] = LABELS  # those that config.json must have
    is_told_labels: bool = False  # whether a reply's label can be forced
    is_generator: bool = True  # False: it can be trained, but does not answer dialogs
    check_settings: str = "generation.decoding.decoding_settings:check_decoding"
    """A function (settings, longest reply, size of the vocabulary) -> settings with defaults. It imports no torch."""


_LABELLER = {
    "labeller": "a file of train_labeller, or a fastText model: its label is put before what the network reads"
}
_WORDS = {
    "minimum_count": Option(1, "leave out words that occur less often in the training data"),
    "vectors": Option("", "start from the word vectors of this file, in word2vec's or GloVe's form", is_file=True),
}
_WITHOUT = {"without": Option("", "leave a part of the network out, as an ablation of its paper does")}
_OF_EMPDG = {
    "lexicon": Option("", "a file of emotion words, one a line; adjectives count in any case", is_file=True),
    "discriminator_steps": Option(1000, "batches for the discriminators alone, before turns are taken"),
}
_EMOTION_WEIGHT = {"emotion_weight": Option(1.0, "how much recognising the emotion counts beside the words")}


def _empathy_line(
    place: str,
    about: str,
    options: Mapping[str, Option] = _WORDS | _EMOTION_WEIGHT,
    sizes: tuple[str, ...] = (),
    **more: Any,
) -> FamilyLine:
    """The line of a family that shares the files empathy_*.py: words, layers, 32 emotions, schedule."""
    return FamilyLine(
        place,
        about,
        sizes=("attention_width", *sizes),
        options=options,
        defaults=EMPATHY_DEFAULTS,
        labels=MOEL_EMOTIONS,
        check_settings="generation.networks.empathy_config:check_empathy_decoding",
        **more,
    )


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
        defaults={"vocabulary": 250_000, "learning_rate": 8e-4, "max_epochs": 10},
        labels=(),
        check_settings="generation.networks.reply_pool:check_no_settings",
    ),
    "retrieval-hf": FamilyLine(
        "generation.networks.retrieval_hf:EncoderRetrievalFamily",
        "chooses a reply of the training data, by two encoders of Hugging Face",
        takes=_LABELLER,
        sizes=("context_turns", "vector"),
        defaults={"learning_rate": 1e-5, "batch_size": 256, "patience": 10},
        labels=(),
        check_settings="generation.networks.reply_pool:check_no_settings",
    ),
    "trs": _empathy_line(
        "generation.networks.trs:TrsFamily", "the Transformer with which MoEL and MIME were compared", options=_WORDS
    ),
    "multi-tr": _empathy_line(
        "generation.networks.multi_tr:MultiTrFamily", "the same, trained to recognise the dialog's emotion, too"
    ),
    "moel": _empathy_line(
        "generation.networks.moel:MoelFamily",
        "MoEL: a listener for each emotion, mixed as the dialog's emotion is recognised",
        sizes=("mixed_listeners",),
    ),
    "mime": _empathy_line(
        "generation.networks.mime:MimeFamily",
        "MIME: mixes positive and negative emotions, and mimics the polarity of the speaker's",
        options=_WORDS | _WITHOUT,
    ),
    "empdg": _empathy_line(
        "generation.networks.empdg:EmpdgFamily",
        "EmpDG: reads emotion words apart, copies words, and learns from the feedback to replies",
        parts={GENERATOR: "which writes replies", "discriminators": "against which the generator is trained further"},
        parts_to_spare=("discriminators",),
        options=_WORDS | _WITHOUT | _OF_EMPDG,
    ),
    "emotion-classifier": FamilyLine(
        "generation.networks.emotion_classifier:EmotionClassifierFamily",
        "names the emotion or intent of a turn",
        parts={"emotion-classifier": "which labels turns"},
        is_generator=False,
    ),
}


def option_of(plan: "Plan", name: str) -> Any:
    """Return an option of the family that is being trained: the one that was given, or its default."""
    return plan.options.get(name, FAMILIES[plan.kind].options[name].default)


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
