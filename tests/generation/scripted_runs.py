"""The cast of the tests of generating: dialogs, a generator that does what their last turns say, and runs of it."""

from django.utils import timezone

from generation.generating import answer_chunk
from generation.loading import Loader
from generation.models import Candidate, Dataset, Dialog, GenerationChunk, GenerationRun, Generator, context_key
from generation.registering import Registration, register_generator
from generation.run_requests import undone_chunks


def make_dialogs(*last_turns: str, before: tuple[str, ...] = ()) -> Dataset:
    dataset, _ = Dataset.objects.get_or_create(name="D")
    for turn in last_turns:
        turns = [*before, turn]
        Dialog.objects.create(dataset=dataset, external_id=turn, turns=turns, context_key=context_key(turns))
    return dataset


def make_generator(name: str = "scripted", checkpoint: str = "", **settings: object) -> Generator:
    return register_generator(Registration(name, "scripted", checkpoint, settings))


def answer(run: GenerationRun, loader: Loader | None = None) -> None:
    """All chunks that are left, as a worker would."""
    loader = loader or Loader()
    for pk in undone_chunks(run):
        answer_chunk(GenerationChunk.objects.select_related("run__generator").get(pk=pk), loader.get, timezone.now)
    run.refresh_from_db()


def texts() -> dict[str, str]:
    return dict(Candidate.objects.values_list("dialog__external_id", "text"))


def leave_as_a_worker_killed_at_the_end(run: GenerationRun) -> None:
    """It had saved that its last chunk is done, and not yet that the run is."""
    answer(run)
    GenerationRun.objects.update(finished_at=None)
