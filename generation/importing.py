"""Import dialogs and candidates: decide which lines are new, known already, or contradict what is stored.

In: a file, and where its lines belong. Out: rows, and counts of what was added, known and refused, each refusal with
its line and reason. Guaranteed: a bad line never stops the rest, nothing is ever overwritten, the same file again adds
nothing, and memory does not grow with the file.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from generation.corpora.formats import dialog_format, read_candidate_file, read_dialog_file
from generation.corpora.import_records import BadRecord, CandidateRecord, DialogRecord, checked_name
from generation.corpora.lines import Problem
from generation.corpora.turn_model import TurnModel
from generation.dialog_finder import DialogFinder
from generation.display import display_text
from generation.models import Candidate, Dataset, Dialog, GenerationRun, Generator, context_key

BATCH_SIZE = 10_000
BATCH_BYTES = 8_000_000

Record = TypeVar("Record")
OnProblem = Callable[[Problem], None]


class ImportRefused(EvalPlatformError):
    """A strict import met a problem: nothing was imported."""


@dataclass
class ImportCounts:
    added: int = 0
    known: int = 0
    rejected: int = 0
    conflicts: int = 0
    datasets: set[str] = field(default_factory=set)  # those to which something was added


@dataclass
class ImportOptions:
    strict: bool = False
    dry_run: bool = False
    on_problem: OnProblem = lambda problem: None
    on_bytes: Callable[[int], None] = lambda count: None
    turns: TurnModel | None = None  # for dialogs of a file that does not say who speaks


def import_dialogs(
    path: Path, dataset_name: str, format: str | None = None, options: ImportOptions | None = None
) -> ImportCounts:
    name = _check_name(dataset_name)
    options = options or ImportOptions()
    return _import(
        path,
        lambda on_bytes: read_dialog_file(path, dialog_format(path, format), on_bytes, options.turns),
        lambda batch: _add_dialogs(name, path.name, batch),
        options,
    )


def import_candidates(
    path: Path, dataset_name: str = "", format: str | None = None, options: ImportOptions | None = None
) -> ImportCounts:
    """Find each reply's dialog in `dataset_name` or, without one, in the dataset that its own line names."""
    options = options or ImportOptions()
    importer = _CandidateImporter(path.name, dataset_name)
    counts = _import(path, lambda on_bytes: read_candidate_file(path, format, on_bytes), importer.add, options)
    if not options.dry_run:
        importer.finish()
    return counts


# --- The frame that both imports share -------------------------------------------------------------------------------


class _Report:
    """Counts what happened and passes each problem on at once: there may be as many as the file has lines."""

    def __init__(self, options: ImportOptions) -> None:
        self.counts = ImportCounts()
        self.bytes_read = 0
        self._on_problem = options.on_problem
        self._on_bytes = options.on_bytes

    def read(self, byte_count: int) -> None:
        self.bytes_read += byte_count
        self._on_bytes(byte_count)

    def problem(self, problem: Problem) -> None:
        if problem.is_conflict:
            self.counts.conflicts += 1
        else:
            self.counts.rejected += 1
        self._on_problem(problem)


@dataclass
class _Outcome:
    added: int = 0
    known: int = 0
    problems: list[Problem] = field(default_factory=list)
    datasets: set[str] = field(default_factory=set)


def _import(
    path: Path,
    read: Callable[[Callable[[int], None]], Iterator[Record | Problem]],
    add: Callable[[list[Record]], _Outcome],
    options: ImportOptions,
) -> ImportCounts:
    report = _Report(options)
    # One transaction for the whole file only if all of it may have to be undone; else each batch has its own.
    with transaction.atomic() if options.strict or options.dry_run else nullcontext():
        try:
            for batch in _make_batches(read(report.read), report):
                _add_safely(add, batch, report)
        except OSError as error:
            raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from error
        counts = report.counts
        if options.strict and (refused := counts.rejected + counts.conflicts):
            raise ImportRefused(f"Nothing imported: {refused:,} problems in {path.name}, and --strict allows none.")
        if options.dry_run:
            transaction.set_rollback(True)
    return counts


def _make_batches(records: Iterator[Record | Problem], report: _Report) -> Iterator[list[Record]]:
    batch: list[Record] = []
    first_byte = report.bytes_read
    for record in records:
        if isinstance(record, Problem):
            report.problem(record)
        else:
            batch.append(record)
        # Limit the bytes as well: a line may be a megabyte, and memory must not depend on the file.
        if batch and (len(batch) >= BATCH_SIZE or report.bytes_read - first_byte > BATCH_BYTES):
            yield batch
            batch, first_byte = [], report.bytes_read
    if batch:
        yield batch


def _add_safely(add: Callable[[list[Record]], _Outcome], batch: list[Record], report: _Report) -> None:
    """Add one batch, all or nothing. If another import adds the same rows meanwhile, look again: they are known now."""
    for attempt in (1, 2, 3):
        try:
            with transaction.atomic():
                outcome = add(batch)
            break
        except IntegrityError:
            if attempt == 3:
                raise
    report.counts.added += outcome.added
    report.counts.known += outcome.known
    report.counts.datasets |= outcome.datasets
    for problem in outcome.problems:
        report.problem(problem)


def _check_name(name: str) -> str:
    try:
        return checked_name(name, "The dataset's name")
    except BadRecord as bad:
        raise EvalPlatformError(f"{bad}.") from None


# --- Dialogs ---------------------------------------------------------------------------------------------------------


def _add_dialogs(dataset_name: str, file_name: str, batch: list[DialogRecord]) -> _Outcome:
    dataset, _ = Dataset.objects.get_or_create(name=dataset_name)
    outcome = _Outcome()
    stored = {
        dialog.external_id: dialog
        for dialog in dataset.dialogs.filter(external_id__in={record.external_id for record in batch})
    }
    new: list[Dialog] = []
    for record in batch:
        known = stored.get(record.external_id)
        if known is None:
            dialog = _dialog_row(dataset, file_name, record)
            stored[record.external_id] = dialog
            new.append(dialog)
            outcome.datasets.add(dataset_name)
        elif difference := _find_difference(known, record):
            outcome.problems.append(Problem(record.line, f"{record.external_id}: {difference}", is_conflict=True))
        else:
            outcome.known += 1
    Dialog.objects.bulk_create(new)
    outcome.added = len(new)
    return outcome


def _dialog_row(dataset: Dataset, file_name: str, record: DialogRecord) -> Dialog:
    return Dialog(
        dataset=dataset,
        external_id=record.external_id,
        turns=record.turns,
        turn_labels=record.turn_labels,
        gold=record.gold,
        gold_label=record.gold_label,
        emotion=record.emotion,
        situation=record.situation,
        source={"file": file_name, "line": record.line, **record.source},
        context_key=context_key(record.turns),
    )


def _find_difference(known: Dialog, record: DialogRecord) -> str:
    """Say where the line contradicts the stored dialog. A field that the line leaves out is no contradiction."""
    pairs = {
        "context": (known.turns, record.turns),
        "reference": (known.gold, record.gold),
        "emotion": (known.emotion, record.emotion),
        "situation": (known.situation, record.situation),
        "context_labels": (known.turn_labels, record.turn_labels),
        "reference_label": (known.gold_label, record.gold_label),
    }
    for name, (stored, given) in pairs.items():
        if given and stored != given:
            what = f"another {name} is stored" if stored else f"no {name} is stored"
            return f"{what} under this id, and a stored dialog is never changed"
    return ""


# --- Candidates ------------------------------------------------------------------------------------------------------


_TextAndLabel = tuple[str, str]


class _CandidateImporter:
    """Keeps the few datasets, generators and runs of one file at hand while its candidates stream through."""

    def __init__(self, file_name: str, dataset_name: str) -> None:
        self._origin = file_name[-300:]
        self._dataset_name = dataset_name
        self._datasets = {dataset.name: dataset for dataset in Dataset.objects.all()}
        if dataset_name and dataset_name not in self._datasets:
            raise EvalPlatformError(f"There is no dataset named {dataset_name!r}; import its dialogs first.")

    def add(self, batch: list[CandidateRecord]) -> _Outcome:
        # Look these up again for each batch: a batch that is undone also undoes the generators and runs that it added.
        self._generators: dict[str, Generator] = {}
        self._runs: dict[tuple[int, int], GenerationRun] = {}
        outcome = _Outcome()
        found = self._find_dialogs(batch, outcome)
        stored = self._stored_replies(found)
        new: list[Candidate] = []
        for record, dialog in found:
            generator = self._generator(record.generator)
            if generator.can_answer:
                reason = f"{generator} is a model that answers here; imported replies need a name of their own"
                outcome.problems.append(Problem(record.line, reason))
                continue
            known = stored.get((dialog.pk, generator.pk))
            if known is None:
                stored[dialog.pk, generator.pk] = record.text, record.label
                new.append(self._candidate_row(record, dialog, generator))
                outcome.datasets.add(self._dataset_name or record.dataset)
            elif difference := _find_reply_difference(known, record):
                reason = f"{dialog.external_id}: {difference} is stored, and a stored reply is never changed"
                outcome.problems.append(Problem(record.line, reason, is_conflict=True))
            else:
                outcome.known += 1
        Candidate.objects.bulk_create(new, batch_size=BATCH_SIZE)
        outcome.added = len(new)
        return outcome

    def finish(self) -> None:
        """Close the runs of this file, also those that an earlier, killed import of it left open."""
        GenerationRun.objects.filter(origin=self._origin, finished_at=None).update(finished_at=timezone.now())

    def _find_dialogs(self, batch: list[CandidateRecord], outcome: _Outcome) -> list[tuple[CandidateRecord, Dialog]]:
        dialogs = DialogFinder([(self._dataset_of(record), record) for record in batch])
        found: list[tuple[CandidateRecord, Dialog]] = []
        for record in batch:
            try:
                found.append((record, dialogs.find(self._dataset_of(record), record)))
            except BadRecord as bad:
                outcome.problems.append(Problem(record.line, str(bad)))
        return found

    def _stored_replies(self, found: list[tuple[CandidateRecord, Dialog]]) -> dict[tuple[int, int], _TextAndLabel]:
        """Return the stored replies by dialog and generator. Only this batch's generators are read: a dialog may have
        replies of any number of others."""
        candidates = Candidate.objects.filter(
            dialog__in={dialog.pk for _, dialog in found},
            generator__in={self._generator(record.generator).pk for record, _ in found},
        ).values_list("dialog_id", "generator_id", "text", "predicted_label")
        return {(dialog_id, generator_id): (text, label) for dialog_id, generator_id, text, label in candidates}

    def _dataset_of(self, record: CandidateRecord) -> Dataset | None:
        return self._datasets.get(self._dataset_name or record.dataset)

    def _candidate_row(self, record: CandidateRecord, dialog: Dialog, generator: Generator) -> Candidate:
        return Candidate(
            dialog=dialog,
            generator=generator,
            run=self._run(generator, dialog.dataset_id),
            text=record.text,
            display_text=display_text(record.text, [*dialog.turns, dialog.gold]),
            thoughts=record.thoughts,
            predicted_label=record.label,
        )

    def _generator(self, name: str) -> Generator:
        if name not in self._generators:
            self._generators[name], _ = Generator.objects.get_or_create(name=name)
        return self._generators[name]

    def _run(self, generator: Generator, dataset_id: int) -> GenerationRun:
        key = (generator.pk, dataset_id)
        if key not in self._runs:
            self._runs[key], _ = GenerationRun.objects.get_or_create(
                generator=generator, dataset_id=dataset_id, origin=self._origin, finished_at=None
            )
        return self._runs[key]


def _find_reply_difference(known: _TextAndLabel, record: CandidateRecord) -> str:
    """Say where the line contradicts the stored reply. A label that the line leaves out is no contradiction."""
    text, label = known
    if text != record.text:
        return f"another reply by {record.generator}"
    if record.label and label != record.label:
        return f"{'another' if label else 'no'} label of {record.generator}'s reply"
    return ""
