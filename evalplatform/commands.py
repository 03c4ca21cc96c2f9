"""What all commands of `manage.py` that are ours have in common."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError

from evalplatform.errors import EvalPlatformError, in_one_line
from evalplatform.secret_key import key_problem


class PlatformCommand(BaseCommand):
    """Starts without Django's system checks, which import every page: more than half of a start. `make lint`, `migrate`
    and `check --deploy` run them. One is not left out: with another SECRET_KEY than the database's, nothing is done.
    What the user has to solve ends in one line; `--traceback` shows all of it."""

    requires_system_checks = ()

    def needs_database(self, options: dict[str, Any]) -> bool:
        """False for what works without one."""
        return True

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.needs_database(options) and (problem := key_problem()):
                raise CommandError(problem)
            return super().execute(*args, **options)
        except (EvalPlatformError, OSError, DatabaseError, InterfaceError) as error:
            if (line := in_one_line(error)) is None:
                raise
            raise CommandError(line) from error
