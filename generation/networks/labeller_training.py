"""Train a labeller by fastText on the data's emotions or on labelled texts, or take a model that fastText wrote."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from generation.corpora.import_records import DialogRecord
from generation.errors import CheckpointRefused, DataRefused, TrainingRefused
from generation.networks.labeller import Labeller, read_labeller, tokens_of

# 2,000,000 buckets and 100 dimensions, fastText's own, give an accuracy that is no higher, and 60 times the file.
SETTINGS = {"lr": 0.3, "epoch": 15, "wordNgrams": 2, "bucket": 50_000, "dim": 50}
MARK = "__label__"
_TRAIN = """
import json, sys, fasttext
fasttext.train_supervised(sys.argv[1], **json.loads(sys.argv[3])).save_model(sys.argv[2])
"""

Labelled = tuple[str, str]  # label, text


def train_labeller(texts: Sequence[Labelled], seed: int = 0) -> Labeller:
    """Train on shuffled texts: in a file that is grouped by emotion, fastText learns the last ones only."""
    if not texts:
        raise DataRefused("There is no text with a label to learn from.")
    shuffled = [texts[number] for number in np.random.default_rng(seed).permutation(len(texts))]
    return _take_over(train_fasttext(shuffled, seed))


def train_fasttext(texts: Sequence[Labelled], seed: int = 0, **settings: Any) -> Any:
    """Train fastText in a process of its own, and return its model.

    With one thread, fastText fills only a tenth of its vectors with numbers and leaves the others as it finds them in
    memory, which may be anything. Large pieces of memory are empty when they come from the system, as they always do
    where malloc's threshold is fixed; only then is the same model learned from the same texts.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines, model = Path(folder) / "lines.txt", Path(folder) / "model.bin"
        with lines.open("w", encoding="utf-8") as file:
            file.writelines(f"{MARK}{_one_word(label)} {' '.join(_words_of(text))}\n" for label, text in texts)
        told = json.dumps({"thread": 1, "verbose": 0, "seed": seed, **SETTINGS, **settings})
        command = [sys.executable, "-c", _TRAIN, str(lines), str(model), told]
        environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            why = done.stderr.strip().splitlines()
            raise TrainingRefused(f"fastText could not learn these labels: {why[-1] if why else 'it was killed'}")
        return _fasttext().load_model(str(model))


def load_labeller(place: str) -> Labeller:
    """Read a file that train_labeller wrote, or else a model of fastText. fastText's own code reads that, and does not
    guard against files that were made to harm: name only files that you trust."""
    path = Path(place)
    if not path.is_file():
        raise CheckpointRefused(f"There is no labeller {place}; train_labeller makes one.")
    if path.suffix == ".safetensors":
        return read_labeller(path)
    try:
        model = _fasttext().load_model(str(path))
    except (ValueError, RuntimeError) as error:
        raise CheckpointRefused(f"fastText can't read {place}: {error}") from error
    return _take_over(model)


def accuracy(labeller: Labeller, texts: Sequence[Labelled]) -> float:
    return sum(labeller.label(text) == _one_word(label) for label, text in texts) / len(texts)


def emotions_of(records: Iterable[DialogRecord]) -> Iterator[Labelled]:
    """Yield each situation with its emotion once; the newest four turns where a dialog has no situation."""
    seen: set[Labelled] = set()
    for record in records:
        found = (record.emotion, record.situation or " ".join(record.turns[-4:]))
        if record.emotion and found not in seen:
            seen.add(found)
            yield found


def read_labelled_lines(path: Path) -> list[Labelled]:
    """Read lines of a label, a tab and a text, such as the topics of 20 Newsgroups."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataRefused(f"{path} can't be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        label, tab, text = line.partition("\t")
        if not line.strip():
            continue
        if not tab or not label.strip():
            raise DataRefused(f"{path}, line {number}: write a label, a tab and a text.")
        found.append((label.strip(), text))
    return found


def _words_of(text: str) -> list[str]:
    """Return a text's tokens but for those that fastText would take for a label, which anybody can type."""
    return [token for token in tokens_of(text) if not token.startswith(MARK)]


def _one_word(label: str) -> str:
    return "-".join(label.split())


def _take_over(model: Any) -> Labeller:
    """Take numbers and words out of fastText's model. Character n-grams, hierarchical softmax and quantised numbers
    would need more of its code, and none of them is its default."""
    told = model.f.getArgs()
    if model.is_quantized() or told.maxn > 0 or told.loss.name == "hs":
        raise TrainingRefused(
            "This model of fastText is quantised, or has character n-grams or hierarchical softmax; train it without."
        )
    if not model.get_labels() or not str(model.get_labels()[0]).startswith(told.label):
        raise TrainingRefused("This model of fastText has no labels; a classifier is needed (train_supervised).")
    words = {word: number for number, word in enumerate(model.get_words())}
    labels = [name.removeprefix(told.label) for name in model.get_labels()]
    vectors, output = (
        np.array(matrix, dtype=np.float32) for matrix in (model.get_input_matrix(), model.get_output_matrix())
    )
    return Labeller(words, labels, vectors, output, max(1, int(told.wordNgrams)))


def _fasttext() -> Any:
    import fasttext

    return fasttext
