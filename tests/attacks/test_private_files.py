"""Other users of the machine read nothing: not the database, not what is written beside it."""

import os
import stat
from pathlib import Path

from tests.processes import manage


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_database_and_its_folder_are_their_owner_s_alone(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        ended = manage("migrate", "--verbosity", "0", VAR_DIR=str(tmp_path / "var"), DATABASE_URL="")
    finally:
        os.umask(before)

    assert ended.returncode == 0, ended.stderr
    assert rights(tmp_path / "var") == 0o700
    files = list((tmp_path / "var").glob("evalplatform.sqlite3*"))
    assert {rights(file) for file in files} == {0o600}


def test_a_database_that_was_open_to_all_is_closed_at_the_next_start(tmp_path: Path) -> None:
    for name in ("evalplatform.sqlite3", "evalplatform.sqlite3-wal"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)

    manage("check_bundle", "nowhere", VAR_DIR=str(tmp_path), DATABASE_URL="")

    assert rights(tmp_path / "evalplatform.sqlite3") == 0o600
    assert rights(tmp_path / "evalplatform.sqlite3-wal") == 0o600
