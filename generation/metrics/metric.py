"""What a metric is. Each has a file of its own and a line in METRICS (metrics/all_metrics.py).

A metric may score single replies (rows of CandidateScore), all replies of a generator to a dataset (rows of
GeneratorScore, a column of a table each), or both. Its file imports heavy packages inside of its functions: web pages
read what the metrics are called.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import QuerySet

from evalplatform.errors import EvalPlatformError
from generation.contexts import Context
from generation.emotions import EMOTIONS, LABELS
from generation.loading import Loader
from generation.models import Candidate, CandidateScore, Dataset, Dialog, Generator, GeneratorScore
from generation.registry import load_kind

REPLIES, PREDICTED_LABELS = "Replies", "Predicted labels"  # the papers' tables 3 and 4
TABLES = (REPLIES, PREDICTED_LABELS)

Scores = Sequence[float]
Found = tuple[Mapping[str, float | None], int]  # values by column, and how many replies they are about


@dataclass(frozen=True)
class Column:
    """A column of a table, by the name under which its values are stored."""

    name: str
    heading: str
    style: str  # how its numbers are written
    reads: str  # what it is, for researchers
    is_lower_better: bool = False
    has_leading_zero: bool = False  # the papers write shares as .12


class Metric:
    table: ClassVar[str] = REPLIES
    columns: ClassVar[tuple[Column, ...]] = ()
    reply_scores: ClassVar[tuple[str, ...]] = ()  # of single replies; computed together, the last one stored last
    beside_ratings: ClassVar[Mapping[str, str]] = {}  # those that stand beside people's ratings, in words
    packages: ClassVar[tuple[str, ...]] = ()  # what must be importable
    needs: ClassVar[str] = "replies"  # for docs/metrics.md
    asks: ClassVar[str] = ""  # the method of the generator's kind that single replies need, if any
    is_slow: ClassVar[bool] = False  # left out on request
    hides_other_versions: ClassVar[bool] = False  # values that were computed differently would mislead

    def version(self) -> str:
        """Name the way in which it is computed. Values of another version are computed anew."""
        return "1"

    def replies_of(self, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
        """Choose the replies that can be scored one by one: here, those with a human reply to compare with."""
        return candidates.exclude(dialog__gold="")

    def score_replies(self, candidates: Sequence[Candidate], asked: "Asked") -> Sequence[Scores]:
        """Return a number for each of `reply_scores`, for each candidate."""
        raise NotImplementedError(f"{type(self).__name__} scores no single replies.")

    def summarise(self, replies: "Replies") -> Found:
        """Return the columns' values. What a dataset or generator does not allow is left out, or None."""
        return {}, 0

    def notes(self, rows: Mapping[str, Mapping[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
        """Say what whoever compares the rows of a table must know: {row: {column: score}}."""
        return []


class Asked:
    """Where single replies are scored, and the generator that is asked about them, loaded when it is first needed."""

    def __init__(self, device: str, generator: Generator | None = None) -> None:
        self.device = device
        self._generator = generator
        self._loader = Loader(device)

    def score_gold(self, dialogs: Sequence[Dialog]) -> list[tuple[float, int]]:
        """With the gold's own label where it is known: generators of labelled replies are trained that way."""
        contexts = [_context(one, one.gold_label if one.gold_label in LABELS else "") for one in dialogs]
        found: list[tuple[float, int]] = self._kind().score_gold(contexts, [one.gold for one in dialogs])
        return found

    def rank_emotions(self, dialogs: Sequence[Dialog]) -> list[list[str]]:
        found: list[list[str]] = self._kind().rank_emotions([_context(one) for one in dialogs])
        return found

    def _kind(self) -> Any:
        if self._generator is None:
            raise EvalPlatformError("A metric asked a generator without saying so in `asks`.")
        return self._loader.get(self._generator).kind


def can_answer(generator: Generator, method: str) -> bool:
    """Return whether the generator's kind has this method, and its checkpoint has what it takes (`can_METHOD`)."""
    if not generator.can_answer:
        return False
    kind = load_kind(generator.kind)
    can = getattr(kind, f"can_{method}", lambda checkpoint: True)
    return hasattr(kind, method) and bool(can(generator.checkpoint))


def _context(dialog: Dialog, label: str = "") -> Context:
    return Context(tuple(dialog.turns), tuple(dialog.turn_labels), forced_label=label)


class Replies:
    """All of a generator's replies to a dataset. Each column is read when it is first asked for."""

    def __init__(self, dataset: Dataset, generator: Generator) -> None:
        self.dataset, self.generator = dataset, generator
        self.candidates: QuerySet[Candidate] = Candidate.objects.filter(dialog__dataset=dataset, generator=generator)
        self.count = self.candidates.count()

    @cached_property
    def texts(self) -> list[str]:
        return list(self.candidates.order_by("pk").values_list("display_text", flat=True))

    @cached_property
    def beside_gold(self) -> list[tuple[str, str]]:
        """(reply, human reply), as workers read them."""
        found = self.candidates.exclude(dialog__gold="").select_related("dialog").order_by("pk")
        return [(one.display_text, one.dialog.display_gold) for one in found]

    @cached_property
    def labels(self) -> list[tuple[str, str, str]]:
        """(predicted, the gold's, the dialog's emotion) of the replies that have a predicted label."""
        found = self.candidates.exclude(predicted_label="").order_by("pk")
        return list(found.values_list("predicted_label", "dialog__gold_label", "dialog__emotion"))

    @cached_property
    def are_emotions(self) -> bool:
        """Return whether predictions are guesses at the dialog's emotion, as MoEL and MIME make them, and not at the
        reply's own label. Generators that answer here predict the latter. Of imported ones, the labels tell: among
        many of them there would be an intent."""
        others = self.generator.candidates.exclude(predicted_label__in=["", *EMOTIONS])
        return not self.generator.can_answer and not others.exists()

    def scores(self, metric: str, version: str) -> list[float]:
        found = CandidateScore.objects.filter(candidate__in=self.candidates, metric=metric, version=version)
        return list(found.order_by("candidate").values_list("value", flat=True))
