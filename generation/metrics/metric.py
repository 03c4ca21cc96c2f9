"""Define what a metric is, and whether a generator predicts the dialog's emotion or the reply's own label.

Each metric has a file of its own and a line in METRICS (metrics/all_metrics.py).

A metric may score single replies (rows of CandidateScore), all replies of a generator to a dataset (rows of
GeneratorScore, each a column of a table), or both. Its file imports heavy packages inside of its functions, because web
pages import it to show the metrics' names.
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
Found = tuple[Mapping[str, float | None], int]  # values by column, and from how many replies they are computed


@dataclass(frozen=True)
class Column:
    """A column of a table, by the name under which its values are stored."""

    name: str
    heading: str
    style: str  # the format of its numbers
    reads: str  # an explanation for researchers
    has_leading_zero: bool = False  # the papers write shares as .12


class Metric:
    table: ClassVar[str] = REPLIES
    columns: ClassVar[tuple[Column, ...]] = ()
    reply_scores: ClassVar[tuple[str, ...]] = ()  # names of scores of single replies; they are computed together
    beside_ratings: ClassVar[Mapping[str, str]] = {}  # those shown beside people's ratings, and their titles there
    packages: ClassVar[tuple[str, ...]] = ()  # packages that must be installed
    asks: ClassVar[str] = ""  # the method of the generator's kind that scoring single replies needs, if any
    is_slow: ClassVar[bool] = False  # it can be left out on request
    hides_other_versions: ClassVar[bool] = False  # don't show values of another version, because they would mislead

    def version(self) -> str:
        """Return a name for the way in which the metric is computed. If it changes, all values are computed again."""
        return "1"

    def replies_of(self, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
        """Choose the replies that can be scored one by one. By default, those whose dialog has a human reply."""
        return candidates.exclude(dialog__gold="")

    def score_replies(self, candidates: Sequence[Candidate], asked: "Asked") -> Sequence[Scores]:
        """Return for each candidate a number for each of `reply_scores`."""
        raise NotImplementedError(f"{type(self).__name__} scores no single replies.")

    def summarise(self, replies: "Replies") -> Found:
        """Return the values of the columns. One that can't be computed for this dataset or generator is missing or
        None."""
        return {}, 0

    def notes(self, rows: Mapping[str, Mapping[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
        """Return warnings for someone who compares the rows of a table. `rows` is {row: {column: score}}."""
        return []


class Asked:
    """The generator that is asked about single replies. It is loaded when it is first needed."""

    def __init__(self, device: str, generator: Generator | None = None) -> None:
        self.device = device
        self._generator = generator
        self._loader = Loader(device)

    def score_gold(self, dialogs: Sequence[Dialog]) -> list[tuple[float, int]]:
        """Return each gold's log-probability and number of tokens. The gold's own label is forced if it is known,
        because generators of labelled replies are trained with it."""
        contexts = [_make_context(one, one.gold_label if one.gold_label in LABELS else "") for one in dialogs]
        found: list[tuple[float, int]] = self._kind().score_gold(contexts, [one.gold for one in dialogs])
        return found

    def score_gold_told_polarity(self, dialogs: Sequence[Dialog]) -> list[tuple[float, int]]:
        """Return the same from a generator that is told whether the dialog's emotion is a positive one."""
        contexts = [_make_context(one) for one in dialogs]
        found: list[tuple[float, int]] = self._kind().score_gold_told_polarity(contexts, [one.gold for one in dialogs])
        return found

    def rank_emotions(self, dialogs: Sequence[Dialog]) -> list[list[str]]:
        found: list[list[str]] = self._kind().rank_emotions([_make_context(one) for one in dialogs])
        return found

    def match_replies(self, dialogs: Sequence[Dialog], replies: Sequence[str]) -> list[list[float]]:
        """Return how well each reply fits each dialog: the higher, the better."""
        found: list[list[float]] = self._kind().match_replies([_make_context(one) for one in dialogs], replies)
        return found

    def _kind(self) -> Any:
        if self._generator is None:
            raise EvalPlatformError("A metric asked a generator without saying so in `asks`.")
        return self._loader.get(self._generator).kind


def can_answer(generator: Generator, method: str) -> bool:
    """Return whether the generator's kind has this method, and its checkpoint has the parts for it (`can_METHOD`)."""
    if not generator.can_answer:
        return False
    kind = load_kind(generator.kind)
    can = getattr(kind, f"can_{method}", lambda checkpoint: True)
    return hasattr(kind, method) and bool(can(generator.checkpoint))


def _make_context(dialog: Dialog, label: str = "") -> Context:
    return Context(tuple(dialog.turns), tuple(dialog.turn_labels), forced_label=label, emotion=dialog.emotion)


class Replies:
    """All of a generator's replies to a dataset, and the generator itself. Each column is read when it is first asked
    for."""

    def __init__(self, dataset: Dataset, generator: Generator, asked: Asked) -> None:
        self.dataset, self.generator, self.asked = dataset, generator, asked
        self.candidates: QuerySet[Candidate] = Candidate.objects.filter(dialog__dataset=dataset, generator=generator)
        self.count = self.candidates.count()

    @cached_property
    def texts(self) -> list[str]:
        return list(self.candidates.order_by("pk").values_list("display_text", flat=True))

    @cached_property
    def beside_gold(self) -> list[tuple[str, str]]:
        """Return (reply, human reply) of each dialog that has both, as workers read them."""
        found = self.candidates.exclude(dialog__gold="").select_related("dialog").order_by("pk")
        return [(one.display_text, one.dialog.display_gold) for one in found]

    @cached_property
    def labels(self) -> list[tuple[str, str, str]]:
        """Return (predicted label, the gold's label, the dialog's emotion) of replies that have a predicted label."""
        found = self.candidates.exclude(predicted_label="").order_by("pk")
        return list(found.values_list("predicted_label", "dialog__gold_label", "dialog__emotion"))

    @cached_property
    def are_emotions(self) -> bool:
        """Return whether predictions are guesses at the dialog's emotion, as MoEL and MIME make them, and not at the
        reply's own label. Generators that answer here predict the reply's label. For imported ones we look at the
        labels: if they were the replies' own, there would be intents among them."""
        others = self.generator.candidates.exclude(predicted_label__in=["", *EMOTIONS])
        return not self.generator.can_answer and not others.exists()

    def scores(self, metric: str, version: str) -> list[float]:
        found = CandidateScore.objects.filter(candidate__in=self.candidates, metric=metric, version=version)
        return list(found.order_by("candidate").values_list("value", flat=True))
