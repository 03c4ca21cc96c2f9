"""Is SECRET_KEY the one that this database is used with?

Workers' answers that the marketplace keeps, pages that are open, marks on published HITs and workers' pseudonyms all
hang on the key. A database that was restored beside another key would lose them without a word, so every process asks
here when it starts, and refuses.
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

BOOT_ERROR = 3  # on which gunicorn gives up; with any other it would start the worker again and again
REFUSAL = (
    "SECRET_KEY is not the one that this database was used with: answers that the marketplace keeps for us could not "
    "be read, and published HITs not be recognised. Put the old key back (the variable SECRET_KEY, or the file "
    "secret_key in VAR_DIR). To change it on purpose, name the old one in SECRET_KEY_FALLBACKS. If it is lost, run "
    "manage.py accept_secret_key."
)


def key_problem() -> str:
    """Why this database must not be used with this key, or "". The first key to be seen is noted, and so is a new one
    that comes with the old one in SECRET_KEY_FALLBACKS. Where there is no database yet, there is nothing to lose."""
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
    except DatabaseError:  # not migrated yet, or gone in this moment: whoever needs it says so
        return ""
    return ""


def note_key() -> None:
    from evalplatform.models import KeyFingerprint

    noted = {"fingerprint": fingerprint(settings.SECRET_KEY), "noted_at": timezone.now()}
    KeyFingerprint.objects.update_or_create(pk=1, defaults=noted)


def fingerprint(key: str) -> str:
    return salted_hmac("evalplatform.secret_key", "fingerprint", secret=key, algorithm="sha256").hexdigest()


def refuse_changed_key() -> None:
    """For processes that serve: ends them with the one line. Leaves no connection behind that a fork would share."""
    problem = key_problem()
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]
    if problem:
        sys.stderr.write(f"evalplatform: {problem}\n")
        raise SystemExit(BOOT_ERROR)


def check_secret_key(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """Runs with `migrate` and `check --database default`."""
    problem = key_problem() if databases else ""
    return [checks.Error(problem, id="evalplatform.E001")] if problem else []


def _is_missing_file() -> bool:
    """Asking SQLite would make the file."""
    return connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists()
