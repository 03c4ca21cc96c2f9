"""Pass Celery's messages as files, without a server; those of a killed process are put back.

kombu's own filesystem transport deletes a message when a process takes it, so a killed process loses its task. Here a
taken message stays on disk, beside a lock file that the process holds, until it is acknowledged. When the process
dies, however it dies, the kernel lets go of the lock, and the next process to look puts the messages back.

    waiting/QUEUE~TIME~TAG      claimed/OWNER.lock      claimed/OWNER/QUEUE~TIME~TAG
"""

import contextlib
import fcntl
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

log = structlog.get_logger("evalplatform.embedded_broker")

LOOK_FOR_DEAD_PROCESSES_SECONDS = 2.0


class QoS(virtual.QoS):
    def ack(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        self.channel.forget(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if requeue:
            self.channel.put_back(delivery_tag)
        self.ack(delivery_tag)


class Channel(virtual.Channel):
    QoS = QoS
    do_restore = False  # what is not acknowledged is put back through the lock, at a clean shutdown too

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._folder = Path(connection.client.transport_options["folder"])
        self._waiting = self._folder / "waiting"
        for name in ("drafts", "waiting", "claimed", "broken"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        self._claims: _Claims | None = None
        self._claimed_files: dict[str, Path] = {}

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:
        name = f"{queue}~{time.time_ns():020}~{payload['properties']['delivery_tag']}"
        draft = self._folder / "drafts" / name
        with draft.open("w") as file:
            file.write(dumps(payload))
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self._waiting / name)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        if self._claims is None:
            self._claims = _Claims(self._folder)
        self._claims.note_queue(queue)
        self._claims.put_back_from_the_dead(self._waiting)
        for name in self._names(queue):
            claimed = self._claims.folder / name
            try:
                (self._waiting / name).rename(claimed)
            except FileNotFoundError:  # another process was faster
                continue
            try:
                payload: dict[str, Any] = loads(claimed.read_text())
                self._claimed_files[payload["properties"]["delivery_tag"]] = claimed
            except (ValueError, KeyError):  # cut off by a full disk or a power loss: it must not stop the others
                log.error("unreadable_message", file=name)
                claimed.rename(self._folder / "broken" / name)
                continue
            return payload
        raise Empty()

    def forget(self, delivery_tag: str) -> None:
        claimed = self._claimed_files.pop(delivery_tag, None)
        if claimed is not None:
            claimed.unlink(missing_ok=True)

    def put_back(self, delivery_tag: str) -> None:
        claimed = self._claimed_files.pop(delivery_tag, None)
        if claimed is not None:
            claimed.rename(self._waiting / claimed.name)

    def _names(self, queue: str) -> list[str]:
        return sorted(name for name in os.listdir(self._waiting) if name.startswith(f"{queue}~"))

    def _size(self, queue: str) -> int:
        return len(self._names(queue))

    def _purge(self, queue: str) -> int:
        names = self._names(queue)
        for name in names:
            (self._waiting / name).unlink(missing_ok=True)
        return len(names)

    def close(self) -> None:
        super().close()
        if self._claims is not None:
            self._claims.release()
            self._claims = None


class Transport(virtual.Transport):
    Channel = Channel
    polling_interval = 0.2
    default_port = 0
    driver_type = driver_name = "files"

    def driver_version(self) -> str:
        return "1"


class _Claims:
    """The messages that this process holds, and the lock that says it is alive."""

    def __init__(self, broker_folder: Path) -> None:
        self._claimed = broker_folder / "claimed"
        owner = uuid.uuid4().hex
        self.folder = self._claimed / owner
        self.folder.mkdir()
        self._lock_file = self._claimed / f"{owner}.lock"
        # Locked before it gets its name: nobody can see it unlocked and take its owner for dead.
        draft = broker_folder / "drafts" / f"{owner}.lock"
        self._lock = os.open(draft, os.O_CREAT | os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(self._lock_file)
        self._looked_at = 0.0
        self._queues: set[str] = set()

    def note_queue(self, queue: str) -> None:
        """Write the queue's name into the lock file, for whoever asks whether anyone listens to it."""
        if queue not in self._queues:
            self._queues.add(queue)
            os.write(self._lock, f"{queue}\n".encode())

    def put_back_from_the_dead(self, waiting: Path) -> None:
        if time.monotonic() - self._looked_at < LOOK_FOR_DEAD_PROCESSES_SECONDS:
            return
        self._looked_at = time.monotonic()
        for lock_file in self._claimed.glob("*.lock"):
            if lock_file != self._lock_file:
                _put_back(lock_file, waiting)

    def release(self) -> None:
        os.close(self._lock)


def _put_back(lock_file: Path, waiting: Path) -> None:
    """Return the messages of a dead process to their queues; do nothing if it lives."""
    with contextlib.suppress(FileNotFoundError, BlockingIOError), lock_file.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = lock_file.with_suffix("")
        folder.mkdir(exist_ok=True)  # gone already if another process was killed right here
        for message in folder.iterdir():
            message.rename(waiting / message.name)
        folder.rmdir()
        lock_file.unlink()


def count_live_processes(folder: Path, queue: str | None = None) -> int:
    """Count the background processes that are alive: all of them, or those that listen to this queue."""
    return sum(
        _is_held(lock_file) and (queue is None or queue in _queues(lock_file))
        for lock_file in (folder / "claimed").glob("*.lock")
    )


def _queues(lock_file: Path) -> list[str]:
    try:
        return lock_file.read_text().split()
    except FileNotFoundError:
        return []


def _is_held(lock_file: Path) -> bool:
    try:
        with lock_file.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False
