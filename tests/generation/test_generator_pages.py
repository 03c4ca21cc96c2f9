"""The pages on models: what they are, their runs, and letting them answer."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.errors import GeneratorUnavailable
from generation.models import Candidate, Dataset, GenerationRun, Generator
from generation.owning import give_owner
from generation.run_requests import request_run
from tests.generation.scripted_runs import answer, make_dialogs, make_generator

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def test_strangers_are_sent_to_the_log_in(client: Client) -> None:
    for address in ("/models/", "/models/1/", "/models/1/runs/", "/models/runs/1/failures/"):
        assert client.get(address).headers["Location"].startswith("/login/?next=")
    for address in ("/models/1/generate/", "/models/runs/1/pause/", "/models/runs/1/cancel/"):
        assert client.post(address).headers["Location"].startswith("/login/?next=")


@pytest.mark.usefixtures("example_corpus")
def test_models_are_listed_and_imported_ones_cannot_be_asked(researcher_client: Client) -> None:
    parrot = Generator.objects.get(name="parrot")
    give_owner(Generator.objects.all(), User.objects.get())

    listed = researcher_client.get("/models/").content.decode()
    page = researcher_client.get(f"/models/{parrot.pk}/").content.decode()
    researcher_client.post(f"/models/{parrot.pk}/generate/", {"dataset": Dataset.objects.all()[0].pk})

    assert "parrot" in listed
    assert "imported" in listed
    assert "20 replies from candidates.jsonl" in page
    assert "Let it answer" not in page
    assert not GenerationRun.objects.generated().exists()


def test_a_run_is_asked_for_paused_resumed_and_cancelled(researcher_client: Client) -> None:
    dataset = make_dialogs("a", "b")
    generator = make_generator()
    give_owner(Generator.objects.all(), User.objects.get())
    address = f"/models/{generator.pk}/"

    def page() -> str:
        return researcher_client.get(address).content.decode()

    assert "D: 2 of 2 to answer" in page()
    researcher_client.post(f"{address}generate/", {"dataset": dataset.pk})
    run = GenerationRun.objects.get()
    assert run.requested_by is not None
    assert "waiting for a background process" in page()
    assert "is answering D already" in _complaint(researcher_client, f"{address}generate/", dataset=str(dataset.pk))
    assert "Choose a dataset" in _complaint(researcher_client, f"{address}generate/", dataset="x")
    researcher_client.post(f"/models/runs/{run.pk}/pause/")
    assert "paused" in page()
    assert "Resume" in researcher_client.get(f"{address}runs/").content.decode()
    researcher_client.post(f"/models/runs/{run.pk}/resume/")
    assert "paused" not in page()
    researcher_client.post(f"/models/runs/{run.pk}/cancel/")

    assert "cancelled" in page()
    assert 'hx-trigger="every' not in page()


def test_failures_cut_contexts_and_quiet_runs_are_said(researcher_client: Client) -> None:
    dataset = make_dialogs("fine", "be empty", "be bytes <b>", before=("One.", "Two.", "Three."))
    generator = make_generator()
    run = request_run(generator, dataset)
    address = f"/models/{generator.pk}/"
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    GenerationRun.objects.update(requested_at=long_ago)
    assert "No background process has reported" in researcher_client.get(address).content.decode()
    answer(run)

    page = researcher_client.get(address).content.decode()
    failures = researcher_client.get(f"/models/runs/{run.pk}/failures/").content.decode()
    dialog = researcher_client.get(f"/dialogs/{Candidate.objects.get().dialog_id}/").content.decode()

    assert "1 of 3 dialogs answered, 2 not" in page
    assert "1 time: empty" in page
    assert "1 contexts were longer" in page
    assert failures.count("not answered") == 4
    assert "be bytes &lt;b&gt;" in failures
    assert "How it was made" in dialog
    assert "the 1 oldest turn, because the model can't read more" in dialog


def test_a_run_whose_server_is_away_says_so_and_what_happens_next(researcher_client: Client) -> None:
    run = request_run(make_generator(), make_dialogs("be away"))
    with pytest.raises(GeneratorUnavailable):
        answer(run)

    page = researcher_client.get(f"/models/{run.generator_id}/").content.decode()

    assert "server away" in page
    assert "The server does not answer. We try again every minute and give up after ten." in page
    assert "Failures" not in page


def test_the_number_of_queries_does_not_grow_with_the_models(researcher_client: Client) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            researcher_client.get("/models/")
        return len(queries)

    make_generator()
    before = count_queries()
    Generator.objects.bulk_create(Generator(name=f"m{number}") for number in range(20))

    assert count_queries() == before


def _complaint(client: Client, address: str, **fields: str) -> str:
    return client.post(address, fields, follow=True).content.decode()
