"""Settings come from the environment; junk stops the start in one line that names the variable."""

import re
import runpy
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from evalplatform.environment import VARIABLES
from tests.processes import ROOT, manage

PRODUCTION = {
    "SERVER_MODE": "production",
    "SECRET_KEY": "x4Kq_7" * 20,
    "ALLOWED_HOSTS": "eval.example.org",
    "DATABASE_URL": "postgresql://eval:secret@db.example.org/eval",
    "BROKER_URL": "redis://broker.example.org:6379/0",
}


def read_settings(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> str:
    """Runs the settings file anew, and returns how it refused."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as refusal:
        runpy.run_path(str(ROOT / "evalplatform" / "settings.py"))
    return str(refusal.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DEBUG", "flase"),
        ("SERVER_MODE", "staging"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
        ("DATABASE_URL", "mysql://root:hunter2@localhost/eval"),
        ("DATABASE_URL", "postgresql://root:hunter2@localhost:port/eval"),
        ("DATABASE_URL", "postgresql://root:hunter2@localhost/"),
        ("DATABASE_POOL_SIZE", "many"),
        ("BROKER_URL", "kafka://user:hunter2@localhost"),
        ("BROKER_LOST_TASK_SECONDS", "-1"),
        ("BROKER_URL", "redis://localhost:hunter2/0"),
        ("DATABASE_URL", "postgresql://root:hunter2@[::1/eval"),
        ("DATABASE_URL", "sqlite:hunter2"),
        ("ALLOWED_HOSTS", "https://eval.example.org/"),
        ("ALLOWED_HOSTS", "eval.example.org other.example.org"),
        ("ALLOWED_HOSTS", "eval.example.org:443"),
        ("ALLOWED_HOSTS", "[::1]:443"),
        ("DATABASE_URL", "postgresql://root:hunter2@localhost/eval?sslmod=require"),
        ("BROKER_URL", "amqp://?"),
        ("DATABASE_URL", "postgresql://root:hunter2@localhost/my eval"),
        ("PUBLIC_URL", "eval.example.org"),
        ("PUBLIC_URL", "https://eval example.org"),
        ("PUBLIC_URL", "https://:80"),
        ("MTURK_ENVIRONMENT", "amazon"),
        ("MTURK_LOCAL_URL", "https://127.0.0.1:8010"),
        ("MTURK_CALLS_PER_SECOND", "0"),
        ("LOCAL_MARKET", "maybe"),
        ("LOCAL_MARKET_KEY_ID", "two words"),
        ("LOCAL_MARKET_SECRET_KEY", "hunter2"),
        ("GENERATOR_DEVICE", "the big one"),
        ("GENERATOR_THREADS", "all"),
        ("SYNC_MINUTES", "1.5"),
        ("API_REQUESTS_PER_MINUTE", "0"),
        ("HSTS_SECONDS", "forever"),
        ("BEHIND_HTTPS_PROXY", "nginx"),
        ("PROXY_COUNT", "many"),
        ("VAR_DIR", "/dev/null"),
        ("VAR_DIR", "/proc"),
    ],
)
def test_junk_is_refused_in_one_line_that_names_the_variable(
    variable: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = read_settings(monkeypatch, {"VAR_DIR": str(tmp_path), variable: value})

    assert re.fullmatch(rf"evalplatform: {variable} .+\.", refusal)
    assert "hunter2" not in refusal


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("sqlite:///home/me/My Studies/eval.sqlite3", "/home/me/My Studies/eval.sqlite3"),
        ("postgresql:///my%20eval?assume_role=eval&sslmode=require", "my eval"),
    ],
)
def test_spaces_in_paths_and_a_database_s_options_are_no_junk(
    value: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", value)

    settings = runpy.run_path(str(ROOT / "evalplatform" / "settings.py"))

    assert settings["DATABASES"]["default"]["NAME"] == name


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "manage.py", "check"],
        [sys.executable, "-m", "celery", "--app", "evalplatform", "worker"],
        [sys.executable, "-m", "gunicorn", "--check-config", "evalplatform.wsgi"],
    ],
    ids=["manage.py", "celery", "gunicorn"],
)
def test_every_kind_of_process_ends_with_that_line_alone(command: list[str], tmp_path: Path) -> None:
    environment = {"DEBUG": "flase", "VAR_DIR": str(tmp_path), "PATH": ""}

    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)

    assert result.returncode != 0
    assert result.stderr == "evalplatform: DEBUG is 'flase'; use true or false.\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SECRET_KEY", ""),
        ("SECRET_KEY", "short"),
        ("SECRET_KEY", "x" * 60),
        ("SECRET_KEY", "django-insecure-" + "x4Kq_7" * 20),
        ("ALLOWED_HOSTS", ""),
        ("ALLOWED_HOSTS", "*"),
        ("DATABASE_URL", ""),
        ("DATABASE_URL", "sqlite:///tmp/eval.sqlite3"),
        ("BROKER_URL", ""),
        ("DEBUG", "true"),
    ],
)
def test_production_refuses_to_start_with_missing_or_unsafe_values(
    variable: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = read_settings(monkeypatch, {**PRODUCTION, "VAR_DIR": str(tmp_path), variable: value})

    assert refusal.startswith(f"evalplatform: {variable} must ")


def test_production_passes_djangos_deployment_check(tmp_path: Path) -> None:
    result = manage("check", "--deploy", "--fail-level", "WARNING", **{**PRODUCTION, "VAR_DIR": str(tmp_path)})

    assert result.stderr == ""
    assert "no issues" in result.stdout
    assert result.returncode == 0


def test_every_variable_that_is_read_is_documented_and_can_be_forgotten() -> None:
    read = set(re.findall(r"\benv\.([A-Z_]+)", (ROOT / "evalplatform" / "settings.py").read_text()))
    table = [line for line in (ROOT / "docs" / "settings.md").read_text().splitlines() if line.startswith("| `")]
    documented = [name for line in table for name in re.findall(r"`([A-Z_]+)`", line.split("|")[1])]

    assert sorted(read) == sorted(VARIABLES) == sorted(documented)


def test_all_bad_variables_are_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = {"SERVER_MODE": "staging", "SYNC_MINUTES": "0", "BEHIND_HTTPS_PROXY": "nginx"}

    refusal = read_settings(monkeypatch, {"VAR_DIR": str(tmp_path), **bad})

    assert refusal.splitlines() == [
        "evalplatform: SERVER_MODE is 'staging'; use one of local, production.",
        "evalplatform: SYNC_MINUTES is '0'; use a whole number from 1 to 1440.",
        "evalplatform: BEHIND_HTTPS_PROXY is 'nginx'; use true or false.",
    ]


def test_a_blank_variable_counts_as_not_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, "  ")
    monkeypatch.setenv("VAR_DIR", str(tmp_path))
    monkeypatch.setenv("SYNC_MINUTES", " 7 ")

    settings = runpy.run_path(str(ROOT / "evalplatform" / "settings.py"))

    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert (settings["SYNC_MINUTES"], settings["PROXY_COUNT"], settings["LOCAL_MARKET"]) == (7, 0, True)


def test_the_secret_key_is_made_once_and_is_nobody_else_s_to_read(tmp_path: Path) -> None:
    print_key = ["shell", "-v0", "-c", "from django.conf import settings; print(settings.SECRET_KEY)"]

    first, second = (manage(*print_key, VAR_DIR=str(tmp_path), SECRET_KEY="").stdout for _ in range(2))

    assert first == second
    assert len(first.strip()) > 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


@pytest.mark.django_db
def test_sqlite_runs_in_wal_mode_and_postgresql_is_pooled() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA journal_mode")
            assert cursor.fetchone() == ("wal",)
    else:
        assert connection.pool is not None  # type: ignore[attr-defined]


def test_the_web_process_runs_where_no_library_of_networks_is_installed(tmp_path: Path) -> None:
    script = """
import sys
for name in "torch sklearn sacrebleu tokenizers safetensors transformers sentence_transformers ctranslate2".split():
    sys.modules[name] = None  # what an import meets where it is not installed
from evalplatform.wsgi import application
import evalplatform.urls, evalplatform.celery
evalplatform.celery.app.loader.import_default_modules()
print("runs")
"""

    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env={"VAR_DIR": str(tmp_path)}, capture_output=True, text=True
    )

    assert (result.stdout, result.returncode) == ("runs\n", 0)
