"""Check pooled PostgreSQL connections more cheaply than Django does.

A server that goes away, or ends a connection, closes its side, and then there is something to read on the connection.
So we ask the server only in that case. Django's own check (CONN_HEALTH_CHECKS) asks each time, which would be one of
five round trips of a worker's save.
"""

from select import POLLIN, poll
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    pool: Any

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        while self.pool and _is_gone(connection):
            self.pool.putconn(connection)  # the pool replaces it by a new one
            connection = super().get_new_connection(conn_params)
        return connection


def _is_gone(connection: Connection[Any]) -> bool:
    waiting = poll()
    waiting.register(connection.fileno(), POLLIN)
    if not waiting.poll(0):
        return False
    try:
        ConnectionPool.check_connection(connection)
    except OperationalError:
        return True
    return False
