"""A study that is too large for a request is built by a real background process."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from generation.models import Candidate, Dialog
from hits.designing import create_study
from hits.models import Study
from tests.conftest import DEMO
from tests.pages import html_of
from tests.processes import BackgroundProcess, wait_until


@pytest.mark.django_db(transaction=True)
def test_building_goes_on_in_a_worker_while_the_page_waits(
    researcher_client: Client,
    example_corpus: None,
    start_process: Callable[..., BackgroundProcess],
    test_database_url: str,
) -> None:
    model = Dialog.objects.filter(dataset__name="example-subtitles").first()
    assert model is not None
    replies = list(Candidate.objects.filter(dialog=model))
    dialogs = Dialog.objects.bulk_create(
        Dialog(dataset=model.dataset, external_id=f"more-{n}", turns=model.turns, context_key=0) for n in range(3_000)
    )
    Candidate.objects.bulk_create(
        Candidate(dialog=dialog, generator=one.generator, run=one.run, text=one.text, display_text=one.display_text)
        for dialog in dialogs
        for one in replies
    )
    datasets = [{"name": "example-subtitles", "dialogs": 3_020}]
    settings = {**DEMO, "datasets": datasets, "checkpoints": {"per_hit": 0}, "pay": {"bonus": 0}, "screening": []}
    create_study(settings, User.objects.get())

    researcher_client.post("/studies/demo/build/")
    page = html_of(researcher_client.get("/studies/demo/"))
    start_process(DATABASE_URL=test_database_url)

    assert "Building the HITs: no background process runs." in page
    wait_until(lambda: Study.objects.get(name="demo").is_frozen, "the build")
    assert Study.objects.get(name="demo").hits.count() == 302
