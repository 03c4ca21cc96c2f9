"""manage.py train_generator: train one of our own networks on dialogs."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from generation.corpora.formats import dialog_formats
from generation.errors import TrainingRefused
from generation.management.training_report import ConsoleReport, SilentReport
from generation.networks.families import FAMILIES, load_trainable
from generation.networks.network_config import NetworkConfig
from generation.training.history import CURVES, run_folder
from generation.training.options import TrainingSettings

_OWN_SIZES = list(dict.fromkeys(name for line in FAMILIES.values() for name in line.sizes))
_OPTIONS = {name: option for line in FAMILIES.values() for name, option in line.options.items()}
_SIZES = [field.name for field in fields(NetworkConfig) if field.name not in ("kind", "vocabulary_size")] + _OWN_SIZES
_TAKEN = {name: what for line in FAMILIES.values() for name, what in line.takes.items()}
_PARTS = {part: what for line in FAMILIES.values() for part, what in line.parts.items()}
_HELP = {
    "learning_rate": "the learning rate of Adam",
    "warmup_steps": "steps over which the learning rate rises to its value",
    "batch_size": "replies in a step, over all processes",
    "accumulate": "compute a batch in so many parts, if memory is short; the results stay the same",
    "clip": "the largest norm that a gradient may have; 0: any",
    "precision": "auto (bf16 or fp16 on a GPU, fp32 on a CPU), fp32, bf16 or fp16",
    "seed": "the seed of weights, order and dropout",
    "max_epochs": "stop after so many passes over the data",
    "max_steps": "stop after so many batches; 0: no limit",
    "max_minutes": "stop after so much time, including that before the run was resumed; 0: no limit",
    "max_cpu_minutes": "the same in CPU time, for a machine that others use as well; 0: no limit",
    "validate_every": "steps between validations; 0: once an epoch",
    "save_every": "steps between saves of the run's state; a run that is killed loses so many at most",
    "patience": "stop after so many validations without a lower loss; 0: never",
}


def _describe_kinds() -> str:
    lines = []
    for kind, line in FAMILIES.items():
        lines.append(f"{kind}: {line.about}.")
        lines += [f"    --part {part}: {purpose}" for part, purpose in list(line.parts.items())[1:]]
        lines += [f"    --{name} PATH: {what}" for name, what in line.takes.items()]
        lines += [f"    {_as_option(name)}: {option.about}" for name, option in line.options.items()]
    return "\n".join(lines)


def _as_option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class Command(PlatformCommand):
    help = f"""Trains one of our own networks on dialogs, on a CPU, a GPU or several.

    manage.py train_generator KIND --data ed_train.jsonl --validation ed_valid.jsonl --out models/raw
    manage.py train_generator KIND --data OS --out models/pre-trained
    manage.py train_generator KIND --data ED --from models/pre-trained --out models/fine-tuned
    manage.py train_generator KIND --part PART --data ED --out models/raw
    torchrun --nproc-per-node 4 manage.py train_generator KIND --data OS --out models/os

{_describe_kinds()}

Raw, pre-trained and fine-tuned networks are trained by the same command from different starting points. The folder
--out gets the checkpoint with the lowest validation loss. Beside it, a folder that ends in .training has history.json,
curves.svg and the state from which the same command resumes a killed run and reaches exactly the same numbers.
docs/training.md has recipes and their results."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # the data may be a file; reading a dataset reports a missing database itself

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=list(FAMILIES))
        parser.add_argument("--data", required=True, nargs="+", metavar="NAME", help="datasets, or files of dialogs")
        parser.add_argument(
            "--validation", nargs="+", metavar="NAME", help="if left out, a tenth of the conversations in --data"
        )
        parser.add_argument(
            "--format", choices=list(dialog_formats()), help="of files; guessed from their names if left out"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="the folder for the checkpoint")
        parser.add_argument("--from", dest="start", default="", metavar="FOLDER", help="the checkpoint to start from")
        parser.add_argument(
            "--part", choices=list(_PARTS), help="which part of the checkpoint to train; if left out, its network"
        )
        for name, what in _TAKEN.items():
            parser.add_argument(f"--{name}", default="", metavar="PATH", help=f"put into the checkpoint: {what}")
        parser.add_argument("--tokenizer", type=Path, metavar="FOLDER", help="use its tokenizer.json")
        parser.add_argument(
            "--vocabulary", type=int, help="without --tokenizer, the most tokens of the one to train (default 8000)"
        )
        parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
        sizes = parser.add_argument_group("sizes of a new network (the paper's if left out)")
        for name in _SIZES:
            sizes.add_argument(_as_option(name), type=float if name == "dropout" else int)
        own = parser.add_argument_group("options that only some kinds have")
        for name, option in _OPTIONS.items():
            told = f"{option.about} ({_of_whom(name)}; default {option.default or 'none'})"
            own.add_argument(_as_option(name), type=type(option.default), help=told)
        training = parser.add_argument_group("training")
        for field in fields(TrainingSettings):
            told = f"{_HELP[field.name]} (default {_describe_default(field.name, field.default)})"
            training.add_argument(_as_option(field.name), type=type(field.default), help=told)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._train(options)
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. The same command resumes the run where it was saved last.") from None

    def _train(self, options: dict[str, Any]) -> None:
        part = _check_part(options)
        defaults = FAMILIES[options["kind"]].defaults
        named = {field.name: options.get(field.name) for field in fields(TrainingSettings)}
        given = {name: value for name, value in named.items() if value is not None}
        own_defaults = {name: value for name, value in defaults.items() if name in named}
        settings = TrainingSettings(**own_defaults | given)
        # These are imported here, because torch takes seconds, and --help and wrong options don't need it.
        from generation.training.context_pairs import Source
        from generation.training.plan import Data, Plan
        from generation.training.train import train
        from generation.training.world import join_world

        source = Source(options["data"], options["format"])
        validation = Source(options["validation"], options["format"]) if options["validation"] else None
        plan = Plan(
            kind=options["kind"],
            data=Data(source, validation),
            out=options["out"],
            run_folder=run_folder(options["out"], "" if _is_first(options["kind"], part) else part),
            start=options["start"],
            takes={name: options[name] for name in _TAKEN if options[name]},
            tokenizer=options["tokenizer"],
            vocabulary_size=_vocabulary(defaults, options),
            sizes={name: options[name] for name in _SIZES if options[name] is not None},
            options={name: options[name] for name in _OPTIONS if options[name] is not None},
            seed=settings.seed,
        )
        family = load_trainable(options["kind"])
        with ExitStack() as stack:
            world = stack.enter_context(join_world(options["device"]))
            if world.is_first:
                report = stack.enter_context(ConsoleReport(self.stdout.write))
                state = train(family, plan, part, settings, world, report, self.stdout.write)
            else:
                state = train(family, plan, part, settings, world, SilentReport(), lambda text: None)
        if world.is_first:
            self.stdout.write(
                f"Stopped at step {state.step:,}: {state.stopped}. The checkpoint of step {state.best_step:,} is in "
                f"{plan.out}, the curves are in {plan.run_folder / CURVES}."
            )


def _vocabulary(defaults: Mapping[str, Any], options: dict[str, Any]) -> int:
    given: int | None = options["vocabulary"]
    return int(defaults.get("vocabulary", 8000)) if given is None else given


def _check_part(options: dict[str, Any]) -> str:
    kind = options["kind"]
    line = FAMILIES[kind]
    part: str = options["part"] or next(iter(line.parts))
    for name in _TAKEN:
        if options[name] and name not in line.takes:
            raise TrainingRefused(f"The checkpoint of a {kind} has no {name}; leave --{name} out.")
    for name in (*_OWN_SIZES, *_OPTIONS):
        if options[name] is not None and name not in (*line.sizes, *line.options):
            raise TrainingRefused(f"A {kind} has no {_as_option(name)}; leave it out.")
    if part not in line.parts:
        raise TrainingRefused(f"A {kind} has no part {part}, only {', '.join(line.parts)}; leave --part out.")
    has_tokenizer = options["start"] or options["tokenizer"] or not _is_first(kind, part)
    if has_tokenizer and options["vocabulary"] is not None:
        raise TrainingRefused("A tokenizer that exists already keeps its size; leave --vocabulary out.")
    if line.is_generator and options["start"] and options["tokenizer"]:
        raise TrainingRefused("A checkpoint has its own tokenizer; leave --tokenizer or --from out.")
    return part


def _of_whom(name: str) -> str:
    return ", ".join(kind for kind, line in FAMILIES.items() if name in line.options)


def _describe_default(name: str, default: Any) -> str:
    """Name the default, and those of families that have another."""
    others: dict[Any, list[str]] = {}
    for kind, line in FAMILIES.items():
        if name in line.defaults:
            others.setdefault(line.defaults[name], []).append(kind)
    return "; ".join([str(default), *(f"{value:.4g} for {', '.join(kinds)}" for value, kinds in others.items())])


def _is_first(kind: str, part: str) -> bool:
    """Return whether this is the part that makes a new checkpoint. Other parts are added to it."""
    return part == next(iter(FAMILIES[kind].parts))
