"""Make the files that `benchmarks.import_speed` imports, and the rows that its bare loop inserts."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS = "well then maybe tomorrow we could see whether the river has gone down and ask your sister about it".split()
GENERATORS = [f"generator {letter}" for letter in "ABCDEFGHIJ"]


@dataclass(frozen=True)
class Kind:
    """What is imported. `floor_rows` turns a file's line into the values for `floor_columns`."""

    name: str  # "dialogs" or "candidates", as in import_dialogs and import_candidates
    write: Callable[[Path, int], None]
    floor_columns: str
    floor_rows: Callable[[dict[str, Any]], Iterator[tuple[str, ...]]]
    per_dialog: int = 1


def _write_dialogs(file: Path, size: int) -> None:
    rng = random.Random(1)
    with file.open("w") as lines:
        for number in range(size):
            turns = [_text(rng, rng.randint(5, 25)) for _ in range(rng.choice([1, 3, 3, 5]))]
            values = {
                "id": _dialog_id(number),
                "context": turns,
                "reference": _text(rng, 12),
                "emotion": rng.choice(WORDS),
                "context_labels": ["neutral"] * len(turns),
                "reference_label": "agreeing",
            }
            lines.write(json.dumps(values) + "\n")


def _write_candidates(file: Path, size: int) -> None:
    """Write one line for each dialog, with a reply by each generator."""
    rng = random.Random(2)
    with file.open("w") as lines:
        for number in range(size // len(GENERATORS)):
            values = {
                "id": _dialog_id(number),
                "candidates": {name: _text(rng, rng.randint(5, 25)) for name in GENERATORS},
                "predicted_labels": dict.fromkeys(GENERATORS, "agreeing"),
            }
            lines.write(json.dumps(values) + "\n")


def _dialog_id(number: int) -> str:
    return f"conversation-{number}#1"


def _text(rng: random.Random, word_count: int) -> str:
    return " ".join(rng.choices(WORDS, k=word_count))


def _dialog_rows(values: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    turns, labels = json.dumps(values["context"]), json.dumps(values["context_labels"])
    yield values["id"], turns, labels, values["reference"], values["reference_label"], values["emotion"]


def _candidate_rows(values: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for generator, text in values["candidates"].items():
        yield values["id"], generator, text, values["predicted_labels"][generator]


DIALOGS = Kind(
    "dialogs",
    _write_dialogs,
    "name TEXT UNIQUE, turns TEXT, labels TEXT, gold TEXT, label TEXT, emotion TEXT",
    _dialog_rows,
)
CANDIDATES = Kind(
    "candidates",
    _write_candidates,
    "dialog TEXT, generator TEXT, text TEXT, label TEXT, UNIQUE (dialog, generator)",
    _candidate_rows,
    per_dialog=len(GENERATORS),
)
KINDS = {kind.name: kind for kind in (DIALOGS, CANDIDATES)}
