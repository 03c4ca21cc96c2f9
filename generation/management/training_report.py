"""Show how a training run is doing: a progress bar in a terminal, lines in a log."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from evalplatform.terminal import plain_console
from generation.training.history import MACRO, TOKEN_WEIGHTED

if TYPE_CHECKING:
    from generation.training import loop
    from generation.training.state import RunState

SECONDS_BETWEEN_LINES = 30
_OTHER = f"{MACRO}_"  # begins the names of perplexities under other conditions


class ConsoleReport:
    """Shows a bar in a terminal, and elsewhere prints a line twice a minute. Validations are lines in both."""

    def __init__(self, write: Callable[[str], object]) -> None:
        console = plain_console()
        self._write = write if not console.is_terminal else console.print
        columns = (TextColumn("Training"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task: TaskID | None = None
        self._is_terminal = console.is_terminal
        self._spoke_at = time.monotonic()

    def __enter__(self) -> "ConsoleReport":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, state: "RunState", total_steps: int) -> None:
        if state.step:
            self._write(f"Resuming at step {state.step:,}, after {state.seconds / 60:.1f} minutes.")
        self._task = self._bar.add_task("", total=total_steps, completed=state.step)

    def step(self, progress: "loop.Progress") -> None:
        rates = f"{progress.examples_a_second:,.0f} replies/s, {progress.targets_a_second:,.0f} tokens/s"
        told = f"epoch {progress.epoch:.2f}, loss {progress.loss:.3f}, {rates}, {_duration(progress.seconds_left)} left"
        if self._task is not None:
            self._bar.update(self._task, completed=progress.step, description=told)
        if not self._is_terminal and time.monotonic() - self._spoke_at >= SECONDS_BETWEEN_LINES:
            self._spoke_at = time.monotonic()
            self._write(f"step {progress.step:,} of {progress.total_steps:,}: {told}")

    def validation(self, entry: dict[str, Any], is_best: bool) -> None:
        accuracy = f", accuracy {entry['accuracy']:.1%}" if "accuracy" in entry else ""
        others = "".join(
            f", {value:.2f} with {name.removeprefix(_OTHER).replace('_', ' ')}"
            for name, value in entry.items()
            if name.startswith(_OTHER)
        )
        self._write(
            f"step {entry['step']:,}, epoch {entry['epoch']:.2f}, {_duration(entry['seconds'])}: validation perplexity "
            f"{entry[MACRO]:.2f} macro, {entry[TOKEN_WEIGHTED]:.2f} token-weighted{others}{accuracy}"
            f"{', the best so far' if is_best else ''}."
        )


class SilentReport:
    """Shows nothing: if several processes train together, only one reports."""

    def begin(self, state: "RunState", total_steps: int) -> None: ...
    def step(self, progress: "loop.Progress") -> None: ...
    def validation(self, entry: dict[str, Any], is_best: bool) -> None: ...


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
