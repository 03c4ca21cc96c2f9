"""Chooses which dialogs a study takes from its datasets: the same for the same seed, on any machine.

The order comes from a hash of the seed and the dialog's id, not from the state of a random generator or from a
database's collation. So adding dialogs to a dataset later does not reshuffle the others, and the Python version does
not matter.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, zip_longest

from django.db.models import Case, Count, Exists, F, OuterRef, Value, When

from generation.models import Candidate, Dataset, Dialog, Generator
from hits.designing.sizing import size_of_batches
from hits.models.design import DatasetPart, StudyDesign

CHUNK = 5_000


@dataclass(frozen=True, slots=True, order=True)
class ChosenDialog:
    """A dialog that the study takes."""

    pk: int
    external_id: str
    has_gold: bool


@dataclass(frozen=True)
class Selection:
    """The dialogs that a study takes from one dataset."""

    dataset: str
    dialogs: list[ChosenDialog]
    skipped_count: int = 0  # dialogs passed over because some generator has not answered them
    scarce: dict[str, int] = field(default_factory=dict)  # values of a label with too few dialogs, and how many


@dataclass(frozen=True)
class MissingReplies:
    """How many dialogs a generator has not answered, and the ids of a few."""

    count: int
    examples: list[str]


def order_key(*parts: object) -> bytes:
    """Return a sort key that shuffles, in a way that the parts determine. The separator tells ("a", "bc") from
    ("ab", "c")."""
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).digest()


def select_dialogs(design: StudyDesign) -> list[Selection]:
    """Return the dialogs of each dataset of the design in seeded order, as many as it asks for or as there are."""
    generators = list(Generator.objects.filter(name__in=design.generators))
    return [
        _select_from_dataset(design, Dataset.objects.get(name=part.name), part, generators) for part in design.datasets
    ]


def fill_blocks(design: StudyDesign, selections: list[Selection]) -> list[Selection]:
    """With `drop`, leave out the few dialogs that fill no HIT: from the largest dataset, those without a gold first."""
    dropped = size_of_batches(design, sum(len(selection.dialogs) for selection in selections)).dropped_count
    remaining = [list(selection.dialogs) for selection in selections]
    for _ in range(dropped):
        largest = max(remaining, key=len)
        without_gold = [index for index, dialog in enumerate(largest) if not dialog.has_gold]
        del largest[without_gold[-1] if without_gold else -1]
    return [Selection(selection.dataset, dialogs) for selection, dialogs in zip(selections, remaining, strict=True)]


def missing_replies(design: StudyDesign, selection: Selection, most_examples: int) -> dict[str, MissingReplies]:
    """Return, by generator, the chosen dialogs that it has not answered.

    The database looks for what is missing, which is usually little. Sending it the list of chosen dialogs, or reading
    who answered which, took ten times as long for 60,000 of them.
    """
    missing: dict[str, MissingReplies] = {}
    chosen = {dialog.pk: dialog.external_id for dialog in selection.dialogs}
    for generator in Generator.objects.filter(name__in=design.generators):
        replies = Candidate.objects.filter(generator=generator, dialog=OuterRef("pk"))
        silent = Dialog.objects.filter(~Exists(replies), dataset__name=selection.dataset)
        unanswered = sorted(chosen[pk] for pk in silent.values_list("pk", flat=True).iterator() if pk in chosen)
        if unanswered:
            missing[generator.name] = MissingReplies(len(unanswered), unanswered[:most_examples])
    return {name: missing[name] for name in design.generators if name in missing}


def chunks(dialogs: list[ChosenDialog], size: int = CHUNK) -> Iterator[list[ChosenDialog]]:
    """Yield the dialogs in lists of at most `size`."""
    remaining = iter(dialogs)
    while chunk := list(islice(remaining, size)):
        yield chunk


def _select_from_dataset(
    design: StudyDesign, dataset: Dataset, part: DatasetPart, generators: list[Generator]
) -> Selection:
    rows = Dialog.objects.filter(dataset=dataset)
    dialog_count = rows.count()
    if design.data.incomplete == "skip":
        complete = (
            Candidate.objects.filter(dialog__dataset=dataset, generator__in=generators)
            .values("dialog")
            .annotate(answers=Count("pk"))
            .filter(answers=len(generators))
        )
        rows = rows.filter(pk__in=complete.values("dialog"))
    label = F(part.even_by) if part.even_by else Value("")
    has_gold = Case(When(gold="", then=Value(False)), default=Value(True))
    columns = rows.annotate(has_gold=has_gold, label=label).values_list("pk", "external_id", "has_gold", "label")
    named = set(part.ids)
    found = sorted(
        (order_key(design.seed, dataset.name, external_id), label, ChosenDialog(pk, external_id, bool(is_checkable)))
        for pk, external_id, is_checkable, label in columns.iterator(chunk_size=CHUNK)
        if not named or external_id in named
    )
    skipped_count = dialog_count - len(found) if not named else 0
    if part.even_by:
        return _select_evenly(design, dataset, part, found, skipped_count)
    return Selection(dataset.name, [dialog for _, _, dialog in found[: part.dialog_count]], skipped_count)


def _select_evenly(
    design: StudyDesign, dataset: Dataset, part: DatasetPart, found: list[tuple[bytes, str, ChosenDialog]], skipped: int
) -> Selection:
    """Take as many dialogs of each value of the label. What is left over goes to values that the seed chooses.

    Dialogs without the label are never chosen. Where a value has too few, others get more, and it is named as scarce.
    """
    by_value: dict[str, list[tuple[bytes, str, ChosenDialog]]] = defaultdict(list)
    for one in found:
        if one[1]:
            by_value[one[1]].append(one)
    values = sorted(by_value, key=lambda value: order_key(design.seed, "value", dataset.name, value))
    ranked = [one for rank in zip_longest(*(by_value[value] for value in values)) for one in rank if one is not None]
    each = part.dialog_count // len(values) if values else 0
    scarce = {value: len(by_value[value]) for value in sorted(values) if len(by_value[value]) < each}
    chosen = sorted(ranked[: part.dialog_count])
    return Selection(dataset.name, [dialog for _, _, dialog in chosen], skipped, scarce)
