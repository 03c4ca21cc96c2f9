"""Django's PostgreSQL backend, which tests a pooled connection only if it may be broken.

A server that goes away, or ends a connection, closes its side: then there is something to read. Django's own check
(CONN_HEALTH_CHECKS) asks the server each time, one of the five times that a worker's save speaks with it.
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
            self.pool.putconn(connection)  # which makes a new one in its place
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
