"""The one base of errors that are the user's to solve, and the one line that any error of the surroundings becomes."""

import errno

from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class EvalPlatformError(Exception):
    """Edges turn it into one line (commands) or one message (pages); it never becomes a stack trace."""


def in_one_line(error: Exception) -> str | None:
    """What is wrong and what to do, if that is for whoever runs the server to solve; None for faults of our own."""
    if isinstance(error, EvalPlatformError):
        return str(error)
    # A file that is no database is a plain DatabaseError; its other kinds are about what we asked for.
    if isinstance(error, (OperationalError, InterfaceError, ProgrammingError)) or type(error) is DatabaseError:
        return f"The database can't be used: {_first_line(error)}. Is it running, and was `manage.py migrate` run?"
    if isinstance(error, OSError) and error.errno in FULL:
        where = f" ({error.filename})" if error.filename else ""
        return f"The disk is full{where}. Make room, and do it again: what was there before is as it was."
    if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
        return f"{error.filename} can't be used: {error.strerror}."
    return None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".: ")
