"""Define all environment variables with types, defaults and checks (docs/settings.md lists them).

Junk is an error and never quietly a default: `read_environment` stops the start with one line for each bad variable.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from annotated_types import Ge, Le
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

BASE_DIR = Path(__file__).resolve().parent.parent
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _address(*schemes: str, needs_host: bool = True) -> AfterValidator:
    """Check an address. The value stays out of the messages: it may hold a password."""

    def check(value: str) -> str:
        if not value:
            return value
        try:
            scheme, _, rest = value.partition("://")
            host, _ = urlsplit(value).hostname, urlsplit(value).port  # reading them is what checks them
        except ValueError:
            raise ValueError("is no address: its host or port can't be read.") from None
        if scheme not in schemes or not rest:
            raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}.")
        if scheme != "sqlite" and re.search(r"\s", value):  # a file's path may have one
            raise ValueError("has a space in it; in an address, write %20.")
        if needs_host and not host:
            raise ValueError("names no host; write localhost if it is this machine.")
        return value

    return AfterValidator(check)


def _check_is_here(url: str) -> str:
    """Check that an address is this machine's: a token goes there, unencrypted, and what it answers is believed."""
    if url and urlsplit(url).hostname not in LOOPBACK:
        raise ValueError("must be an address of this machine, such as http://127.0.0.1:8010.")
    return url


def _check_is_ascii(value: str) -> str:
    """Check what a mail server is told to log in. The message does not quote it."""
    if not value.isascii():
        raise ValueError("has letters beyond ASCII, which can't be sent to a mail server.")
    return value


def _check_sender(sender: str) -> str:
    """Check the address that letters come from, which may have a name before it."""
    address = parseaddr(sender)[1]
    if sender and (not re.fullmatch(r"[^@\s]+@[^@\s]+", address) or re.search(r"[\r\n]", sender)):
        raise ValueError(f"is {sender!r}; use an address such as study@example.org, or Name <study@example.org>.")
    return sender


def _matching(pattern: str, hint: str, is_secret: bool = False) -> AfterValidator:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"is {'odd' if is_secret else repr(value)}; use {hint}.")
        return value

    return AfterValidator(check)


def _split_at_commas(value: str | list[str]) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def _check_hosts(hosts: list[str]) -> list[str]:
    for host in hosts:
        if re.search(r"[\s/@]|\]:|^[^\[]*:", host):
            raise ValueError(f"has {host!r}; use bare host names such as eval.example.org, without a port.")
    return hosts


def _make_writable_folder(folder: Path) -> Path:
    try:
        # Answers, workers' ids and messages: for whoever runs the server, and nobody else on the machine.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"is {str(folder)!r}, which can't be written to: {error.strerror}.") from None
    return folder


Words = Annotated[list[str], NoDecode, BeforeValidator(_split_at_commas)]  # NoDecode: not JSON


def _is_production(variables: Mapping[str, Any]) -> bool:
    return variables.get("SERVER_MODE") == "production"


class Environment(BaseSettings):
    """The environment variables. A validator sees those above its own, so `SERVER_MODE` stands first."""

    model_config = SettingsConfigDict(case_sensitive=True, validate_default=True)

    SERVER_MODE: Literal["local", "production"] = "local"
    DEBUG: bool = False
    VAR_DIR: Annotated[Path, AfterValidator(_make_writable_folder)] = BASE_DIR / "var"
    SECRET_KEY: str = ""
    SECRET_KEY_FALLBACKS: Words = []
    ALLOWED_HOSTS: Annotated[Words, AfterValidator(_check_hosts)] = Field(
        default_factory=lambda variables: [] if _is_production(variables) else ["localhost", "127.0.0.1", "[::1]"]
    )

    DATABASE_URL: Annotated[str, _address("postgresql", "postgres", "sqlite", needs_host=False)] = ""
    DATABASE_POOL_SIZE: int = Field(10, ge=1, le=1000)
    BROKER_URL: Annotated[str, _address("redis", "rediss", "amqp", "amqps")] = ""
    BROKER_LOST_TASK_SECONDS: int = Field(1800, ge=1, le=86400)
    SYNC_MINUTES: int = Field(5, ge=1, le=1440)

    GENERATOR_DEVICE: Annotated[str, _matching(r"auto|cpu|(cuda|mps|xpu)(:\d+)?", "auto, cpu or cuda:1")] = "auto"
    GENERATOR_THREADS: int = Field(0, ge=0, le=1024)

    MTURK_ENVIRONMENT: Literal["local", "sandbox", "production"] = "local"
    MTURK_LOCAL_URL: Annotated[str, _address("http")] = ""
    MTURK_CALLS_PER_SECOND: int = Field(50, ge=1, le=1000)
    LOCAL_MARKET: bool = Field(default_factory=lambda variables: not _is_production(variables))
    LOCAL_MARKET_KEY_ID: Annotated[str, _matching(r"\w*", "letters and digits, as AWS does")] = ""
    LOCAL_MARKET_SECRET_KEY: str = ""
    PROLIFIC_ENVIRONMENT: Literal["local", "production"] = "local"
    PROLIFIC_TOKEN: Annotated[str, _matching(r"[\x21-\x7e]*", "the token as Prolific shows it", is_secret=True)] = ""
    PROLIFIC_WORKSPACE: Annotated[str, _matching(r"[0-9A-Za-z]*", "its id in Prolific's addresses")] = ""
    PROLIFIC_PROJECT: Annotated[str, _matching(r"[0-9A-Za-z]*", "its id in Prolific's addresses")] = ""
    PROLIFIC_FEE_PERCENT: float = Field(42.8, ge=0, le=200)
    PROLIFIC_VAT_PERCENT: float = Field(20, ge=0, le=100)
    PROLIFIC_HOOK_SECRET: str = ""
    PROLIFIC_LOCAL_URL: Annotated[str, _address("http"), AfterValidator(_check_is_here)] = ""
    PUBLIC_URL: Annotated[str, _address("https", "http")] = "http://127.0.0.1:8000"

    EMAIL_HOST: Annotated[str, _matching(r"[A-Za-z0-9._:\[\]-]*", "the host's name alone, as smtp.example.org")] = ""
    EMAIL_PORT: int = Field(587, ge=1, le=65_535)
    EMAIL_ENCRYPTION: Literal["starttls", "tls", "none"] = "starttls"
    EMAIL_HOST_USER: Annotated[str, AfterValidator(_check_is_ascii)] = ""
    EMAIL_HOST_PASSWORD: Annotated[str, AfterValidator(_check_is_ascii)] = ""
    EMAIL_FROM: Annotated[str, AfterValidator(_check_sender)] = ""

    UPLOAD_MB: int = Field(500, ge=1, le=100_000)
    API_REQUESTS_PER_MINUTE: int = Field(240, ge=1, le=100_000)
    BEHIND_HTTPS_PROXY: bool = False
    PROXY_COUNT: int = Field(ge=0, le=10, default_factory=lambda variables: int(variables["BEHIND_HTTPS_PROXY"]))
    HSTS_SECONDS: int = Field(31_536_000, ge=1, le=63_072_000)
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    LOG_FORMAT: Literal["json", "console"] = Field(
        default_factory=lambda variables: "json" if _is_production(variables) else "console"
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_usual: Any, **_usual_by_name: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (_StrippedVariables(settings_cls),)  # and no .env files, no arguments

    @field_validator("DEBUG")
    @classmethod
    def _check_debug(cls, value: bool, info: ValidationInfo) -> bool:
        if value and _is_production(info.data):
            raise ValueError("must be off when SERVER_MODE is production.")
        return value

    @field_validator("SECRET_KEY")
    @classmethod
    def _check_secret_key(cls, key: str, info: ValidationInfo) -> str:
        is_weak = len(key) < 50 or len(set(key)) < 5 or key.startswith("django-insecure-")
        if is_weak and _is_production(info.data):
            raise ValueError("must be set to at least 50 random characters in production.")
        return key

    @field_validator("ALLOWED_HOSTS")
    @classmethod
    def _check_allowed_hosts(cls, hosts: list[str], info: ValidationInfo) -> list[str]:
        if _is_production(info.data) and (not hosts or "*" in hosts):
            raise ValueError("must name this server's host names in production, e.g. eval.example.org.")
        return hosts

    @field_validator("EMAIL_HOST_PASSWORD")
    @classmethod
    def _check_password(cls, password: str, info: ValidationInfo) -> str:
        host = info.data.get("EMAIL_HOST", "")
        if password and info.data.get("EMAIL_ENCRYPTION") == "none" and host not in LOOPBACK:
            raise ValueError("would go over the network unencrypted: set EMAIL_ENCRYPTION to starttls or tls.")
        return password

    @field_validator("EMAIL_FROM")
    @classmethod
    def _check_has_sender(cls, sender: str, info: ValidationInfo) -> str:
        if info.data.get("EMAIL_HOST") and not sender:
            raise ValueError("must be set where EMAIL_HOST is: the address that letters to raters come from.")
        return sender

    @field_validator("DATABASE_URL")
    @classmethod
    def _check_database(cls, url: str, info: ValidationInfo) -> str:
        if url.startswith("postgres"):
            _check_postgresql(url)
        elif _is_production(info.data):
            raise ValueError("must name a PostgreSQL database in production.")
        return url

    @field_validator("BROKER_URL")
    @classmethod
    def _check_broker(cls, url: str, info: ValidationInfo) -> str:
        if not url and _is_production(info.data):
            raise ValueError("must name a Redis or RabbitMQ server in production.")
        return url

    @field_validator("LOCAL_MARKET_SECRET_KEY")
    @classmethod
    def _check_market_keys(cls, key: str, info: ValidationInfo) -> str:
        key_id = info.data.get("LOCAL_MARKET_KEY_ID")
        if key_id is not None and bool(key_id) != bool(key):
            raise ValueError("and LOCAL_MARKET_KEY_ID go together: set both or neither.")
        if _is_production(info.data) and info.data.get("LOCAL_MARKET") and len(key) < 20:
            raise ValueError(
                "must be set to at least 20 random characters, and LOCAL_MARKET_KEY_ID to a name, where LOCAL_MARKET "
                "is on in production."
            )
        return key


# What the demo and the tests forget, so that a shell set up for production does not matter.
VARIABLES = tuple(Environment.model_fields)


class _StrippedVariables(EnvSettingsSource):
    """Take spaces off values; a variable that is blank counts as not set."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        value, key, is_complex = super().get_field_value(field, field_name)
        return (value or "").strip() or None, key, is_complex


class BadSettings(SystemExit):
    """A SystemExit, so that manage.py, gunicorn and celery all stop with these lines and no trace."""

    @classmethod
    def from_errors(cls, errors: list[ErrorDetails]) -> Self:
        problems = [f"evalplatform: {error['loc'][0]} {_problem(error)}" for error in errors if _is_cause(error)]
        return cls("\n".join(problems))


def _is_cause(error: ErrorDetails) -> bool:
    return error["type"] != "default_factory_not_called"  # because another variable, which is named, was refused


def _problem(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    field = Environment.model_fields[str(error["loc"][0])]
    return f"is {error['input']!r}; use {_what_to_use(field)}."


def _what_to_use(field: FieldInfo) -> str:
    if field.annotation is bool:
        return "true or false"
    if field.annotation in (int, float):
        lowest = next(bound.ge for bound in field.metadata if isinstance(bound, Ge))
        highest = next(bound.le for bound in field.metadata if isinstance(bound, Le))
        return f"a whole number from {lowest} to {highest}"
    return f"one of {', '.join(field.annotation.__args__)}"  # type: ignore[union-attr]  # a Literal


def read_environment() -> Environment:
    try:
        return Environment()
    except ValidationError as error:
        raise BadSettings.from_errors(error.errors()) from None


def _check_postgresql(url: str) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    parts = urlsplit(url)
    if not parts.path.lstrip("/"):
        raise ValueError("names no database: postgresql://user:password@host:5432/NAME.")
    for option in set(dict(parse_qsl(parts.query))) - {"assume_role"}:  # which is Django's own
        try:
            make_conninfo(**{option: ""})
        except ProgrammingError:
            raise ValueError(f"has an option {option!r}, which PostgreSQL does not know.") from None


def postgresql_from_url(url: str, pool_size: int) -> dict[str, object]:
    """DATABASES["default"] for `postgresql://user:password@host:port/name?option=value`."""
    parts = urlsplit(url)
    return {
        "ENGINE": "evalplatform.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "OPTIONS": {
            **dict(parse_qsl(parts.query)),
            "pool": {"min_size": 1, "max_size": pool_size, "timeout": 30},
        },
    }


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
        # A file, because tests let real background processes and servers look at the same database.
        "TEST": {"NAME": f"{path}.test"},
    }
