"""Turn conversations into training pairs of a context and the turn that follows it.

Every turn of both speakers but the first is a target. In EmpatheticDialogues, a conversation is several lines with
growing contexts; each of its turns still makes only one pair.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from generation.corpora.formats import dialog_format, read_dialog_file
from generation.corpora.import_records import DialogRecord
from generation.corpora.lines import Problem
from generation.errors import DataRefused
from generation.models import Dataset


@dataclass(frozen=True, slots=True)
class Pair:
    """A context and the turn that follows. Labels are emotions or intents; "" if the data has none."""

    turns: tuple[str, ...]
    labels: tuple[str, ...]
    reply: str
    label: str
    emotion: str = ""  # of the dialog


@dataclass
class Source:
    """Datasets by name, or files. While reading, `reading` is the one that is read; after reading, `rejected` counts
    the lines that could not be used."""

    names: Sequence[str]
    format: str | None = None
    rejected: int = 0
    reading: str = ""

    def __str__(self) -> str:
        return ", ".join(self.names)

    def records(self) -> Iterator[DialogRecord]:
        self.rejected = 0
        for name in self.names:
            self.reading = Path(name).name
            for found in _read_dataset(name) if self._is_dataset(name) else _read_file(Path(name), self.format):
                if isinstance(found, Problem):
                    self.rejected += 1
                else:
                    yield found

    def _is_dataset(self, name: str) -> bool:
        return self.format is None and not Path(name).exists() and Dataset.objects.filter(name=name).exists()


def _read_dataset(name: str) -> Iterator[DialogRecord]:
    rows = Dataset.objects.get(name=name).dialogs.order_by("pk")
    for row in rows.iterator(chunk_size=2000):
        yield DialogRecord(
            line=row.pk,
            external_id=row.external_id,
            turns=row.turns,
            gold=row.gold,
            emotion=row.emotion,
            situation=row.situation,
            turn_labels=row.turn_labels,
            gold_label=row.gold_label,
            source=row.source,
        )


def _read_file(path: Path, format: str | None) -> Iterator[DialogRecord | Problem]:
    if not path.exists():
        raise DataRefused(f"There is no file and no dataset named {str(path)!r}; import_dialogs makes a dataset.")
    try:
        yield from read_dialog_file(path, dialog_format(path, format))
    except OSError as error:
        raise DataRefused(f"{path} can't be read: {error.strerror}.") from error


def pairs_of(records: Iterable[DialogRecord]) -> Iterator[Pair]:
    seen: set[int] = set()
    for record in records:
        turns = (*record.turns, record.gold) if record.gold else tuple(record.turns)
        labels = (*(record.turn_labels or [""] * len(record.turns)), record.gold_label)
        if record.gold and (following := record.source.get("next_turn")):
            turns, labels = (*turns, str(following)), (*labels, "")
        conversation = str(record.source.get("conv_id", ""))
        for position in range(1, len(turns)):
            # If two conversations begin alike, both count. Without conversation ids they can't be told apart, so only
            # one counts.
            key = hash((conversation, turns[: position + 1]))
            if key not in seen:
                seen.add(key)
                yield Pair(turns[:position], labels[:position], turns[position], labels[position], record.emotion)
