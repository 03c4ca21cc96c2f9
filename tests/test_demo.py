"""`make demo SERVE=0`, as a newcomer runs it: all of the work, counts, status 0; and again."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.processes import ROOT, wait_until

COMMAND = [sys.executable, "-m", "examples.demo"]


def test_the_demo_does_its_work_and_run_again_serves_its_pages_until_it_is_stopped(tmp_path: Path) -> None:
    # Embedded parts only, whatever the shell points at.
    elsewhere = {
        "DATABASE_URL": "postgresql://localhost:1/production",
        "BROKER_URL": "redis://localhost:1/0",
        "ALLOWED_HOSTS": "eval.example.org",
        "MTURK_LOCAL_URL": "http://localhost:1",
        "GENERATOR_DEVICE": "cuda",
    }
    environment = {**os.environ, **elsewhere, "VAR_DIR": str(tmp_path)}
    environment.pop("PYTHONUNBUFFERED", None)  # the addresses are to be seen at once without it, too

    command = [*COMMAND, "--serve", "0"]
    first = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    hashes = tmp_path / "demo-bundle" / "sha256sums.txt"
    first_hashes = hashes.read_text()
    log = tmp_path / "demo.log"
    with log.open("w") as output:
        demo = subprocess.Popen([*COMMAND, "--port", "8700"], cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        wait_until(lambda: "Ctrl-C stops." in log.read_text(), "serving", seconds=300)
        second = log.read_text()
        address = re.findall(r"health +(http://127\.0\.0\.1:\d+/health/)", second)[0]
        wait_until(lambda: _are_all_parts_well(address), "health of all parts")
        # Only a scheduler writes it; without one nothing is collected, although the monitor promises it.
        wait_until(lambda: any(tmp_path.glob("celerybeat-schedule*")), "the scheduler")
    finally:
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(timeout=30) == 0

    assert "candidates.jsonl: 240 candidates imported" in first
    assert "Built 6 HITs with 60 items, 18 of them checkpoints." in first
    assert "Built before, nothing changed: 6 HITs" in second
    assert re.findall("Manifest .*", first) == re.findall("Manifest .*", second)
    assert "candidates.jsonl: 0 candidates imported, 240 already there" in second
    assert "24 assignments submitted" in first
    assert "12 assignments submitted" in first  # on scales
    assert "18 assignments submitted" in first  # in pairs
    assert "Screening of demo-pairs on local, by the study's own rules." in first
    assert "Computing the pages of results" in first
    assert "24 submissions collected (0 rebuilt from the marketplace, 0 without answers)" in first
    assert "24 rewards" in first
    assert "Screening of demo on local, by the study's own rules." in first
    assert "Shares of the ratings" in first
    assert "holds together" in first
    assert hashes.read_text() == first_hashes
    assert "Nothing was on offer." in second
    assert "0 rewards and 0 bonuses paid" in second
    assert len(re.findall(r"  tiny-\S+ on example-\w+: \d+ of 20 answered", first)) == 6
    assert second.count("trained before") == 2
    assert second.count("0 reply scores and 0 values of models computed.") == 3
    assert "Built 3 HITs with 30 items, 9 of them checkpoints." in first
    counts = re.findall(r"  example-\w+: 20 dialogs, 20 with a human reply, 1[0-2]\d replies by 6 models", second)
    assert len(counts) == 3
    assert re.search(r"log in as demo with the password \S{8,}", second)


def _are_all_parts_well(address: str) -> bool:
    request = urllib.request.Request(address, headers={"Accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return all(part["is_well"] for part in json.load(response)["parts"])
    except OSError:
        return False
