"""Find the dialog that an imported reply belongs to: by its id or, without one, by the exact context; never by
guess."""

from collections.abc import Iterable

from generation.corpora.import_records import BadRecord, CandidateRecord
from generation.models import Dataset, Dialog, context_key


class DialogFinder:
    """Loads the dialogs that a batch of replies may belong to with two queries for each dataset, then answers from
    memory."""

    def __init__(self, replies: Iterable[tuple[Dataset | None, CandidateRecord]]) -> None:
        ids: dict[int, set[str]] = {}
        keys: dict[int, set[int]] = {}
        for dataset, record in replies:
            if dataset is None:
                continue
            if record.external_id:
                ids.setdefault(dataset.pk, set()).add(record.external_id)
            elif record.turns:
                keys.setdefault(dataset.pk, set()).add(context_key(record.turns))
        self._by_id = {
            (dataset_id, dialog.external_id): dialog
            for dataset_id, wanted in ids.items()
            for dialog in Dialog.objects.filter(dataset=dataset_id, external_id__in=wanted)
        }
        self._by_context: dict[tuple[int, tuple[str, ...]], list[Dialog]] = {}
        for dataset_id, wanted_keys in keys.items():
            for dialog in Dialog.objects.filter(dataset=dataset_id, context_key__in=wanted_keys):
                self._by_context.setdefault((dataset_id, tuple(dialog.turns)), []).append(dialog)

    def find(self, dataset: Dataset | None, record: CandidateRecord) -> Dialog:
        if dataset is None:
            if record.dataset:
                raise BadRecord(f"there is no dataset named {record.dataset!r}; import its dialogs first")
            raise BadRecord("the line names no dataset; name it with --dataset")
        if record.external_id:
            return self._find_by_id(dataset, record)
        found = self._by_context.get((dataset.pk, tuple(record.turns or ())), [])
        if not found:
            raise BadRecord(f"no dialog of {dataset} has this context")
        if len(found) > 1:
            raise BadRecord(f"{len(found)} dialogs of {dataset} have this context; give the id of the right one")
        return found[0]

    def _find_by_id(self, dataset: Dataset, record: CandidateRecord) -> Dialog:
        dialog = self._by_id.get((dataset.pk, record.external_id))
        if dialog is None:
            raise BadRecord(f"no dialog of {dataset} has the id {record.external_id!r}")
        if record.turns is not None and record.turns != dialog.turns:
            raise BadRecord(f"the context is not that of dialog {record.external_id!r}")
        return dialog
