"""From a plan to a finished run: what the command calls."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from generation.networks.config import NetworkConfig
from generation.training.loop import Report, Trainer
from generation.training.objectives import Objective
from generation.training.preparing import (
    Plan,
    Say,
    describe_tokenizer,
    prepare_generator,
    prepare_predictor,
    put_classifier_in,
)
from generation.training.settings import TrainingSettings
from generation.training.state import RunState
from generation.training.world import World

GENERATOR, PREDICTOR, CLASSIFIER = "generator", "predictor", "emotion-classifier"


def _prepare_classifier(plan: Plan, world: World, say: Say) -> Objective:
    from generation.training.classifier import prepare_classifier  # takes seconds to import

    return prepare_classifier(plan, world, say)


_PREPARE: dict[str, Callable[[Plan, World, Say], Objective]] = {
    GENERATOR: prepare_generator,
    PREDICTOR: prepare_predictor,
    CLASSIFIER: _prepare_classifier,
}


def train(plan: Plan, part: str, settings: TrainingSettings, world: World, report: Report, say: Say) -> RunState:
    """Goes on where an earlier run into the same folder was killed or stopped."""
    plan.run_folder.mkdir(parents=True, exist_ok=True)
    objective = _PREPARE[part](plan, world, say)
    identity: dict[str, Any] = {"kind": plan.kind, "part": part, "start": plan.start or "raw"}
    if not plan.start and part != PREDICTOR:  # these have the tokenizer of their checkpoint
        identity["tokenizer"] = describe_tokenizer(plan)
    config = getattr(objective.network, "config", None)
    if isinstance(config, NetworkConfig):
        identity["sizes"] = asdict(config)
    state = Trainer(objective, settings, world, plan.run_folder, report, identity).run()
    if plan.classifier and world.is_first:
        put_classifier_in(plan)
    return state
