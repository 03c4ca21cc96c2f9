"""Measure how much memory writing a bundle's ratings files takes, compared with 100,000 ratings, and how fast it is.

python -m benchmarks.exporting [--ratings 100000 1000000] [--largest] [--database 100000 400000]

Without --database, the ratings are made up and never in a database: this measures the code that turns frames into CSV,
JSON Lines and Parquet, each size in a process of its own. --largest adds 10,000,000 ratings. --database measures
`export_study --only-ratings` from an SQLite database of that many ratings, which takes minutes to fill. Results are not
part of this, since the statistics need all ratings at once (benchmarks.analysing).
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.reading_ratings import RATINGS_OF_A_DIALOG

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 10_000_000
MOST_GROWTH = 1.3
ONE_CORE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

MADE_UP = """
import resource, sys, tempfile, time, django
from pathlib import Path
django.setup()
from benchmarks.exporting_data import pieces
from hits.exporting.columns import described
from hits.exporting.ratings_files import write_ratings
started = time.process_time()
with tempfile.TemporaryDirectory() as folder:
    columns = list(described(["same_answer", "too_few_points"], []))
    rows = write_ratings(pieces(int(sys.argv[1])), Path(folder), columns)
print(rows, time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
FROM_DATABASE = """
import resource, tempfile, time, django
from pathlib import Path
django.setup()
from hits.exporting.bundles import export_ratings
from hits.models import Study, offering_for
offering = offering_for(Study.objects.get(), "local")
started = time.process_time()
with tempfile.TemporaryDirectory() as folder:
    rows = export_ratings(offering, Path(folder) / "ratings").ratings
print(rows, time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--database", type=int, nargs="*", default=[])
    options = parser.parse_args()
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalplatform.settings", "LOG_LEVEL": "WARNING"}
    sizes = [*options.ratings, *([LARGEST] if options.largest else [])]
    grown = _measure("frames made up", {size: run_python(["-c", MADE_UP, str(size)], environment) for size in sizes})
    if options.database:
        grown = max(
            grown, _measure("from a database", {size: _of_database(size, environment) for size in options.database})
        )
    if grown > MOST_GROWTH:
        sys.exit(f"Memory grows {grown:.2f} times, more than {MOST_GROWTH} times.")


def _measure(title: str, outputs: dict[int, str]) -> float:
    """Print a line for each size, and return the largest memory as a multiple of the first size's."""
    print(f"{title:>16} {'ratings/s':>10} {'peak MB':>8} {'to the first':>13}")
    peaks = []
    for output in outputs.values():
        rows, seconds, peak = map(float, output.split())
        peaks.append(peak)
        print(f"{rows:>16,.0f} {rows / seconds:>10,.0f} {peak:>8,.0f} {peak / peaks[0]:>13.2f}", flush=True)
    return max(peaks) / peaks[0]


def _of_database(size: int, environment: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        own = {**environment, "VAR_DIR": folder, "DATABASE_URL": ""}
        run_python(["-m", "benchmarks.ratings_data", str(round(size / RATINGS_OF_A_DIALOG / 30) * 30)], own)
        return run_python(["-c", FROM_DATABASE], own)


def run_python(arguments: list[str], environment: dict[str, str]) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
