"""Pages that wait for a background process say for what and how long, and which command starts one."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from evalplatform import process_commands
from evalplatform.embedded_broker import count_live_processes
from hits import background
from hits.batching import manifest_file, manifest_lines, write_manifest
from hits.batching.manifest import sha256
from hits.designing import create_study
from hits.models import BackgroundJob, SchedulerBeat, Study, offering_for
from hits.tasks import note_that_scheduler_runs, plan_size_of_study, screen_work_of_offering
from tests.conftest import DEMO
from tests.hits.rated import rate
from tests.pages import html_of
from tests.processes import BackgroundProcess, wait_until

ALONE = "no background process runs."


def text_of(client: Client, path: str) -> str:
    return html_of(client.get(f"/studies/demo/{path}"))


@pytest.mark.parametrize(
    ("address", "page", "what"),
    [
        ("sync/", "monitor/", "Collecting and paying"),
        ("screen/", "monitor/", "Screening the work"),
        ("screen/undo/", "monitor/", "Undoing the screening"),
        ("results/bundle/", "results/bundle/", "Making the bundle"),
        ("results/compute/", "results/", "Computing the results"),
    ],
)
def test_each_page_says_that_no_process_runs_and_how_to_start_one(
    researcher_client: Client, demo_study: Study, address: str, page: str, what: str
) -> None:
    rate(demo_study, hits=1)

    researcher_client.post(f"/studies/demo/{address}", {"market": "local"})

    shown = text_of(researcher_client, page)
    assert f"{what}: {ALONE}" in shown
    assert "now" in shown or "ago" in shown
    assert process_commands.BACKGROUND in shown


def test_what_was_asked_for_is_shown_until_it_is_done_and_says_why_it_failed(
    researcher_client: Client, demo_study: Study
) -> None:
    rate(demo_study, hits=1)
    researcher_client.post("/studies/demo/screen/", {"market": "local"})
    job = BackgroundJob.objects.get()

    screen_work_of_offering.apply([offering_for(demo_study, "local").pk], task_id=str(job.task_id))
    assert "Screening the work" not in text_of(researcher_client, "monitor/")

    researcher_client.post("/studies/demo/screen/", {"market": "local"})
    failing = BackgroundJob.objects.under_way().get()
    background._note_failure(str(failing.task_id), screen_work_of_offering, OSError(28, "No space left", "/var/x"))
    assert "Screening the work failed:</strong> The disk is full" in text_of(researcher_client, "monitor/")


def test_the_monitor_says_that_the_scheduler_does_not_run_until_it_does(
    researcher_client: Client, demo_study: Study
) -> None:
    rate(demo_study, hits=1)
    assert "The scheduler does not run" in text_of(researcher_client, "monitor/")
    assert "It has never run." in text_of(researcher_client, "monitor/live/")

    note_that_scheduler_runs()
    note_that_scheduler_runs()  # of a second scheduler
    assert "The scheduler does not run" not in text_of(researcher_client, "monitor/")
    assert "No background process runs: nothing is collected" in text_of(researcher_client, "monitor/")

    SchedulerBeat.objects.update(at=timezone.now() - timedelta(minutes=30))
    assert "It last ran 30" in text_of(researcher_client, "monitor/")
    assert process_commands.BACKGROUND in text_of(researcher_client, "monitor/")


@pytest.mark.once
def test_a_process_is_known_by_the_queues_it_listens_to(
    start_process: Callable[..., BackgroundProcess], tmp_path: Path
) -> None:
    process = start_process("gpu", VAR_DIR=str(tmp_path), DATABASE_URL="")

    wait_until(lambda: count_live_processes(tmp_path / "broker", "gpu") == 1, "the process")
    assert count_live_processes(tmp_path / "broker", "default") == 0
    process.kill()

    assert count_live_processes(tmp_path / "broker") == 0


@pytest.mark.usefixtures("example_corpus")
def test_a_large_study_is_planned_in_the_background_and_a_small_one_at_once(
    researcher_client: Client, researcher: User
) -> None:
    large = [{"name": "example-subtitles", "dialogs": 60_000}]
    create_study({**DEMO, "data": {"short": "take all"}, "datasets": large, "checkpoints": {"per_hit": 0},
                  "pay": {"bonus": 0}, "screening": []}, researcher)  # fmt: skip

    assert f"Simulating the study: {ALONE}" in text_of(researcher_client, "plan/")
    assert f"Simulating the study: {ALONE}" in text_of(researcher_client, "plan/")
    job = BackgroundJob.objects.get()  # asked twice, sent once
    plan_size_of_study.apply([job.study_id, ""], task_id=str(job.task_id))

    assert "With 20 dialogs and 4 raters each" in text_of(researcher_client, "plan/")
    assert "Simulating the study" in text_of(researcher_client, "plan/?difference=1")


def test_a_large_study_s_manifest_is_a_file_that_has_the_frozen_hash(
    researcher_client: Client, demo_study: Study, settings: Settings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    assert demo_study.manifest is not None
    demo_study.manifest["dialogs"] = 60_000
    demo_study.manifest_hash = sha256(b"".join(manifest_lines(demo_study)))
    demo_study.save()

    page = html_of(researcher_client.get("/studies/demo/manifest.jsonl", follow=True))
    researcher_client.get("/studies/demo/manifest.jsonl")
    assert f"Writing the manifest: {ALONE}" in page
    assert BackgroundJob.objects.count() == 1

    write_manifest(demo_study)
    answer = researcher_client.get("/studies/demo/manifest.jsonl")
    assert sha256(b"".join(answer.streaming_content)) == demo_study.manifest_hash  # type: ignore[attr-defined]
    assert [path.name for path in manifest_file(demo_study).parent.iterdir()] == [f"{demo_study.key}.jsonl"]
