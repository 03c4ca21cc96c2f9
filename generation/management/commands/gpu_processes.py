"""manage.py gpu_processes: start the background processes that let models answer, one for each GPU."""

import os
import shutil
import signal
import subprocess
import sys
import time
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand

START_AGAIN_SECONDS = 5


class Command(PlatformCommand):
    help = """Starts the background processes that let models answer: one for each GPU, each of which sees only its own.

    manage.py gpu_processes                   one for each GPU of this machine, or one on its CPU
    manage.py gpu_processes --devices 0,2     these GPUs only
    manage.py gpu_processes --cpu 2           two on the CPU, which share its cores

Each takes one chunk at a time from the queue `gpu`, and its models stay loaded between chunks. A process that ends by
itself is started again. After Ctrl-C or SIGTERM, each process finishes its chunk and ends."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--devices", help="numbers of GPUs, separated by commas")
        parser.add_argument("--cpu", type=int, metavar="N", help="start N processes on the CPU instead")
        parser.add_argument("--loglevel", default="info")

    def handle(self, *args: Any, **options: Any) -> None:
        devices = _choose_places(options["devices"], options["cpu"])
        processes = {name: _start(name, device, options["loglevel"]) for name, device in devices.items()}
        self.stdout.write(f"Started {', '.join(processes)} on the queue `gpu`. Ctrl-C stops.")
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            while True:
                time.sleep(START_AGAIN_SECONDS)
                for name, process in processes.items():
                    if process.poll() is not None:
                        self.stderr.write(f"{name} ended with status {process.returncode}; it is started again.")
                        processes[name] = _start(name, devices[name], options["loglevel"])
        except KeyboardInterrupt:
            for process in processes.values():
                process.terminate()
            for process in processes.values():
                process.wait()


def _choose_places(devices: str | None, on_cpu: int | None) -> dict[str, dict[str, str]]:
    """Return each process's name, and the environment that binds it to a GPU or to the CPU."""
    if on_cpu is not None and on_cpu < 1:
        raise CommandError("--cpu needs a number of processes, 1 or more.")
    gpus = [] if on_cpu else devices.split(",") if devices else _find_gpus()
    if gpus:
        return {f"gpu{gpu.strip()}": {"CUDA_VISIBLE_DEVICES": gpu.strip()} for gpu in gpus}
    count = on_cpu or 1
    threads = settings.GENERATOR_THREADS or max(1, len(os.sched_getaffinity(0)) // count)
    pinned = {"GENERATOR_DEVICE": "cpu", "GENERATOR_THREADS": str(threads)}
    return {f"cpu{number}": pinned for number in range(count)}


def _find_gpus() -> list[str]:
    """Return the numbers of this machine's GPUs. The driver is asked, so that this process need not import torch."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return [gpu for gpu in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if gpu]
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    query = [command, "--query-gpu=index", "--format=csv,noheader"]
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return found.stdout.split() if found.returncode == 0 else []


def _start(name: str, device: dict[str, str], loglevel: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "celery", "--app", "evalplatform", "worker", "--queues", "gpu"]
    options = ["--concurrency", "1", "--hostname", f"{name}@%h", "--loglevel", loglevel]
    # It gets its own process group, so that Ctrl-C in the terminal reaches it only through us.
    environment = {**os.environ, **device}
    return subprocess.Popen([*command, *options], cwd=settings.BASE_DIR, env=environment, start_new_session=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
