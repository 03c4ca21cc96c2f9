"""Measure how long it takes to read a study's ratings into frames, how much memory that needs, and how both grow.

python -m benchmarks.reading_ratings [--ratings 100000 1000000]

The study has the paper's design on synthetic dialogs with random answers. Each size has its own process and a new
SQLite database. Times are CPU times on one core, which hardly change while the machine does other work. Making the data
takes longer than reading it: some minutes for a million ratings.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS, MOST_MB = 10, 500  # for a million ratings
RATINGS_OF_A_DIALOG = 4 * 4.3

READ = """
import resource, sys, time, django
django.setup()
from hits.models import Study, offering_for
from hits.frames.reading_frames import study_frames
from hits.screening.rules import apply_rules, every_rule
offering = offering_for(Study.objects.get(), "local")
started = time.process_time()
frames = study_frames(offering)
read = time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
apply_rules(frames, every_rule())
print(len(frames.ratings), read - started, peak, time.process_time() - read)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=int, nargs="+", default=[100_000, 1_000_000])
    print(f"{'ratings':>10} {'frames, s':>10} {'ratings/s':>10} {'peak MB':>8} {'all rules, s':>13}")
    for size in parser.parse_args().ratings:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "WARNING"}
            environment["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
            _run(["-m", "benchmarks.ratings_data", str(round(size / RATINGS_OF_A_DIALOG / 30) * 30)], environment)
            ratings, seconds, peak_mb, rules_seconds = map(float, _run(["-c", READ], environment).split())
        row = f"{ratings:>10,.0f} {seconds:>10.2f} {ratings / seconds:>10,.0f} {peak_mb:>8,.0f} {rules_seconds:>13.2f}"
        print(row, flush=True)
        if seconds > MOST_SECONDS * max(1, size / 1e6) or peak_mb > MOST_MB * max(1, size / 1e6):
            sys.exit(f"The limit of {MOST_SECONDS} s and {MOST_MB} MB for a million ratings is broken.")


def _run(arguments: list[str], environment: dict[str, str]) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main()
