"""Train a part of a checkpoint from a plan: prepare it, run the loop, finish it. train_generator calls this."""

from typing import Protocol

from generation.training.loop import Report, Trainer
from generation.training.objective import Objective
from generation.training.options import TrainingSettings
from generation.training.plan import Plan, Say
from generation.training.state import RunState
from generation.training.world import World


class Trainable(Protocol):
    """What training asks of a family of networks."""

    def prepare(self, part: str, plan: Plan, world: World, say: Say) -> Objective: ...


def train(
    family: Trainable, plan: Plan, part: str, settings: TrainingSettings, world: World, report: Report, say: Say
) -> RunState:
    """Train a part of a family's checkpoint. An earlier run in the same folder is resumed where it was saved last."""
    plan.run_folder.mkdir(parents=True, exist_ok=True)
    objective = family.prepare(part, plan, world, say)
    identity = {"kind": plan.kind, "part": part, "start": plan.start or "raw", **objective.identity}
    state = Trainer(objective, settings, world, plan.run_folder, report, identity).run()
    if world.is_first:
        objective.finish()
    return state
