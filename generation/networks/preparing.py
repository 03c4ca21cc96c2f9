"""Prepare a training run: tokenizer, examples and network, new or from a checkpoint. The families share this code."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import torch
from tokenizers import Tokenizer

from evalplatform.wording import count_of
from generation.corpora.import_records import DialogRecord
from generation.errors import DataRefused, TrainingRefused
from generation.networks.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from generation.networks.families import FAMILIES
from generation.networks.family import Family, HasTokenizer
from generation.networks.labeller import LABELLER, Labeller
from generation.networks.network_config import NetworkConfig
from generation.networks.pair_examples import PairExamples
from generation.training.context_pairs import Source, pairs_of
from generation.training.objective import Examples, Objective, Score
from generation.training.plan import Plan, Say
from generation.training.state import STATE
from generation.training.world import World


class CountedExamples(Examples, Protocol):
    """Examples that also count what is unusual about them."""

    unlabelled: int
    contexts_cut: int
    about_unlabelled: str
    about_no_labels: str


@dataclass(frozen=True)
class LabelledPairs:
    """Makes examples whose context has a label before it."""

    labeller: Labeller

    def from_records(self, records: Iterable[DialogRecord], tokenizer: Tokenizer, max_tokens: int) -> PairExamples:
        return PairExamples(pairs_of(records), tokenizer, max_tokens, self.labeller)


class ExamplesClass(Protocol):
    def from_records(
        self, records: Iterable[DialogRecord], tokenizer: Tokenizer, max_tokens: int
    ) -> CountedExamples: ...


def spoken_texts(records: Iterable[DialogRecord]) -> Iterator[str]:
    """Yield each turn once. All turns of a context but the first were replies in earlier pairs."""
    for pair in pairs_of(records):
        yield from pair.turns if len(pair.turns) == 1 else ()
        yield pair.reply


@dataclass(frozen=True)
class Recipe:
    """What a family says about the training of its network."""

    score: Score  # of validation, and of training unless there is another one
    training_score: Score | None = None
    examples: ExamplesClass = PairExamples
    texts: Callable[[Iterable[DialogRecord]], Iterator[str]] = spoken_texts  # what a tokenizer is trained on
    needs_labels: bool = False  # refuse data without any labels
    objective: Callable[..., Objective] = Objective
    identity: Mapping[str, Any] = field(default_factory=dict)  # what must not change when a run is resumed
    begin: Callable[[Any, Tokenizer], dict[str, Any]] = lambda network, tokenizer: {}
    """Change a new network before it is trained; return what else must not change when the run is resumed."""


def prepare_generator(family: Family, recipe: Recipe, plan: Plan, world: World, say: Say) -> Objective:
    """Prepare a network that learns to write the reply, from pairs of a context and a reply."""
    start = load_checkpoint(Path(plan.start)) if plan.start else None
    taken = taken_parts(family, plan)
    parts = {**_inherited_parts(family, plan, start), **taken}
    tokenizer = (
        start.tokenizer if start else stored_tokenizer(family, plan, world, recipe.texts(plan.data.training_records()))
    )
    config = config_for(family, plan, start, tokenizer)
    labeller = parts.get(LABELLER)
    examples = LabelledPairs(labeller) if labeller else recipe.examples
    training, validation = pair_examples(plan, tokenizer, config, say, examples, recipe.needs_labels)
    torch.manual_seed(plan.seed)
    network = start.network if start else family.build(config)
    identity = dict(recipe.identity)
    if not start:
        identity |= {"tokenizer": describe_tokenizer(family, plan), **recipe.begin(network, tokenizer)}

    return recipe.objective(
        network,
        training,
        validation,
        recipe.score,
        training_score=recipe.training_score,
        save=lambda: save_checkpoint(plan.out, network, tokenizer, parts),
        identity=identity | {"sizes": asdict(config)},
        finish=lambda: put_parts_in(plan, taken),
    )


def taken_parts(family: Family, plan: Plan) -> dict[str, Any]:
    return {name: family.take(name, place) for name, place in plan.takes.items()}


def put_parts_in(plan: Plan, taken: dict[str, Any]) -> None:
    """Put the given parts into the checkpoint, even if this run did not improve it and so did not save it."""
    if taken:
        saved = load_checkpoint(plan.out)
        save_checkpoint(plan.out, saved.network, saved.tokenizer, taken)


def _inherited_parts(family: Family, plan: Plan, start: Checkpoint | None) -> dict[str, Any]:
    """Return parts that were given to the checkpoint from which we start, unless the trained one has its own
    already."""
    if start is None:
        return {}
    given = FAMILIES[plan.kind].takes
    return {
        name: part
        for name, part in start.parts.items()
        if name in given and not (plan.out / family.parts[name].file).exists()
    }


def stored_tokenizer(family: HasTokenizer, plan: Plan, world: World, texts: Iterable[str]) -> Tokenizer:
    """Return the run's tokenizer. It is stored in the run's folder, so that a resumed run has the same one and need not
    train it again."""
    path = plan.run_folder / "tokenizer.json"
    is_resumed = path.exists() and (plan.run_folder / STATE).exists()
    if world.is_first and not is_resumed:
        tokenizer = family.load_tokenizer(plan.tokenizer) if plan.tokenizer else family.train_tokenizer(texts, plan)
        new = path.with_suffix(".new")
        tokenizer.save(str(new))
        new.replace(path)
    world.wait()  # the first process writes it, all read it
    return family.load_tokenizer(path)


def describe_tokenizer(family: HasTokenizer, plan: Plan) -> str:
    """Describe the tokenizer, to notice if a run is resumed with another one. A tokenizer from a folder is described by
    its content, because the folder may be moved."""
    if plan.tokenizer is None:
        return f"of {plan.vocabulary_size} tokens, trained on the data"
    content = family.load_tokenizer(plan.tokenizer).to_str().encode()
    return f"taken from a folder, {hashlib.sha256(content).hexdigest()[:12]}"


def config_for(family: Family, plan: Plan, start: Checkpoint | None, tokenizer: Tokenizer, **own: Any) -> NetworkConfig:
    """Return the config of the checkpoint from which we start, or a new one, with the family's own values in it."""
    if start is None:
        sizes = _sizes(family, plan) | own
        return family.config_class(kind=plan.kind, vocabulary_size=tokenizer.get_vocab_size(), **sizes)
    if start.config.kind != plan.kind:
        raise TrainingRefused(
            f"{plan.start} is a {start.config.kind}, so it can't be trained further as a {plan.kind}."
        )
    for name, size in _sizes(family, plan).items():
        if getattr(start.config, name) != size:
            option = f"--{name.replace('_', '-')}"
            raise TrainingRefused(
                f"The checkpoint has {name} {getattr(start.config, name)} and stays so; leave {option} out."
            )
    return start.config


def _sizes(family: Family, plan: Plan) -> dict[str, Any]:
    """Return the sizes of a new network, and those options that its config stores."""
    stored = {one.name for one in fields(family.config_class)}
    return plan.sizes | {name: value for name, value in plan.options.items() if name in stored}


def pair_examples(
    plan: Plan, tokenizer: Tokenizer, config: NetworkConfig, say: Say, build: ExamplesClass, needs_labels: bool
) -> tuple[CountedExamples, CountedExamples]:
    """Return training and validation examples, and say what is unusual about them."""
    found: list[CountedExamples] = []
    for name, records, source in (
        ("training", plan.data.training_records, plan.data.training),
        ("validation", plan.data.validation_records, plan.data.validation or plan.data.training),
    ):
        try:
            examples = build.from_records(records(), tokenizer, config.max_tokens)
        except DataRefused as error:
            raise DataRefused(f"The {name} data of {source} can't be used: {error}") from error
        if needs_labels and examples.unlabelled == len(examples):
            raise DataRefused(f"{source} {examples.about_no_labels.format(kind=plan.kind)}.")
        say(_describe_examples(name, examples, source, config.max_tokens, needs_labels))
        found.append(examples)
    return found[0], found[1]


def _describe_examples(
    name: str, examples: CountedExamples, source: Source, max_tokens: int, needs_labels: bool
) -> str:
    unlabelled = examples.unlabelled if needs_labels else 0
    asides = [
        f"{count_of(source.rejected, 'line')} rejected" if source.rejected else "",
        f"{unlabelled:,} {examples.about_unlabelled}" if unlabelled else "",
        f"{count_of(examples.contexts_cut, 'context')} cut to {max_tokens} tokens" if examples.contexts_cut else "",
    ]
    return "; ".join([f"{name}: {count_of(len(examples), 'reply', 'replies')}", *filter(None, asides)]) + "."
