"""Define the base of all our manage.py commands: a quick start, a check of SECRET_KEY, and errors in one line."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from evalplatform.errors import EvalPlatformError, in_one_line
from evalplatform.secret_key import key_problem


class PlatformCommand(BaseCommand):
    """A command that starts without Django's system checks: they import every page, which takes more than half of the
    start. `make lint`, `migrate` and `check --deploy` run them. One check is always done: with another SECRET_KEY than
    the database's, the command refuses to run. Errors that the user has to solve end in one line; `--traceback` shows
    all of it."""

    requires_system_checks = ()

    def create_parser(self, *args: Any, **kwargs: Any) -> CommandParser:
        """Show help as it is written, with its lines and examples."""
        return super().create_parser(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)

    def needs_database(self, options: dict[str, Any]) -> bool:
        """Return whether the command needs the database."""
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
