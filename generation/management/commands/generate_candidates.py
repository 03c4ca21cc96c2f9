"""manage.py generate_candidates: let a model answer the dialogs of a dataset that it has not answered yet."""

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from evalplatform.terminal import plain_console
from generation.errors import GeneratorUnavailable
from generation.forecasting import Forecast, clock_time
from generation.generating import answer_chunk, give_up
from generation.loading import Loader
from generation.models import Dataset, GenerationChunk, GenerationRun, Generator
from generation.owning import find_owner, give_owner
from generation.registering import Registration, parse_setting, read_registration, register_generator
from generation.registry import known_kinds
from generation.run_requests import (
    NothingToAnswer,
    count_failures,
    count_run,
    open_run,
    request_run,
    resume_run,
    undone_chunks,
)
from generation.tasks import send_chunks, send_lost_chunks

LOOK_SECONDS = 0.2


class Command(PlatformCommand):
    help = f"""Lets a model answer those dialogs of a dataset that it has not answered yet.

    manage.py generate_candidates --dataset ED --generator raw --kind KIND --checkpoint models/raw
    manage.py generate_candidates --dataset ED --generator gpt2 --kind hf-causal --checkpoint gpt2 --setting top_p=0.9
    manage.py generate_candidates --dataset ED --from my_model.toml
    manage.py generate_candidates --dataset ED --generator raw --here

The first time, describe the model with --kind, --checkpoint and --setting (or a TOML file); after that, its name is
enough. Background processes do the work in chunks, from the queue `gpu` (manage.py gpu_processes starts them), and
this command shows their progress; if you stop it, they go on. With --here, this process does the work itself, without
a broker. Either way, the same command resumes an interrupted run. Kinds: {", ".join(known_kinds())}.
docs/generating.md lists their settings."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dataset", required=True, metavar="NAME")
        parser.add_argument("--generator", metavar="NAME", help="the model's name in pages and studies")
        parser.add_argument("--kind", choices=known_kinds())
        parser.add_argument("--checkpoint", default="", help="a folder, a name on the hub, or a model on a server")
        parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument(
            "--from", type=Path, dest="file", metavar="FILE.toml", help="name, kind, checkpoint, settings"
        )
        parser.add_argument("--dialogs", type=int, metavar="N", help="answer only the first N unanswered dialogs")
        parser.add_argument(
            "--here", action="store_true", help="answer in this process, without background processes or a broker"
        )
        parser.add_argument("--owner", metavar="NAME", help="the user who will own the model, if it has no owner yet")
        parser.add_argument("--no-wait", action="store_true", help="don't wait for the background processes")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dialogs"] is not None and options["dialogs"] < 1:
            raise CommandError("--dialogs must be at least 1.")
        try:
            owner = find_owner(options["owner"])
            generator, dataset = self._generator(options), _find_dataset(options["dataset"])
            give_owner(Generator.objects.filter(pk=generator.pk), owner)
            run = self._open_run(generator, dataset) or request_run(generator, dataset, None, options["dialogs"])
            self._carry_out(run, options)
        except NothingToAnswer as nothing:
            self.stdout.write(str(nothing))
        except EvalPlatformError as error:
            raise CommandError(str(error)) from error

    def _generator(self, options: dict[str, Any]) -> Generator:
        if options["file"]:
            return register_generator(read_registration(options["file"]))
        name = options["generator"]
        if not name:
            raise CommandError("Name the model with --generator, or describe it with --from FILE.toml.")
        if options["kind"]:
            chosen = dict(parse_setting(text) for text in options["setting"])
            return register_generator(Registration(name, options["kind"], options["checkpoint"], chosen))
        if options["checkpoint"] or options["setting"]:
            raise CommandError("--checkpoint and --setting describe a new model: name its --kind, too.")
        generator = Generator.objects.filter(name=name).first()
        if generator is None:
            raise CommandError(f"There is no model named {name!r}; describe it with --kind and --checkpoint.")
        return generator

    def _open_run(self, generator: Generator, dataset: Dataset) -> GenerationRun | None:
        run = open_run(generator, dataset)
        if run is not None:
            self.stdout.write(f"Resuming the run that was started on {run.requested_at:%d %B, %H:%M} UTC.")
        return run

    def _carry_out(self, run: GenerationRun, options: dict[str, Any]) -> None:
        has_stopped = run.paused_at is not None or run.is_quiet(timezone.now())
        if has_stopped:
            resume_run(run, timezone.now())
        if (has_stopped or run.seen_at is None) and not options["here"]:
            send_chunks(undone_chunks(run))
        if options["no_wait"] and not options["here"]:
            self.stdout.write(f"{run.dialog_count:,} dialogs wait for a background process.")
            return
        forecast = Forecast(timezone.now())
        try:
            with _Bar(run, forecast) as bar:
                if options["here"]:
                    _answer_here(run, bar)
                else:
                    self._follow(run, bar)
        except KeyboardInterrupt:
            raise CommandError("Stopped. Answers are saved; the same command continues with the rest.") from None
        self._report(run, forecast)

    def _follow(self, run: GenerationRun, bar: "_Bar") -> None:
        has_warned = False
        while True:
            run.refresh_from_db()
            bar.show()
            if run.finished_at or run.paused_at:
                return
            if run.is_quiet(timezone.now()) and not has_warned:
                has_warned = True
                self.stderr.write(
                    "No background process has reported for two minutes. Start one with manage.py gpu_processes."
                )
                send_lost_chunks()
            time.sleep(LOOK_SECONDS)

    def _report(self, run: GenerationRun, forecast: Forecast) -> None:
        run.refresh_from_db()
        counts = count_run(run, timezone.now())
        line = f"{run.generator} on {run.dataset}: {counts.answered:,} of {counts.total:,} dialogs answered"
        if counts.failed:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in count_failures(run).items())
            line += f", {counts.failed:,} not ({reasons})"
        if cut := run.candidates.filter(turns_cut__gt=0).count():
            line += f"; {cut:,} contexts were too long and lost their oldest turns"
        self.stdout.write(f"{line}. {forecast.describe(counts, timezone.now())}")
        if run.outcome:
            raise CommandError(run.outcome)
        if run.paused_at:
            raise CommandError("It was paused in the pages; the same command continues with the rest.")
        if run.cancelled_at:
            raise CommandError("It was cancelled in the pages; the same command requests the rest.")


class _Bar:
    """A progress bar on a terminal: how many are answered, how fast, and how long the rest will take."""

    def __init__(self, run: GenerationRun, forecast: Forecast) -> None:
        self._run, self._forecast = run, forecast
        console = plain_console()
        columns = (
            TextColumn("{task.description}", markup=False),  # a model's name is no markup
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
        )
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task(str(run.generator), total=run.dialog_count, rate="")

    def __enter__(self) -> "_Bar":
        self._progress.start()
        self.show()
        return self

    def __exit__(self, *_: object) -> None:
        self.show()
        self._progress.stop()

    def show(self) -> None:
        counts = count_run(self._run, timezone.now())
        self._forecast.note(counts, timezone.now())
        rate = self._forecast.per_second
        left = f"{rate:.2g} a second, {clock_time(self._forecast.seconds_left)} left" if rate else ""
        self._progress.update(self._task, completed=counts.done, rate=left)


def _answer_here(run: GenerationRun, bar: _Bar) -> None:
    """Answer all chunks in this process.

    If the server does not answer a chunk, the chunk is tried once more after the others. If those were answered, its
    own dialogs are at fault. If two chunks in a row get no answer, the server is away.
    """
    loader = Loader(settings.GENERATOR_DEVICE, settings.GENERATOR_THREADS)
    chunks = GenerationChunk.objects.select_related("run__generator").order_by("number")
    first_silent_at: dict[int, datetime] = {}
    while ids := undone_chunks(run):
        was_silent = False
        for chunk in chunks.filter(pk__in=ids):
            try:
                answer_chunk(chunk, loader.get, timezone.now, bar.show)
                was_silent = False
            except GeneratorUnavailable as unavailable:
                if chunk.pk in first_silent_at:
                    give_up(chunk, unavailable, first_silent_at[chunk.pk], timezone.now())
                elif was_silent or len(ids) == 1:
                    raise _server_away(unavailable) from unavailable
                else:
                    was_silent, first_silent_at[chunk.pk] = True, timezone.now()
        if not GenerationRun.objects.going_on().filter(pk=run.pk).exists():
            return


def _server_away(unavailable: GeneratorUnavailable) -> EvalPlatformError:
    reason = str(unavailable).rstrip(".")
    return EvalPlatformError(f"{reason}. Answers are saved; the same command continues with the rest.")


def _find_dataset(name: str) -> Dataset:
    dataset = Dataset.objects.filter(name=name).first()
    if dataset is None:
        raise CommandError(f"There is no dataset named {name!r}; import its dialogs first.")
    return dataset
