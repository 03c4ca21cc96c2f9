"""Generators in memory: which stay, which go, and what happens where they do not fit."""

from pathlib import Path

import pytest

from generation.loading import MOST_LOADED, Loader
from generation.run_requests import count_failures, request_run
from tests.generation.scripted_runs import answer, make_dialogs, make_generator, texts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def test_a_generator_that_can_no_longer_be_loaded_ends_its_run_with_the_reason(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    run = request_run(make_generator(checkpoint=str(tmp_path)), make_dialogs("a"))
    config.write_text('{"changed": true}')

    answer(run)

    assert run.finished_at is not None
    assert "has changed since it was registered" in run.outcome


def test_a_changed_size_of_batches_reaches_a_generator_that_stays_loaded() -> None:
    loader = Loader()
    kind = loader.get(make_generator(batch_size=2)).kind

    quick = loader.get(make_generator(batch_size=5))

    assert quick.batch_size == 5
    assert quick.kind is kind


def test_a_loaded_generator_stays_until_others_need_its_place() -> None:
    loader = Loader()
    generators = [make_generator(f"m{number}", word=f"w{number}") for number in range(MOST_LOADED + 1)]

    first = loader.get(generators[0])
    assert loader.get(generators[0]) is first
    for generator in generators[1:]:
        loader.get(generator)

    assert generators[0].version not in loader.versions
    assert len(loader.versions) == MOST_LOADED


def test_the_batch_halves_until_it_fits_and_stays_small() -> None:
    dataset = make_dialogs(*(f"dialog {number}" for number in range(10)))
    generator = make_generator(batch_size=8, fits=3)
    loader = Loader()

    answer(request_run(generator, dataset), loader)

    assert len(texts()) == 10
    assert loader.get(generator).batch_size == 2


def test_what_fits_into_no_memory_is_a_failure_of_its_own() -> None:
    dataset = make_dialogs("a", "b")
    run = request_run(make_generator(fits=0), dataset)

    answer(run)

    assert count_failures(run) == {"it does not fit into memory, not even alone": 2}
