"""What to train, on what, from where: tokenizer, examples and network, new or of a checkpoint."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import Tokenizer

from generation.corpora.records import DialogRecord
from generation.networks.checkpoint import Checkpoint, build_network, load_checkpoint, save_checkpoint
from generation.networks.checkpoint_files import CLASSIFIER
from generation.networks.config import MEED2, NetworkConfig
from generation.networks.response_predictor import ResponsePredictor
from generation.networks.tokenizing import load_tokenizer, train_tokenizer
from generation.training.examples import LabelExamples, PairExamples
from generation.training.objectives import Objective, score_meed2, score_predictor, score_transformer
from generation.training.pairs import DataRefused, Pair, Source, pairs_of
from generation.training.settings import TrainingRefused
from generation.training.state import STATE
from generation.training.world import World

if TYPE_CHECKING:
    from generation.networks.emotion_classifier import EmotionClassifier

HELD_OUT_OF = 10  # one conversation of so many validates, where no validation data is named
Say = Callable[[str], None]


@dataclass(frozen=True)
class Data:
    training: Source
    validation: Source | None

    def training_records(self) -> Iterator[DialogRecord]:
        return (r for r in self.training.records() if self.validation is not None or not _is_held_out(r))

    def validation_records(self) -> Iterator[DialogRecord]:
        if self.validation is not None:
            return self.validation.records()
        return (record for record in self.training.records() if _is_held_out(record))


@dataclass(frozen=True)
class Plan:
    """`sizes` are those of NetworkConfig that were asked for; a checkpoint to start from has its own."""

    kind: str
    data: Data
    out: Path
    run_folder: Path
    start: str = ""  # a checkpoint's folder; for the classifier, any encoder of Hugging Face
    classifier: str = ""  # MEED2's, for turns without labels: a folder, or a name on the hub
    tokenizer: Path | None = None
    vocabulary_size: int = 8000
    sizes: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


def prepare_generator(plan: Plan, world: World, say: Say) -> Objective:
    start = load_checkpoint(Path(plan.start)) if plan.start else None
    classifier = _load_classifier(plan) or _inherited_classifier(plan, start)
    tokenizer = start.tokenizer if start else kept_tokenizer(plan, world, _spoken_texts(plan))
    config = _config(plan, start, tokenizer)
    training, validation = _examples(plan, tokenizer, config, say)
    torch.manual_seed(plan.seed)
    network = start.network if start else build_network(config)
    score = score_meed2 if plan.kind == MEED2 else score_transformer

    def save() -> None:
        save_checkpoint(plan.out, network, tokenizer, classifier=classifier)

    return Objective(network, training, validation, score, save)


def prepare_predictor(plan: Plan, world: World, say: Say) -> Objective:
    """MEED2's choice of the reply's label. It is trained for a generator that is there, and shares its tokenizer."""
    owner = load_checkpoint(plan.out)
    if owner.config.kind != MEED2:
        raise TrainingRefused(f"{plan.out} is a {owner.config.kind}; only meed2 predicts the reply's label.")
    classifier = _load_classifier(plan)
    start = load_checkpoint(Path(plan.start)) if plan.start else None
    if start and (start.predictor is None or start.tokenizer.to_str() != owner.tokenizer.to_str()):
        raise TrainingRefused(f"{plan.start} has no response predictor, or another tokenizer than {plan.out}.")
    config = _config(plan, owner, owner.tokenizer)
    training, validation = _examples(plan, owner.tokenizer, config, say, LabelExamples)
    torch.manual_seed(plan.seed)
    predictor = start.predictor if start and start.predictor else ResponsePredictor(config)

    def save() -> None:
        newest = load_checkpoint(plan.out)  # the generator may have been trained on meanwhile
        save_checkpoint(plan.out, newest.network, newest.tokenizer, predictor, classifier)

    return Objective(predictor, training, validation, score_predictor, save)


def put_classifier_in(plan: Plan) -> None:
    """Into a checkpoint that is there, and that this run may not have improved any more."""
    kept = load_checkpoint(plan.out)
    save_checkpoint(plan.out, kept.network, kept.tokenizer, classifier=_load_classifier(plan))


def _load_classifier(plan: Plan) -> "EmotionClassifier | None":
    if not plan.classifier:
        return None
    from generation.networks.emotion_classifier import EmotionClassifier  # takes seconds to import

    return EmotionClassifier.load(plan.classifier)


def _inherited_classifier(plan: Plan, start: Checkpoint | None) -> "EmotionClassifier | None":
    """Unless the checkpoint that is trained has one already: that of a run that goes on."""
    return None if start is None or (plan.out / CLASSIFIER).exists() else start.classifier


def kept_tokenizer(plan: Plan, world: World, texts: Iterable[str]) -> Tokenizer:
    """Kept in the run's folder, so that a run that goes on has the same one and need not train it again."""
    kept = plan.run_folder / "tokenizer.json"
    goes_on = kept.exists() and (plan.run_folder / STATE).exists()
    if world.is_first and not goes_on:
        tokenizer = load_tokenizer(plan.tokenizer) if plan.tokenizer else train_tokenizer(texts, plan.vocabulary_size)
        new = kept.with_suffix(".new")
        tokenizer.save(str(new))
        new.replace(kept)
    world.wait()
    return load_tokenizer(kept)


def describe_tokenizer(plan: Plan) -> str:
    """What a run that goes on must be told again. One of a folder is known by its content: the folder may be moved."""
    if plan.tokenizer is None:
        return f"of {plan.vocabulary_size} tokens, trained on the data"
    content = load_tokenizer(plan.tokenizer).to_str().encode()
    return f"taken from a folder, {hashlib.sha256(content).hexdigest()[:12]}"


def _spoken_texts(plan: Plan) -> Iterator[str]:
    """Each turn once: those of a context, but for the first, were replies before."""
    for pair in pairs_of(plan.data.training_records()):
        yield from pair.turns if len(pair.turns) == 1 else ()
        yield pair.reply


def _config(plan: Plan, start: Checkpoint | None, tokenizer: Tokenizer) -> NetworkConfig:
    if start is None:
        return NetworkConfig(kind=plan.kind, vocabulary_size=tokenizer.get_vocab_size(), **plan.sizes)
    if start.config.kind != plan.kind:
        raise TrainingRefused(f"{plan.start} is a {start.config.kind}, so it can't be gone on with as a {plan.kind}.")
    for name, size in plan.sizes.items():
        if getattr(start.config, name) != size:
            option = f"--{name.replace('_', '-')}"
            raise TrainingRefused(
                f"The checkpoint has {name} {getattr(start.config, name)} and stays so; leave {option} out."
            )
    return start.config


def _examples(
    plan: Plan, tokenizer: Tokenizer, config: NetworkConfig, say: Say, build: type[PairExamples] = PairExamples
) -> tuple[PairExamples, PairExamples]:
    found: list[PairExamples] = []
    for name, records, source in (
        ("training", plan.data.training_records, plan.data.training),
        ("validation", plan.data.validation_records, plan.data.validation or plan.data.training),
    ):
        pairs: Iterator[Pair] = pairs_of(records())
        try:
            examples = build(pairs, tokenizer, config.max_tokens)
        except DataRefused as error:
            raise DataRefused(f"The {name} data of {source} can't be used: {error}") from error
        if config.has_labels and examples.unlabelled == len(examples):
            raise DataRefused(f"{source} has no labels, which meed2 needs; label_dialogs adds them.")
        say(_described(name, examples, source, config))
        found.append(examples)
    return found[0], found[1]


def _described(name: str, examples: PairExamples, source: Source, config: NetworkConfig) -> str:
    unlabelled = examples.unlabelled if config.has_labels else 0
    asides = [
        f"{source.rejected:,} lines rejected" if source.rejected else "",
        f"{unlabelled:,} without a label taken as neutral" if unlabelled else "",
        f"{examples.contexts_cut:,} contexts cut to {config.max_tokens} tokens" if examples.contexts_cut else "",
    ]
    return "; ".join([f"{name}: {len(examples):,} replies", *filter(None, asides)]) + "."


def _is_held_out(record: DialogRecord) -> bool:
    """By conversation, so that no turn of one is on both sides."""
    conversation = str(record.source.get("conv_id") or record.turns[0])
    return zlib.crc32(conversation.encode()) % HELD_OUT_OF == 0
