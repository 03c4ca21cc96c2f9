"""Plan a training run: network, data and start; without validation data, hold out a tenth of the conversations."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from generation.corpora.import_records import DialogRecord
from generation.training.context_pairs import Source

HELD_OUT_OF = 10  # if no validation data is named, one of so many conversations is held out for validation
Say = Callable[[str], None]


@dataclass(frozen=True)
class Data:
    training: Source
    validation: Source | None

    def training_records(self) -> Iterator[DialogRecord]:
        return (r for r in self.training.records() if self.validation is not None or not _is_held_out(r))

    def validation_records(self) -> Iterator[DialogRecord]:
        if self.validation is not None:
            return self.validation.records()
        return (record for record in self.training.records() if _is_held_out(record))


@dataclass(frozen=True)
class Plan:
    """`sizes` are the sizes of a new network. A checkpoint to start from has its own."""

    kind: str
    data: Data
    out: Path
    run_folder: Path
    start: str = ""  # a checkpoint's folder, or another start that the family understands
    takes: dict[str, str] = field(default_factory=dict)  # folders to put into the checkpoint, by the part's name
    tokenizer: Path | None = None
    vocabulary_size: int = 8000
    sizes: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # those that only this family has (`FamilyLine.options`)
    seed: int = 0


def _is_held_out(record: DialogRecord) -> bool:
    """Return whether this record is for validation. Whole conversations are, so that none is in both sets."""
    conversation = str(record.source.get("conv_id") or record.turns[0])
    return zlib.crc32(conversation.encode()) % HELD_OUT_OF == 0
