"""The database server goes away and comes back, as it does at an update."""

import pytest
from django.db import connection
from psycopg import connect

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="about connections to PostgreSQL"),
]

END_ALL_OTHERS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""


def test_connections_that_the_server_ended_while_they_waited_are_replaced_before_anyone_uses_them() -> None:
    ended = _backend()
    connection.close()  # back into the pool
    with connect(**connection.get_connection_params()) as other:
        other.execute(END_ALL_OTHERS)

    assert _backend() != ended


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone() or (0,)
        return int(pid)
