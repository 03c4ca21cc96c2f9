"""`manage.py gpu_processes`: a real process for each GPU, here without GPUs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from evalplatform.embedded_broker import count_live_processes
from tests.processes import ROOT, wait_until


def test_each_gpu_has_a_process_of_its_own_which_is_started_again_and_ends_with_the_command(tmp_path: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "manage.py", "gpu_processes", "--devices", "0,2", "--loglevel", "error"],
        cwd=ROOT,
        env={**os.environ, "VAR_DIR": str(tmp_path)},
    )
    try:
        wait_until(lambda: count_live_processes(tmp_path / "broker") == 2, "the start of two processes")
        first = processes_of(command)
        assert sorted(visible_gpus(process) for process in first) == ["0", "2"]

        os.killpg(first[0], signal.SIGKILL)
        wait_until(lambda: len(set(processes_of(command)) - set(first)) == 1, "another in its place")
        wait_until(lambda: count_live_processes(tmp_path / "broker") == 2, "its start")
        assert sorted(visible_gpus(process) for process in processes_of(command)) == ["0", "2"]
    finally:
        command.terminate()

    assert command.wait(timeout=60) == 0
    assert count_live_processes(tmp_path / "broker") == 0


def processes_of(command: "subprocess.Popen[bytes]") -> list[int]:
    children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text()
    return [int(child) for child in children.split()]


def visible_gpus(process: int) -> str:
    settings = dict(line.split("=", 1) for line in Path(f"/proc/{process}/environ").read_text().split("\0") if line)
    return settings["CUDA_VISIBLE_DEVICES"]
