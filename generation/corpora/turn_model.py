"""Tell whether two neighbouring lines of subtitles are of one turn (Lison and Meena 2016), by a linear SVM.

    same turn if sum of the weights of the features + bias > 0

The features are hashed into a million buckets. They are ours, because theirs could not be read again: words, pairs of
words and lengths of both lines, how they end and begin, which words they share, and, where the data has times, the
pause between them and how long they last. The model is a .npz file without pickles. Training needs scikit-learn.
"""

import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evalplatform.errors import EvalPlatformError

BUCKETS = 1 << 20
FORMAT_VERSION = 1
MOST_BYTES = 5 * BUCKETS  # of a model, unpacked: four for each weight, and a few
C = 0.01  # how much a wrong pair costs in training, beside large weights
HELD_OUT_OF = 10

_TOKEN = re.compile(r"\.\.\.|\w+(?:'\w+)?|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.?!…])[\"'”’)\]]*\s+")
_LENGTH_BINS = (1, 2, 3, 5, 8, 12, 20)
_SECOND_BINS = (0.0, 0.1, 0.3, 0.6, 1.0, 2.0, 3.0, 5.0)


class TurnDataRefused(EvalPlatformError):
    """A script or a model of turns can't be used."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    text: str
    start: float | None = None  # seconds
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """Lines that follow each other, and the speaker of each."""

    lines: list[SpokenLine]
    speakers: list[str]


@dataclass(frozen=True)
class TurnModel:
    weights: npt.NDArray[np.float32]
    bias: float

    def is_same_turn(self, before: SpokenLine, after: SpokenLine) -> bool:
        return float(self.weights[buckets_of(before, after)].sum()) + self.bias > 0

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(
                file, version=np.int64(FORMAT_VERSION), weights=self.weights, bias=np.float64(self.bias)
            )


@dataclass(frozen=True)
class Trained:
    model: TurnModel
    pairs: int
    held_out: int
    accuracy: float  # on the pairs that were held out
    majority: float  # the accuracy of always saying the more frequent answer


def load_turn_model(path: Path) -> TurnModel:
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(one.file_size for one in packed.infolist())
        if unpacked > MOST_BYTES:
            raise ValueError(f"unpacked, it has {unpacked:,} bytes")
        with np.load(path, allow_pickle=False) as stored:
            version, weights, bias = int(stored["version"]), stored["weights"], float(stored["bias"])
    except Exception as error:  # zipfile and numpy raise errors of many classes, MemoryError among them
        reason = " ".join(str(error).split())
        raise TurnDataRefused(f"{path} is no model of turns that train_turns wrote: {reason}") from error
    is_right = weights.shape == (BUCKETS,) and weights.dtype == np.float32 and bool(np.isfinite(weights).all())
    if version != FORMAT_VERSION or not is_right or not np.isfinite(bias):
        raise TurnDataRefused(f"{path} is broken or of another version; train it again by train_turns.")
    return TurnModel(weights, bias)


def train_turn_model(scenes: Sequence[Scene]) -> Trained:
    """Train on nine of ten scenes, and measure on the tenth ones."""
    from scipy.sparse import csr_matrix
    from sklearn.svm import LinearSVC

    held_out = [scene for number, scene in enumerate(scenes) if number % HELD_OUT_OF == HELD_OUT_OF - 1]
    training = [scene for number, scene in enumerate(scenes) if number % HELD_OUT_OF != HELD_OUT_OF - 1]
    learned, asked = list(pairs_of(training)), list(pairs_of(held_out))
    if len({is_same for _, _, is_same in learned}) < 2 or not asked:
        raise TurnDataRefused(
            f"Too little to learn turns from: {len(scenes)} scenes with {len(learned):,} pairs of lines. At least ten "
            "scenes are needed, and speakers who say several sentences."
        )
    rows = [buckets_of(before, after) for before, after, _ in learned]
    places = (np.concatenate(rows), np.cumsum([0, *map(len, rows)]))
    features = csr_matrix((np.ones(len(places[0]), dtype=np.float32), *places), shape=(len(rows), BUCKETS))
    machine = LinearSVC(C=C, random_state=0).fit(features, [is_same for _, _, is_same in learned])
    model = TurnModel(machine.coef_[0].astype(np.float32), float(machine.intercept_[0]))
    right = sum(model.is_same_turn(before, after) == is_same for before, after, is_same in asked)
    same = sum(is_same for _, _, is_same in asked) / len(asked)
    return Trained(model, len(learned), len(asked), right / len(asked), max(same, 1 - same))


def pairs_of(scenes: Iterable[Scene]) -> Iterator[tuple[SpokenLine, SpokenLine, bool]]:
    """Yield neighbouring lines, and whether one speaker says both."""
    for scene in scenes:
        for number in range(1, len(scene.lines)):
            is_same = scene.speakers[number - 1] == scene.speakers[number]
            yield scene.lines[number - 1], scene.lines[number], is_same


def buckets_of(before: SpokenLine, after: SpokenLine) -> npt.NDArray[np.int64]:
    return np.array(sorted({zlib.crc32(name.encode()) % BUCKETS for name in features_of(before, after)}))


def features_of(before: SpokenLine, after: SpokenLine) -> Iterator[str]:
    first, second = _tokens(before.text), _tokens(after.text)
    for side, tokens in (("a", first), ("b", second)):
        yield from (f"{side} {token}" for token in tokens)
        yield from (f"{side} {one} {other}" for one, other in pairwise(tokens))
        yield f"{side} length {_bin(len(tokens), _LENGTH_BINS)}"
        yield f"{side} begins {tokens[0]}"
        yield f"{side} ends {tokens[-1]}"
    yield f"border {first[-1]}|{second[0]}"
    yield f"ends {first[-1]}|{second[-1]}"
    yield f"begins {first[0]}|{second[0]}"
    yield from (f"shared {token}" for token in set(first) & set(second))
    yield f"shares {_bin(len(set(first) & set(second)), _LENGTH_BINS)}"
    yield f"lower case {after.text[:1].islower()}"
    if before.end is not None and after.start is not None:
        yield f"pause {_bin(after.start - before.end, _SECOND_BINS)}"
    for side, line in (("a", before), ("b", after)):
        if line.start is not None and line.end is not None:
            yield f"{side} lasts {_bin(line.end - line.start, _SECOND_BINS)}"


def read_script(path: Path) -> list[Scene]:
    """Read a script that names its speakers. A blank line ends a scene.

    A line is a speaker, a tab and what is said or, in a file that ends in .jsonl, an object with `speaker`, `text` and,
    if they are known, `start` and `end` in seconds. What is said at once is split into its sentences, unless it has
    times.
    """
    read = _read_object if path.suffix == ".jsonl" else _read_columns
    scenes = [Scene([], [])]
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    scenes.append(Scene([], []))
                    continue
                try:
                    speaker, spoken = read(line.strip("\r\n"))
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise TurnDataRefused(f"{path}, line {number}: write a speaker and what is said.") from None
                scenes[-1].lines.extend(spoken)
                scenes[-1].speakers.extend([speaker] * len(spoken))
    except (OSError, UnicodeDecodeError) as error:
        raise TurnDataRefused(f"{path} can't be read: {error}") from error
    return [scene for scene in scenes if len(scene.lines) > 1]


def _read_columns(line: str) -> tuple[str, list[SpokenLine]]:
    speaker, tab, text = line.partition("\t")
    if not tab or not speaker.strip():
        raise ValueError("no speaker")
    return speaker.strip(), _sentences(text)


def _read_object(line: str) -> tuple[str, list[SpokenLine]]:
    values = json.loads(line)
    speaker, text = values["speaker"].strip(), values["text"]
    times = [None if values.get(name) is None else float(values[name]) for name in ("start", "end")]
    if times == [None, None]:
        return speaker, _sentences(text)
    return speaker, [SpokenLine(text.strip(), *times)] if _tokens(text) != [""] else []


def _sentences(text: str) -> list[SpokenLine]:
    return [SpokenLine(part.strip()) for part in _SENTENCE_END.split(text) if _TOKEN.search(part)]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower()) or [""]


def _bin(value: float, limits: Sequence[float]) -> int:
    return sum(value > limit for limit in limits)
