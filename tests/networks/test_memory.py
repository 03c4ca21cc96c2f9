"""When torch itself can't get the memory that it asks for."""

import pytest
from django.utils import timezone

from generation.generating import answer_chunk
from generation.loading import Loader
from generation.models import Candidate, Dataset, Dialog, GenerationChunk, GenerationRun, Generator, context_key
from generation.registering import Registration, register_generator
from generation.run_requests import count_failures, request_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def request_ten_replies(fits: int) -> GenerationRun:
    dataset = Dataset.objects.create(name="D")
    for number in range(10):
        turns = [f"dialog {number}"]
        Dialog.objects.create(dataset=dataset, external_id=turns[0], turns=turns, context_key=context_key(turns))
    settings = {"batch_size": 8, "fits": fits, "has_torch": True}
    return request_run(register_generator(Registration("scripted", "scripted", "", settings)), dataset)


def test_the_batch_halves_when_torch_can_t_allocate_memory() -> None:
    run, loader = request_ten_replies(fits=3), Loader()

    answer_chunk(GenerationChunk.objects.get(), loader.get, timezone.now)

    assert Candidate.objects.count() == 10
    assert loader.get(Generator.objects.get()).batch_size == 2
    assert count_failures(run) == {}


def test_what_torch_has_no_memory_for_alone_is_a_failure_of_its_own() -> None:
    run = request_ten_replies(fits=0)

    answer_chunk(GenerationChunk.objects.get(), Loader().get, timezone.now)

    assert count_failures(run) == {"it does not fit into memory, not even alone": 10}
