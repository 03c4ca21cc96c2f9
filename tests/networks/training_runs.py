"""The cast of the tests of training: conversations to learn, who listens, and what is compared."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from generation.training.loop import Progress
from generation.training.state import RunState
from generation.training.world import World

SIZES = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 32, "max_tokens": 24}
PACE = {"learning_rate": 0.01, "batch_size": 8, "max_steps": 8, "validate_every": 4, "save_every": 3}
THINGS = ("lamp", "boat", "garden", "horse", "letter", "kettle", "window", "coat")
ALONE = World(0, 1, torch.device("cpu"))
Run = Callable[..., RunState]


class Killed(Exception):
    pass


class Listener:
    """Hears of each step, and may kill the run at one: nothing gets the chance to save more."""

    def __init__(self, kill_at: int = 0) -> None:
        self.kill_at = kill_at
        self.began_at = 0
        self.heard: list[Progress] = []

    def begin(self, state: RunState, total_steps: int) -> None:
        self.began_at = state.step

    def step(self, progress: Progress) -> None:
        self.heard.append(progress)
        if progress.step == self.kill_at:
            raise Killed

    def validation(self, entry: dict[str, Any], is_best: bool) -> None: ...


def conversation(number: int) -> dict[str, Any]:
    thing, emotion = THINGS[number % 8], "sad" if number % 3 == 0 else "joyful"
    first = f"I lost my {thing}." if emotion == "sad" else f"I found my {thing}!"
    return {
        "id": number,
        "context": [first, f"The {thing}?", "Yes."],
        "reference": f"Poor {thing}." if emotion == "sad" else f"Good old {thing}!",
        "context_labels": [emotion, "questioning", "neutral"],
        "reference_label": "sympathizing" if emotion == "sad" else "joyful",
        "situation": f"{first} {number}",
        "emotion": emotion,
    }


def history(folder: Path) -> list[dict[str, Any]]:
    entries = json.loads((folder / "history.json").read_text())["history"]
    return [{name: value for name, value in entry.items() if "seconds" not in name} for entry in entries]


def assert_same_tensors(one: Path, other: Path) -> None:
    first, second = load_file(one), load_file(other)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
