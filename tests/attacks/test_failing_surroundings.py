"""A disk that is full, a database that is away or broken: one line that says so, and nothing half-done."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from hits.exporting import bundle_file, make_bundle
from hits.models import Study, StudyBundle, offering_for
from tests.hits.crowd import now
from tests.hits.rated import rate
from tests.processes import manage


@contextmanager
def files_of_at_most(bytes: int) -> Iterator[None]:
    """The kernel refuses to write more into any file, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.once
def test_exporting_to_a_full_disk_is_one_line_and_the_old_bundle_stays(demo_study: Study, tmp_path: Path) -> None:
    rate(demo_study, hits=2)
    call_command("export_study", "demo", out=tmp_path / "bundle")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    for most in (10_000, 60_000):  # in the midst of the ratings, and after them
        with pytest.raises(CommandError, match=r"^The disk is full.*Make room") as refused, files_of_at_most(most):
            call_command("export_study", "demo", out=tmp_path / "bundle")

        assert "\n" not in str(refused.value)
        assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.once
def test_a_bundle_that_a_worker_can_t_write_says_so_on_the_page(
    demo_study: Study, tmp_path: Path, settings: Settings
) -> None:
    settings.VAR_DIR = tmp_path
    rate(demo_study, hits=2)
    StudyBundle.objects.create(offering=offering_for(demo_study, "local"), requested_at=now())

    bundle_file(offering_for(demo_study, "local")).parent.mkdir()
    (tmp_path / "bundles").rename(tmp_path / "elsewhere")
    (tmp_path / "bundles").write_text("a file where the folder should be")
    make_bundle(offering_for(demo_study, "local"), now)

    row = StudyBundle.objects.get()
    assert not row.is_under_way
    assert "can't be used" in row.problem


def test_a_folder_that_may_not_be_written_is_named(demo_study: Study, tmp_path: Path) -> None:
    rate(demo_study, hits=1)
    (tmp_path / "file").write_text("")

    with pytest.raises(CommandError, match=r"file can.t be used"):
        call_command("export_study", "demo", out=tmp_path / "file" / "bundle")


@pytest.mark.parametrize(
    "command",
    [
        *(("show_results", "demo"), ("export_study", "demo", "--out", "x"), ("sync_hits", "demo"), ("migrate",)),
        *(("screen_study", "demo"), ("import_dialogs", "examples/corpus/subtitles.jsonl", "--dataset", "x")),
        ("createsuperuser", "--noinput", "--username", "x", "--email", "x@example.org"),
    ],
    ids=lambda command: command[0],
)
def test_a_database_that_can_t_be_used_is_one_line(tmp_path: Path, command: tuple[str, ...]) -> None:
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"this is no database" * 100)

    ended = manage(*command, VAR_DIR=str(tmp_path), DATABASE_URL=f"sqlite://{broken}")

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "The database can't be used: file is not a database" in ended.stderr


def test_an_empty_database_says_to_migrate(tmp_path: Path) -> None:
    ended = manage("show_results", "demo", VAR_DIR=str(tmp_path), DATABASE_URL="")

    assert ended.returncode == 1
    assert "no such table" in ended.stderr
    assert "manage.py migrate" in ended.stderr
    assert "Traceback" not in ended.stderr
