"""Check that SECRET_KEY is the one that this database is used with.

Copies of answers on the marketplace, open pages, marks on published HITs and workers' pseudonyms all depend on the key.
A database that was restored with another key would lose them silently, so every process checks when it starts, and
refuses to run.
"""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.crypto import salted_hmac

from evalplatform.health import can_reach_database

BOOT_ERROR = 3  # at this exit code gunicorn gives up; at any other it would start the process again and again
REFUSAL = (
    "SECRET_KEY is not the one that this database was used with: answers that the marketplace keeps for us could not "
    "be read, and published HITs not be recognised. Put the old key back (the variable SECRET_KEY, or the file "
    "secret_key in VAR_DIR). To change it on purpose, name the old one in SECRET_KEY_FALLBACKS. If it is lost, run "
    "manage.py accept_secret_key."
)


def key_problem() -> str:
    """Return why this database must not be used with this key, or "". The first key is noted, and so is a new one if
    the old one is in SECRET_KEY_FALLBACKS. If there is no database yet, there is no problem."""
    from evalplatform.models import KeyFingerprint

    if _is_missing_file() or not can_reach_database():
        return ""
    try:
        known = KeyFingerprint.objects.values_list("fingerprint", flat=True).first()
        if known == fingerprint(settings.SECRET_KEY):
            return ""
        if known is not None and known not in map(fingerprint, settings.SECRET_KEY_FALLBACKS):
            return REFUSAL
        note_key()
    except DatabaseError:  # not migrated yet, or away just now; the code that needs the database will report it
        return ""
    return ""


def note_key() -> None:
    from evalplatform.models import KeyFingerprint

    noted = {"fingerprint": fingerprint(settings.SECRET_KEY), "noted_at": timezone.now()}
    KeyFingerprint.objects.update_or_create(pk=1, defaults=noted)


def fingerprint(key: str) -> str:
    return salted_hmac("evalplatform.secret_key", "fingerprint", secret=key, algorithm="sha256").hexdigest()


def refuse_changed_key() -> None:
    """End this process with one line if the key has changed. Servers and background processes call this when they
    start. It leaves no connection open that a fork would share."""
    problem = key_problem()
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]
    if problem:
        sys.stderr.write(f"evalplatform: {problem}\n")
        raise SystemExit(BOOT_ERROR)


def check_secret_key(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """Report a changed key as a Django check. `migrate` and `check --database default` run it."""
    problem = key_problem() if databases else ""
    return [checks.Error(problem, id="evalplatform.E001")] if problem else []


def _is_missing_file() -> bool:
    """Return whether SQLite's file is missing. Connecting would create it."""
    return connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists()
