"""Measure how fast dialogs become HITs (build_hits), and whether the cost per dialog stays the same.

python -m benchmarks.batching [--sizes 6000 600000]

The study has the paper's design (three datasets of equal size, four generators, three checkpoints from the last
dataset) on synthetic dialogs. Each size has its own process and a new SQLite database. Only `build_hits` is timed: it
checks the design, selects and deals the dialogs, merges cards, and writes the rows and the manifest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMALLEST_RATE_RATIO = 0.7

BUILD = """
import resource, sys, time, django
django.setup()
from django.core.management import call_command
from benchmarks.batching_data import make_data
from hits.designing.study_files import create_study
from hits.batching.building import build_hits
call_command("migrate", verbosity=0)
settings = make_data(int(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
study = create_study(settings)
started = time.perf_counter()
built = build_hits(study)
seconds = time.perf_counter() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(built.hit_count, built.checkpoint_count, seconds, (after - before) * 1024, after / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[6_000, 600_000])
    sizes = parser.parse_args().sizes
    print(f"{'dialogs':>9} {'HITs':>7} {'seconds':>8} {'dialogs/s':>10} {'bytes more a dialog':>20} {'peak MB':>8}")
    rates = [_measure(size) for size in sizes]
    ratio = rates[-1] / rates[0]
    print(f"rate at the largest / at the smallest: {ratio:.2f} (limit {SMALLEST_RATE_RATIO})")
    if ratio < SMALLEST_RATE_RATIO:
        sys.exit("The limit is broken. On a machine that does other work at the same time, measure again.")


def _measure(size: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "WARNING"}
        environment["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
        command = [sys.executable, "-c", BUILD, str(size)]
        output = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
        hits, checkpoints, seconds, more_bytes, peak_mb = (float(value) for value in output.split())
        if checkpoints != 3 * hits:
            sys.exit(f"{checkpoints:,.0f} checkpoints in {hits:,.0f} HITs")
        rate = size / seconds
        row = f"{size:>9,} {hits:>7,.0f} {seconds:>8.1f} {rate:>10,.0f} {more_bytes / size:>20,.0f} {peak_mb:>8,.0f}"
        print(row, flush=True)
        return rate


if __name__ == "__main__":
    main()
