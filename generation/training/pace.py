"""Measure how long a training run has taken, including the time before it was resumed, and how fast it is now."""

import time
from collections import deque
from dataclasses import dataclass

from generation.training.state import RunState

SECONDS_BETWEEN_FIGURES = 60
RECENT_STEPS = 200  # the pace is measured over so many, so that a pause or other work on the machine is soon forgotten


@dataclass(frozen=True)
class Pace:
    seconds_a_step: float
    examples_a_second: float
    targets_a_second: float


class Clock:
    def __init__(self, state: RunState) -> None:
        self._seconds_before, self._cpu_before = state.seconds, state.cpu_seconds
        self._began, self._cpu_began = time.monotonic(), time.process_time()
        self._drew = self._began
        self._recent = deque(
            [(self._began, 0, 0)], maxlen=RECENT_STEPS + 1
        )  # when, examples and targets since the start

    @property
    def seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._began

    @property
    def cpu_seconds(self) -> float:
        return self._cpu_before + time.process_time() - self._cpu_began

    def is_time_to_draw(self) -> bool:
        is_time = time.monotonic() - self._drew > SECONDS_BETWEEN_FIGURES
        self._drew = time.monotonic() if is_time else self._drew
        return is_time

    def pace(self, examples: int, targets: int) -> Pace:
        """Return the pace. Call this once for each step, with the numbers of its examples and targets."""
        _, examples_before, targets_before = self._recent[-1]
        self._recent.append((time.monotonic(), examples_before + examples, targets_before + targets))
        (began, first_examples, first_targets), (now, last_examples, last_targets) = self._recent[0], self._recent[-1]
        seconds = max(now - began, 1e-9)
        return Pace(
            seconds_a_step=seconds / (len(self._recent) - 1),
            examples_a_second=(last_examples - first_examples) / seconds,
            targets_a_second=(last_targets - first_targets) / seconds,
        )

    def write(self, state: RunState) -> None:
        state.seconds = self.seconds
        state.cpu_seconds = self.cpu_seconds
