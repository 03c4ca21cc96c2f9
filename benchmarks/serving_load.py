"""Let 32 workers use one server at once, and measure how long they waited and what it cost the server's processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

import psutil

AT_ONCE = 32


@dataclass
class Load:
    wholes: int = 0
    ratings: int = 0
    seconds: float = 0
    cpu_seconds: float = 0
    milliseconds: dict[str, list[float]] = field(default_factory=dict)  # by kind of request

    @property
    def cpu_ms_per_rating(self) -> float:
        return self.cpu_seconds * 1000 / self.ratings

    @property
    def cpu_ms_per_request(self) -> float:
        return self.cpu_seconds * 1000 / sum(map(len, self.milliseconds.values()))


class Browser:
    """One worker's browser. Its connection stays open if the server allows it, as in real browsers."""

    def __init__(self, port: int, load: Load, headers: dict[str, str]) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._load = load
        self._headers = headers

    def ask(
        self,
        name: str,
        method: str,
        path: str,
        body: str = "",
        expected: int = 200,
        headers: dict[str, str] | None = None,
    ) -> tuple[str, Any]:
        """Send a request, and return text and headers of the response."""
        started = time.perf_counter()
        self._connection.request(method, path, body or None, self._headers | (headers or {}))
        response = self._connection.getresponse()
        text = response.read().decode()
        self._load.milliseconds.setdefault(name, []).append((time.perf_counter() - started) * 1000)
        if response.status != expected:
            raise RuntimeError(f"{name}: {response.status} instead of {expected}: {text[:500]}")
        return text, response.headers


def put_load(load: Load, works: Sequence[Any], work: Callable[[Any], int], processes: Sequence[int | None]) -> None:
    """Let workers call `work`, which does one assignment or task and returns how many ratings the server acknowledged.
    The counts are added to the load's."""
    with _measured(load, processes), ThreadPoolExecutor(AT_ONCE) as pool:
        load.ratings += sum(pool.map(work, works))
    load.wholes += len(works)


@contextmanager
def _measured(load: Load, processes: Sequence[int | None]) -> Iterator[None]:
    cpu, clock = _cpu_seconds(processes), time.perf_counter()
    yield
    load.seconds += time.perf_counter() - clock
    load.cpu_seconds += _cpu_seconds(processes) - cpu


def _cpu_seconds(processes: Sequence[int | None]) -> float:
    """Return the CPU seconds of processes, with their children, also those that have ended."""
    total = 0.0
    for root in processes:
        if root is not None:
            process = psutil.Process(root)
            for one in [process, *process.children(recursive=True)]:
                times = one.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total
