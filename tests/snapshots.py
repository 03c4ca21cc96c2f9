"""Rows that many tests begin with: made once, kept in tables beside, and put back much faster than made anew."""

from collections.abc import Callable, Sequence

from django.apps import apps
from django.core.management import call_command
from django.db import connection

CORPUS = ("generation", ("Dataset", "Dialog", "Generator", "GenerationRun", "Candidate"))
STUDY = ("hits", ("Study", "Hit", "HitItem"))

Part = tuple[str, Sequence[str]]


def take(make: Callable[[], object]) -> None:
    make()
    with connection.cursor() as cursor:
        for table in _tables(CORPUS) + _tables(STUDY):
            cursor.execute(f"CREATE TABLE snapshot_{table} AS SELECT * FROM {table}")
    call_command("flush", verbosity=0, interactive=False)


def put_back(part: Part) -> None:
    with connection.cursor() as cursor:
        for table in _tables(part):
            cursor.execute(f"INSERT INTO {table} SELECT * FROM snapshot_{table}")
            if connection.vendor == "postgresql":
                last = f"(SELECT max(id) FROM {table})"
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {last})")


def _tables(part: Part) -> list[str]:
    app, names = part
    return [apps.get_model(app, name)._meta.db_table for name in names]
