"""Typed reading of environment variables, in which junk is an error and never quietly a default.

Own code rather than django-environ, because that reads DEBUG=flase as False without a word.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

# All that settings.py reads: what the demo and the tests forget, so that a shell set up for production does not matter.
VARIABLES = (
    "SERVER_MODE SECRET_KEY SECRET_KEY_FALLBACKS ALLOWED_HOSTS DATABASE_URL DATABASE_POOL_SIZE BROKER_URL "
    "BROKER_LOST_TASK_SECONDS BEHIND_HTTPS_PROXY PROXY_COUNT HSTS_SECONDS LOCAL_MARKET LOCAL_MARKET_KEY_ID "
    "LOCAL_MARKET_SECRET_KEY MTURK_ENVIRONMENT MTURK_LOCAL_URL MTURK_CALLS_PER_SECOND PUBLIC_URL SYNC_MINUTES "
    "API_REQUESTS_PER_MINUTE VAR_DIR GENERATOR_DEVICE GENERATOR_THREADS DEBUG LOG_LEVEL LOG_FORMAT"
).split()

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off"}


class BadSetting(SystemExit):
    """A SystemExit, so that manage.py, gunicorn and celery all stop with this one line and no trace."""

    def __init__(self, variable: str, problem: str) -> None:
        super().__init__(f"evalplatform: {variable} {problem}")


class Environment:
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str, default: str = "") -> str:
        return self._variables.get(name, "").strip() or default

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name).lower()
        if not value:
            return default
        if value not in YES | NO:
            raise BadSetting(name, f"is {value!r}; use true or false.")
        return value in YES

    def number(self, name: str, default: int, minimum: int, maximum: int) -> int:
        value = self.text(name, str(default))
        if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
            raise BadSetting(name, f"is {value!r}; use a whole number from {minimum} to {maximum}.")
        return int(value)

    def choice(self, name: str, choices: Sequence[str], default: str) -> str:
        value = self.text(name, default)
        if value not in choices:
            raise BadSetting(name, f"is {value!r}; use one of {', '.join(choices)}.")
        return value

    def words(self, name: str, default: str = "") -> list[str]:
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]

    def matching(self, name: str, pattern: str, default: str, hint: str) -> str:
        value = self.text(name, default)
        if not re.fullmatch(pattern, value):
            raise BadSetting(name, f"is {value!r}; use {hint}.")
        return value

    def url(self, name: str, schemes: Sequence[str], needs_host: bool = True) -> str:
        """The address, or "" when unset. The value stays out of the message: it may hold a password."""
        value = self.text(name)
        try:
            scheme, _, rest = value.partition("://")
            host, _ = urlsplit(value).hostname, urlsplit(value).port  # reading them is what checks them
        except ValueError:
            raise BadSetting(name, "is no address: its host or port can't be read.") from None
        if value and (scheme not in schemes or not rest):
            raise BadSetting(name, f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}.")
        if scheme != "sqlite" and re.search(r"\s", value):  # a file's path may have one
            raise BadSetting(name, "has a space in it; in an address, write %20.")
        if value and needs_host and not host:
            raise BadSetting(name, "names no host; write localhost if it is this machine.")
        return value

    def hosts(self, name: str, default: str) -> list[str]:
        hosts = self.words(name, default)
        for host in hosts:
            if re.search(r"[\s/@]|\]:|^[^\[]*:", host):
                raise BadSetting(name, f"has {host!r}; use bare host names such as eval.example.org, without a port.")
        return hosts

    def folder(self, name: str, default: Path) -> Path:
        folder = Path(self.text(name, str(default)))
        try:
            # Answers, workers' ids and messages: for whoever runs the server, and nobody else on the machine.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise BadSetting(name, f"is {str(folder)!r}, which can't be written to: {error.strerror}.") from None
        return folder


def postgresql_from_url(variable: str, url: str, pool_size: int) -> dict[str, object]:
    """DATABASES["default"] for `postgresql://user:password@host:port/name?option=value`."""
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise BadSetting(variable, "names no database: postgresql://user:password@host:5432/NAME.")
    options: dict[str, object] = dict(parse_qsl(parts.query))
    _check_options(variable, options)
    options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 30}
    return {
        "ENGINE": "evalplatform.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "OPTIONS": options,
    }


def _check_options(variable: str, options: Mapping[str, object]) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    for option in set(options) - {"assume_role"}:  # which is Django's own
        try:
            make_conninfo(**{option: ""})
        except ProgrammingError:
            raise BadSetting(variable, f"has an option {option!r}, which PostgreSQL does not know.") from None


def keep_private(path: Path) -> None:
    """Makes the file, if there is none, for its owner's eyes only; takes others' rights from one that is there.

    SQLite gives the files beside it, which hold the latest rows, the same rights. What can't be changed, because it is
    someone else's or no file, is left to who put it there.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if file.is_file() and file.stat().st_mode & 0o077:
                file.chmod(0o600)


def sqlite_in_file(path: str) -> dict[str, object]:
    keep_private(Path(path))
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        # Kept open: reading the schema anew, and writing the log back when the last one closes, cost more than a save.
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # Several processes write: readers never wait (WAL), and a writer takes the lock when it begins, so that
            # it waits for another writer instead of failing halfway with "database is locked".
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            # A larger log before it is written back: an import touches the same index pages again and again. Not every
            # commit waits for the disk (docs/decisions/0008).
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; "
                "PRAGMA wal_autocheckpoint=10000"
            ),
        },
        # A file, because tests let real processes (workers, servers) look at the same database.
        "TEST": {"NAME": f"{path}.test"},
    }
