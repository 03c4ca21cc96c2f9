"""Run the training loop: steps, validations, early stopping, saving and resuming.

Each step seeds its randomness with its own number, so that it depends on nothing that is lost if the process is killed:
a resumed run reaches the same numbers, to the last bit on the same machine.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from generation.devices import gpu_has_bfloat16
from generation.errors import TrainingRefused
from generation.training.history import write_curves, write_history
from generation.training.objective import Objective, Update
from generation.training.options import TrainingSettings
from generation.training.ordering import Indices, epoch_batches, share_of
from generation.training.pace import Clock
from generation.training.state import RunState, load_state, save_state
from generation.training.validating import Validation, validate
from generation.training.world import World

OUT_OF_TIME = "the time is up"


@dataclass(frozen=True)
class Progress:
    step: int
    total_steps: int
    epoch: float
    loss: float  # mean since the last validation
    examples_a_second: float
    targets_a_second: float
    seconds_left: float


class Report(Protocol):
    """Gets told how a run is doing: a progress bar, a log or a test."""

    def begin(self, state: RunState, total_steps: int) -> None: ...
    def step(self, progress: Progress) -> None: ...
    def validation(self, entry: dict[str, Any], is_best: bool) -> None: ...


class Trainer:
    """`folder` is the run's own, for state, history and curves. The objective saves the checkpoint."""

    def __init__(
        self, objective: Objective, settings: TrainingSettings, world: World, folder: Path, report: Report,
        identity: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.objective, self.settings, self.world, self.folder, self.report = objective, settings, world, folder, report
        self.precision = resolve_precision(settings.precision, world.device)
        self.network = objective.network.to(world.device)
        self.optimisers = dict(objective.optimisers(settings))
        self.scaler = torch.amp.GradScaler(world.device.type, enabled=self.precision == torch.float16)
        self.identity = {
            **settings.identity(),
            "precision": str(self.precision).removeprefix("torch."),
            "processes": world.size,
            "training data": objective.training.fingerprint(),
            "validation data": objective.validation.fingerprint(),
            **(identity or {}),
        }

    def run(self) -> RunState:
        self.state = load_state(self.folder, self.identity, self.network, self.optimisers, self.scaler)
        # Compare the stored time, because it is the same in all processes.
        is_late = self.settings.is_time_up(self.state.seconds, self.state.cpu_seconds)
        self.state.stopped = OUT_OF_TIME if is_late else ""
        # With several optimisers, a step may leave parameters without a gradient.
        self.parallel = self.world.wrap(self.network, has_idle_parameters=len(self.optimisers) > 1)
        self._clock = Clock(self.state)
        keys, size = self.objective.training.sort_keys, self.settings.batch_size
        self.steps_an_epoch = math.ceil(len(self.objective.training) / size)
        self.report.begin(self.state, self.total_steps)
        batches: list[Indices] = []
        while not (reason := self._find_reason_to_stop()):
            batches = batches or epoch_batches(keys, size, self.settings.seed, self.state.epoch)
            self._train_on(batches[self.state.position])
            if self.state.position == 0:
                batches = []  # the next epoch has other batches
        self.state.stopped = reason
        self._validate_and_save_if_due(is_last=True)
        if self.world.is_first:
            write_curves(self.folder, self.state.history)
        return self.state

    @property
    def total_steps(self) -> int:
        steps = self.steps_an_epoch * self.settings.max_epochs
        return min(steps, self.settings.max_steps) if self.settings.max_steps else steps

    def _find_reason_to_stop(self) -> str:
        if self.state.stopped:
            return self.state.stopped
        if self.settings.patience and self.state.validations_since_best >= self.settings.patience:
            return f"no {self.objective.goal.words} in {self.settings.patience} validations"
        return f"{self.total_steps:,} steps are done" if self.state.step >= self.total_steps else ""

    def _train_on(self, batch: Indices) -> None:
        loss, clock = self._step(batch), self._clock
        loss_sum, is_late = self.world.sum([loss, self.settings.is_time_up(clock.seconds, clock.cpu_seconds)])
        if not math.isfinite(loss_sum):
            raise TrainingRefused(
                f"The loss of step {self.state.step + 1:,} is not a number. A lower --learning-rate, --clip 1, "
                "--warmup-steps or --precision fp32 may help. The same command resumes the run where it was saved last."
            )
        state = self.state
        state.loss_sum += loss_sum
        state.loss_count += float(self.objective.training.target_counts[batch].sum())
        state.step += 1
        state.position = (state.position + 1) % self.steps_an_epoch
        state.epoch += state.position == 0
        state.stopped = OUT_OF_TIME if is_late else ""
        self.report.step(self._progress(batch))
        self._validate_and_save_if_due()

    def _progress(self, batch: Indices) -> Progress:
        state = self.state
        pace = self._clock.pace(len(batch), int(self.objective.training.target_counts[batch].sum()))
        left = (self.total_steps - state.step) * pace.seconds_a_step
        if self.settings.max_minutes:
            left = min(left, max(0.0, self.settings.max_minutes * 60 - self._clock.seconds))
        return Progress(
            step=state.step,
            total_steps=self.total_steps,
            epoch=state.step / self.steps_an_epoch,
            loss=state.loss_sum / state.loss_count,
            examples_a_second=pace.examples_a_second,
            targets_a_second=pace.targets_a_second,
            seconds_left=left,
        )

    def _step(self, batch: Indices) -> float:
        """Update the weights as the objective plans it: once, or several times with the same batch. Return the summed
        loss of this process's examples in the last update, or "not a number" if any loss was."""
        torch.manual_seed((self.settings.seed * 2_000_003 + self.state.step) * self.world.size + self.world.rank)
        self.parallel.train()
        updates = self.objective.plan_step(self.state.step, self.settings)
        losses = [self._update(update, batch) for update in updates]
        return losses[-1] if all(map(math.isfinite, losses)) else math.nan

    def _update(self, update: Update, batch: Indices) -> float:
        """Update the weights once, and return the summed loss of this process's examples. Gradients are those of the
        mean over all targets, or over all examples, of the batch, however it is shared out among processes and
        parts."""
        settings, world = self.settings, self.world
        self.parallel.zero_grad(set_to_none=True)
        target_count = int(self.objective.training.target_counts[batch].sum())
        divisor = len(batch) if update.is_mean_over_examples else target_count
        loss_sum = 0.0
        parts = share_of(batch, world.rank, world.size, settings.accumulate)
        for number, part in enumerate(parts, 1):
            # A process without examples computes one with weight 0: all must take part in exchanging gradients.
            examples = part if len(part) else batch[:1]
            with _exchange_gradients(self.parallel, number == len(parts)), self.autocast():
                scored = update.score(self.parallel, self.objective.training.batch(examples, world.device))
                part_sum = scored.losses.sum() * (len(part) > 0)
            minimised = scored.losses if scored.minimised is None else scored.minimised
            # DistributedDataParallel averages the gradients of processes; the factor makes it a sum.
            weighted = minimised.sum() * (len(part) > 0) * (world.size / divisor)
            self.scaler.scale(weighted).backward()  # type: ignore[no-untyped-call]
            loss_sum += float(part_sum.detach()) if math.isfinite(float(weighted.detach())) else math.nan
        self._apply_gradients(update)
        return loss_sum

    def _apply_gradients(self, update: Update) -> None:
        optimiser = self.optimisers[update.optimiser]
        for group in optimiser.param_groups:
            group["lr"] = update.learning_rate
        if self.settings.clip:
            self.scaler.unscale_(optimiser)
            own = [parameter for group in optimiser.param_groups for parameter in group["params"]]
            nn.utils.clip_grad_norm_(own, self.settings.clip)
        self.scaler.step(optimiser)
        self.scaler.update()

    def autocast(self) -> Any:
        enabled = self.precision != torch.float32
        return torch.autocast(self.world.device.type, dtype=self.precision) if enabled else nullcontext()

    def _validate_and_save_if_due(self, is_last: bool = False) -> None:
        state, settings = self.state, self.settings
        is_validated = bool(state.history) and state.history[-1]["step"] == state.step
        is_due = state.step % settings.validate_every == 0 if settings.validate_every else state.position == 0
        is_early = state.step < self.objective.first_validation
        should_validate = (is_last or (is_due and not is_early)) and not is_validated and state.step > 0
        if should_validate:
            self._validate()
        if should_validate or is_last or state.step % settings.save_every == 0:
            self._save()

    def _validate(self) -> None:
        state = self.state
        found = validate(self.objective, self.parallel, self.world, self.settings, self.autocast)
        value = self.objective.goal.value(found)
        is_best = state.best_value is None or value < state.best_value
        state.validations_since_best = 0 if is_best else state.validations_since_best + 1
        self._clock.write(state)
        state.history.append(self._entry(found) | {"is_best": is_best})
        state.loss_sum = state.loss_count = 0.0
        if is_best:
            state.best_value, state.best_step = value, state.step
            if self.world.is_first:
                self.objective.save()
        if self.world.is_first:
            write_history(self.folder, state.history, self.identity)
            if self._clock.is_time_to_draw():
                write_curves(self.folder, state.history)
        self.report.validation(state.history[-1], is_best)

    def _entry(self, found: Validation) -> dict[str, Any]:
        state = self.state
        return {
            "step": state.step,
            "epoch": state.step / self.steps_an_epoch,
            "seconds": round(state.seconds, 1),
            "cpu_seconds": round(state.cpu_seconds, 1),
            "training_loss": state.loss_sum / state.loss_count if state.loss_count else None,
            **found.as_json(),
        }

    def _save(self) -> None:
        self._clock.write(self.state)
        if self.world.is_first:
            save_state(self.folder, self.state, self.identity, self.network, self.optimisers, self.scaler)
        self.world.wait()


def resolve_precision(name: str, device: torch.device) -> torch.dtype:
    """Return the precision to compute with. `auto` is bf16 on a GPU that has it, fp16 on other GPUs, fp32 on a CPU."""
    if name == "auto" and device.type == "cuda":
        return torch.bfloat16 if gpu_has_bfloat16() else torch.float16
    return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(name, torch.float32)


@contextmanager
def _exchange_gradients(network: nn.Module, is_last_part: bool) -> Iterator[None]:
    """Let processes exchange gradients only once for each batch, with its last part."""
    is_held_back = isinstance(network, DistributedDataParallel) and not is_last_part
    with network.no_sync() if is_held_back else nullcontext():  # type: ignore[operator]
        yield
