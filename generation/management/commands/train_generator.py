import argparse
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from generation.corpora.files import DIALOG_FORMATS
from generation.management.training_report import ConsoleReport, SilentReport
from generation.training.history import CURVES, run_folder
from generation.training.settings import TrainingRefused, TrainingSettings

KINDS = ("transformer", "meed2", "emotion-classifier")
_SIZES = ("width", "heads", "layers", "feed_forward", "max_tokens", "dropout")
_HELP = {
    "learning_rate": "of Adam",
    "warmup_steps": "steps over which the learning rate rises to its value",
    "batch_size": "replies a step, over all processes",
    "accumulate": "parts that a batch is computed in, where memory is short; the numbers stay the same",
    "clip": "largest norm of a gradient; 0: any",
    "precision": "auto (bf16 or fp16 on a GPU, fp32 on a CPU), fp32, bf16 or fp16",
    "seed": "of weights, order and dropout",
    "max_epochs": "stop after so many passes over the data",
    "max_steps": "stop after so many batches; 0: no limit",
    "max_minutes": "stop after so much time, that of earlier, killed runs included; 0: no limit",
    "validate_every": "steps between validations; 0: once an epoch",
    "save_every": "steps between saves of the run's state: what is lost at most when it is killed",
    "patience": "stop after so many validations without a lower loss; 0: never",
}


class Command(PlatformCommand):
    help = """Trains a network of our own on dialogs, on a CPU, a GPU or several.

    manage.py train_generator transformer --data ed_train.jsonl --validation ed_valid.jsonl --out models/raw
    manage.py train_generator transformer --data OS --out models/pre-trained
    manage.py train_generator transformer --data ED --from models/pre-trained --out models/fine-tuned
    manage.py train_generator emotion-classifier --data ED --from roberta-base --out models/classifier
    manage.py train_generator meed2 --data ED --classifier models/classifier --out models/meed2
    manage.py train_generator meed2 --part predictor --data ED --out models/meed2
    torchrun --nproc-per-node 4 manage.py train_generator meed2 --data OS --out models/meed2-os

Raw, pre-trained and fine-tuned are the same command with another starting point. The checkpoint with the lowest
validation loss is kept in the folder --out; beside it, in a folder that ends in .training, are history.json,
curves.svg and the state from which the same command goes on after it was killed, to exactly the same numbers.
With --classifier, a meed2 labels turns that come without an emotion or intent; without one it takes them as neutral.
docs/training.md has recipes, with what they came to."""

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        return super().create_parser(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False  # files do as well; whoever names a dataset of the database finds out there

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=KINDS)
        parser.add_argument("--data", required=True, nargs="+", metavar="NAME", help="datasets, or files of dialogs")
        parser.add_argument(
            "--validation", nargs="+", metavar="NAME", help="if left out, a tenth of the conversations of --data"
        )
        parser.add_argument("--format", choices=DIALOG_FORMATS, help="of files; guessed from their names if left out")
        parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the checkpoint goes")
        parser.add_argument("--from", dest="start", default="", metavar="FOLDER", help="the checkpoint to start from")
        parser.add_argument("--part", choices=("generator", "predictor"), default="generator", help="of meed2")
        parser.add_argument(
            "--classifier", default="", metavar="FOLDER", help="put this emotion classifier into meed2's checkpoint"
        )
        parser.add_argument("--tokenizer", type=Path, metavar="FOLDER", help="take its tokenizer.json")
        parser.add_argument("--vocabulary", type=int, help="size of the BPE that is trained otherwise (default 8000)")
        parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
        sizes = parser.add_argument_group("sizes of a new network (the paper's if left out)")
        for name in _SIZES:
            sizes.add_argument(f"--{name.replace('_', '-')}", type=float if name == "dropout" else int)
        training = parser.add_argument_group("training")
        for field in fields(TrainingSettings):
            option, kind = f"--{field.name.replace('_', '-')}", type(field.default)
            told = f"{_HELP[field.name]} (default {field.default})"
            training.add_argument(option, type=kind, default=field.default, help=told)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._train(options)
        except (EvalPlatformError, OSError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. The same command goes on from where the run was saved last.") from None

    def _train(self, options: dict[str, Any]) -> None:
        settings = TrainingSettings(**{field.name: options[field.name] for field in fields(TrainingSettings)})
        part = _part(options)
        # Here, not above: torch takes seconds, and --help and mistakes need none of it.
        from generation.training.pairs import Source
        from generation.training.preparing import Data, Plan
        from generation.training.running import train
        from generation.training.world import join_world

        source = Source(options["data"], options["format"])
        validation = Source(options["validation"], options["format"]) if options["validation"] else None
        plan = Plan(
            kind=options["kind"],
            data=Data(source, validation),
            out=options["out"],
            run_folder=run_folder(options["out"], "predictor" if part == "predictor" else ""),
            start=options["start"],
            classifier=options["classifier"],
            tokenizer=options["tokenizer"],
            vocabulary_size=8000 if options["vocabulary"] is None else options["vocabulary"],
            sizes={name: options[name] for name in _SIZES if options[name] is not None},
            seed=settings.seed,
        )
        with ExitStack() as stack:
            world = stack.enter_context(join_world(options["device"]))
            if world.is_first:
                report = stack.enter_context(ConsoleReport(self.stdout.write))
                state = train(plan, part, settings, world, report, self.stdout.write)
            else:
                state = train(plan, part, settings, world, SilentReport(), lambda text: None)
        if world.is_first:
            self.stdout.write(
                f"Stopped at step {state.step:,}: {state.stopped}. The checkpoint of step {state.best_step:,} is in "
                f"{plan.out}, the curves are in {plan.run_folder / CURVES}."
            )


def _part(options: dict[str, Any]) -> str:
    if options["classifier"] and options["kind"] != "meed2":
        raise TrainingRefused("Only meed2 has an emotion classifier in its checkpoint; leave --classifier out.")
    has_tokenizer = options["start"] or options["tokenizer"] or options["part"] == "predictor"
    if has_tokenizer and options["vocabulary"] is not None:
        raise TrainingRefused("A tokenizer that is there already keeps its size; leave --vocabulary out.")
    if options["kind"] == "emotion-classifier":
        return "emotion-classifier"
    if options["part"] == "predictor" and options["kind"] != "meed2":
        raise TrainingRefused("Only meed2 has a response predictor; leave --part out.")
    if options["start"] and options["tokenizer"]:
        raise TrainingRefused("A checkpoint has its own tokenizer; leave --tokenizer or --from out.")
    part: str = options["part"]
    return part
