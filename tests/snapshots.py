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
    clear()


def put_back(part: Part) -> None:
    with connection.cursor() as cursor:
        for table in _tables(part):
            cursor.execute(f"INSERT INTO {table} SELECT * FROM snapshot_{table}")
            if connection.vendor == "postgresql":
                last = f"(SELECT max(id) FROM {table})"
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {last})")


def clear() -> None:
    """Empties the tables that have rows. Django's flush truncates all of them, which takes PostgreSQL longer than most
    tests take."""
    if connection.vendor != "postgresql":
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
        return
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"EXISTS (SELECT FROM {table})" for table in tables))
        filled = [table for table, has_rows in zip(tables, cursor.fetchone(), strict=True) if has_rows]
        deletions = "".join(f"DELETE FROM {table};" for table in filled)
        # As a replica, it does not check which rows refer to which.
        cursor.execute(f"SET session_replication_role = replica; {deletions} SET session_replication_role = DEFAULT")


def _tables(part: Part) -> list[str]:
    app, names = part
    return [apps.get_model(app, name)._meta.db_table for name in names]
