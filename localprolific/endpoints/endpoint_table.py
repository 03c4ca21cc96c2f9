"""Register the API's operations by method and path, and find the one that a request asks for."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from localprolific.errors import Invalid, NotAllowed, NotFound, missing, wrong
from localprolific.models import Workspace

ID = r"(?P<{}>[A-Za-z0-9_-]+)"


@dataclass(frozen=True)
class ApiCall:
    """One request: who asks, when, and with what. `base_url` is how they reached us, for the links between pages."""

    workspace: Workspace
    now: datetime
    path: str
    params: dict[str, str] = field(default_factory=dict)
    body: Any = None
    base_url: str = ""

    def fields(self) -> dict[str, Any]:
        if not isinstance(self.body, dict):
            raise Invalid("The body of the request must be a JSON object.")
        return self.body

    def text(self, name: str) -> str:
        value = self.fields().get(name)
        if value is None:
            raise missing(name)
        if not isinstance(value, str):
            raise wrong(name, "Not a valid string.")
        return value

    def texts(self, name: str) -> list[str]:
        value = self.fields().get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise missing(name) if value is None else wrong(name, "Expected a list of strings.")
        return value


@dataclass(frozen=True)
class ApiAnswer:
    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Endpoint = Callable[..., ApiAnswer]


@dataclass(frozen=True)
class Route:
    method: str
    pattern: re.Pattern[str]
    name: str
    act: Endpoint
    is_money_call: bool


ROUTES: list[Route] = []


def endpoint(method: str, path: str, moves_money: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Register a function `(call, **ids) -> ApiAnswer`. A money call needs the workspace's wallet for itself."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", lambda found: ID.format(found[1]), path.rstrip("/")))

    def register(function: Endpoint) -> Endpoint:
        ROUTES.append(Route(method, pattern, function.__name__, function, moves_money))
        return function

    return register


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Return the operation and the ids in the path. Prolific takes paths with and without the last slash."""
    found = [(route, match) for route in ROUTES if (match := route.pattern.fullmatch(path.strip("/")))]
    if not found:
        raise NotFound("There is nothing at this address.")
    for route, match in found:
        if route.method == method:
            return route, match.groupdict()
    raise NotAllowed(f'Method "{method}" not allowed.')
