"""Count dialogs, gold replies and each generator's candidates for the pages, with a fixed number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from generation.models import Dataset, Dialog, GenerationRun, Generator


@dataclass(frozen=True)
class Coverage:
    """How many of a dataset's dialogs a generator has answered."""

    generator: Generator
    candidate_count: int
    dialog_count: int

    @property
    def is_complete(self) -> bool:
        return self.candidate_count == self.dialog_count


@dataclass(frozen=True)
class DatasetCounts:
    dataset: Dataset
    dialog_count: int
    gold_count: int
    coverage: list[Coverage]


@dataclass(frozen=True)
class Arrival:
    """One line of the home page's list of new candidates: an imported file, or a run that was answered here.

    An imported file has one run for each of its generators; they are shown as one arrival.
    """

    dataset: Dataset
    origin: str
    finished_at: datetime | None
    is_generated: bool
    generators: list[str]


def count_datasets(datasets: Iterable[Dataset]) -> list[DatasetCounts]:
    datasets = list(datasets)
    dialogs = Dialog.objects.filter(dataset__in=datasets)
    dialog_counts = dict(dialogs.values_list("dataset").annotate(Count("pk")))
    gold_counts = dict(dialogs.with_gold().values_list("dataset").annotate(Count("pk")))
    coverage: dict[int, list[Coverage]] = {dataset.pk: [] for dataset in datasets}
    generators = Generator.objects.in_bulk()
    # Count by run, not by dialog: a run knows its dataset, so no candidate has to be joined with its dialog.
    runs = GenerationRun.objects.filter(dataset__in=datasets).values_list("dataset", "generator")
    for dataset_id, generator_id, count in runs.annotate(Count("candidates")).order_by("generator__name"):
        answered = Coverage(generators[generator_id], count, dialog_counts.get(dataset_id, 0))
        coverage[dataset_id].append(answered)
    return [
        DatasetCounts(dataset, dialog_counts.get(dataset.pk, 0), gold_counts.get(dataset.pk, 0), coverage[dataset.pk])
        for dataset in datasets
    ]


def recent_arrivals(most: int) -> list[Arrival]:
    arrivals: dict[tuple[int, str, bool], Arrival] = {}
    for run in GenerationRun.objects.select_related("generator", "dataset").order_by("-pk").iterator(chunk_size=100):
        key = (run.dataset_id, run.origin, run.finished_at is None)
        if key not in arrivals and len(arrivals) == most:
            break
        arrival = arrivals.setdefault(
            key, Arrival(run.dataset, run.origin, run.finished_at, run.dialog_count is not None, [])
        )
        if run.generator.name not in arrival.generators:
            arrival.generators.append(run.generator.name)
    return list(arrivals.values())


def count_emotions(dataset: Dataset) -> list[tuple[str, int]]:
    """Return each emotion with its number of dialogs, the most frequent first."""
    counts = dataset.dialogs.exclude(emotion="").values_list("emotion").annotate(total=Count("pk"))
    return list(counts.order_by("-total", "emotion"))
