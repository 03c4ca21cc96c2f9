"""Define errors that the user can solve, and put errors of database and disk into one clear line."""

import errno

from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class EvalPlatformError(Exception):
    """An error that the user can solve. Commands show it as one line, pages as a message, and never as a stack
    trace."""


def in_one_line(error: Exception) -> str | None:
    """Return what is wrong and what to do, if whoever runs the server can solve it; None if it is a bug of ours."""
    if isinstance(error, EvalPlatformError):
        return str(error)
    # A file that is not a database raises a plain DatabaseError; its other subclasses are about what we asked for.
    if isinstance(error, (OperationalError, InterfaceError, ProgrammingError)) or type(error) is DatabaseError:
        return f"The database can't be used: {_first_line(error)}. Is it running, and was `manage.py migrate` run?"
    if isinstance(error, OSError) and error.errno in FULL:
        where = f" ({error.filename})" if error.filename else ""
        return f"The disk is full{where}. Make room and try again. Nothing that was there before is lost."
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return f"{error.filename} can't be used: {error.strerror}."
    return None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".: ")
