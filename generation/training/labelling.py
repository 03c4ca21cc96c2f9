"""Label dialogs: an emotion or intent for every turn, and how emotional each dialog is (label_dialogs).

    emotionality(turn) = sum of P(emotion | turn) over the 32 emotions,   emotionality(dialog) = mean over its turns

This is section 3.2 of the MEED2 paper. P comes from a classifier. The most emotional dialogs of OpenSubtitles are EDOS,
the rest is OS.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from generation.corpora.import_records import DialogRecord
from generation.emotions import EMOTIONS, LABELS

DIALOGS_AT_ONCE = 64


class Classifier(Protocol):
    def probabilities(self, texts: list[str]) -> Any:
        """Return probabilities [texts, 41] in the order of LABELS."""


@dataclass(frozen=True)
class Counts:
    labelled: int
    selected: int


def label_dialogs(
    records: Iterable[DialogRecord], classifier: Classifier, out: Path, most_emotional: int = 0,
    others: Path | None = None, on_dialogs: Callable[[int], None] = lambda count: None,
) -> Counts:  # fmt: skip
    """Write labelled dialogs as JSONL: all, or only the most emotional ones to `out` and the rest to `others`.

    Memory holds only one number for each dialog. The labelled dialogs wait in a file beside `out` until all are
    labelled and the most emotional ones are known.
    """
    waiting = out.with_name(f"{out.name}.labelled")
    emotionalities: list[float] = []
    with waiting.open("w", encoding="utf-8") as file:
        for line in _label_all(records, classifier):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            emotionalities.append(line["emotionality"])
            on_dialogs(1)
    if not most_emotional:
        waiting.replace(out)
        return Counts(len(emotionalities), len(emotionalities))
    selected = set(np.argsort(-np.array(emotionalities), kind="stable")[:most_emotional].tolist())
    _split_files(waiting, selected, out, others)
    return Counts(len(emotionalities), len(selected))


def emotionality(probabilities: Any) -> Any:
    """Sum the probabilities of the emotions: [..., 41] -> [...]. EMOTIONS are the first 32 of LABELS."""
    return probabilities[..., : len(EMOTIONS)].sum(-1)


def _label_all(records: Iterable[DialogRecord], classifier: Classifier) -> Iterator[dict[str, Any]]:
    source = iter(records)
    while dialogs := list(islice(source, DIALOGS_AT_ONCE)):
        texts = [text for dialog in dialogs for text in _all_turns(dialog)]
        found = np.concatenate(
            [np.asarray(classifier.probabilities(texts[at : at + 256])) for at in range(0, len(texts), 256)]
        )
        at = 0
        for dialog in dialogs:
            own = found[at : at + len(_all_turns(dialog))]
            at += len(own)
            yield _make_line(
                dialog, [LABELS[number] for number in own.argmax(axis=-1)], float(emotionality(own).mean())
            )


def _all_turns(dialog: DialogRecord) -> list[str]:
    return [*dialog.turns, *([dialog.gold] if dialog.gold else [])]


def _make_line(dialog: DialogRecord, labels: list[str], emotionality: float) -> dict[str, Any]:
    """Return a line as docs/formats.md describes it. The classifier's labels replace the dialog's own, so that all
    labels come from the same source."""
    known = asdict(dialog)
    line = {
        "id": dialog.external_id,
        "context": dialog.turns,
        "reference": dialog.gold,
        "emotion": dialog.emotion,
        "situation": dialog.situation,
        "context_labels": labels[: len(dialog.turns)],
        "reference_label": labels[-1] if dialog.gold else "",
        "emotionality": round(emotionality, 6),
        **{name: known["source"][name] for name in ("conv_id", "turn", "n_turns") if name in known["source"]},
    }
    return {name: value for name, value in line.items() if value != ""}


def _split_files(waiting: Path, selected: set[int], out: Path, others: Path | None) -> None:
    places = [out, *([others] if others else [])]
    new = [target.with_name(f"{target.name}.new") for target in places]
    with waiting.open(encoding="utf-8") as lines, new[0].open("w", encoding="utf-8") as chosen:
        rest = new[1].open("w", encoding="utf-8") if others else None
        for number, line in enumerate(lines):
            if number in selected:
                chosen.write(line)
            elif rest:
                rest.write(line)
        if rest:
            rest.close()
    for written, target in zip(new, places, strict=True):
        written.replace(target)
    waiting.unlink()
