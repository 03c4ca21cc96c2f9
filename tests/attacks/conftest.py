"""The cast of the attacks is that of the rooms they are aimed at."""

import socket
from collections.abc import Iterator

import pytest

from tests.attacks.production import ProductionServer, production_environment, serve
from tests.hits.conftest import bare_study, market

__all__ = ["bare_study", "market", "server"]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProductionServer]:
    """Its broker takes connections and says nothing: that is what a look at its health takes longest for."""
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        production_environment(
            tmp_path_factory.mktemp("production"), BROKER_URL=f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        ) as environment,
        serve(environment) as server,
    ):
        yield server
