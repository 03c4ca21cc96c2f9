"""A database is used with one SECRET_KEY; another one is noticed, and refused with the reason."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT, as_a_user_has_it, manage

OLD = "the-key-of-old-days-with-more-than-fifty-characters-1"
NEW = "the-key-of-now-with-more-than-fifty-characters-0000002"
REASON = "SECRET_KEY is not the one that this database was used with"


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that has been used with the old key."""
    folder = tmp_path_factory.mktemp("used")
    made = manage("migrate", "-v0", VAR_DIR=str(folder), SECRET_KEY=OLD)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def var(used: Path, tmp_path: Path) -> str:
    return str(shutil.copytree(used, tmp_path / "var"))


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "set_owner", "rosa"],
        ["manage.py", "sync_hits", "demo"],
        ["manage.py", "publish_hits", "demo"],
        ["manage.py", "migrate"],
        ["manage.py", "check", "--database", "default"],
        ["-m", "gunicorn", "--bind", "127.0.0.1:0", "evalplatform.wsgi"],
        ["-m", "celery", "--app", "evalplatform", "worker", "--concurrency", "1"],
        ["-m", "celery", "--app", "evalplatform", "beat"],
    ],
    ids=lambda command: " ".join(command[:4]).removeprefix("-m "),
)
def test_no_process_works_with_another_key(var: str, command: list[str]) -> None:
    environment = {**as_a_user_has_it(), "VAR_DIR": var, "SECRET_KEY": NEW, "DATABASE_URL": ""}

    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert ended.returncode != 0
    assert REASON in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_key_that_it_was_used_with_is_welcome_and_so_is_any_before_the_first_use(var: str, tmp_path: Path) -> None:
    known = manage("set_owner", "rosa", VAR_DIR=var, SECRET_KEY=OLD)
    assert "Nobody here has the user name 'rosa'" in known.stderr
    no_database = manage("check_bundle", "nothing", VAR_DIR=str(tmp_path / "empty"), SECRET_KEY=NEW)
    assert REASON not in no_database.stderr
    assert not (tmp_path / "empty" / "evalplatform.sqlite3").stat().st_size  # made with its rights, and not asked


def test_a_key_that_is_changed_on_purpose_is_taken_over_with_the_old_one_beside_it(var: str) -> None:
    both = manage("set_owner", "rosa", VAR_DIR=var, SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=f"older,{OLD}")
    assert "Nobody here" in both.stderr

    assert "Nobody here" in manage("set_owner", "rosa", VAR_DIR=var, SECRET_KEY=NEW).stderr
    assert REASON in manage("set_owner", "rosa", VAR_DIR=var, SECRET_KEY=OLD).stderr


def test_a_lost_key_can_be_given_up_once_it_was_said_what_that_costs(var: str) -> None:
    asked = manage("accept_secret_key", "--yes", VAR_DIR=var, SECRET_KEY=NEW)

    assert "never will be" in asked.stdout
    assert "Nobody here" in manage("set_owner", "rosa", VAR_DIR=var, SECRET_KEY=NEW).stderr
    assert "nothing to accept" in manage("accept_secret_key", VAR_DIR=var, SECRET_KEY=NEW).stdout


def test_the_database_does_not_give_the_key_away(var: str) -> None:
    assert OLD.encode() not in (Path(var) / "evalplatform.sqlite3").read_bytes()
