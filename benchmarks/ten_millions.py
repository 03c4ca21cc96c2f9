"""Measure what all results of ten million ratings take: screening, results page, bundle, and an analysed upload.

python -m benchmarks.ten_millions [--ratings 1000000 10000000]

The study has the paper's design on synthetic dialogs with random answers, in an SQLite database. Each job is what a
background process does, from the first query to the last file, and has a process of its own:

- screening: both frames from the database, and the study's rules;
- page: frames from the database, every statistic, the figures, and the list of rated dialogs;
- bundle: everything that `export_study` writes, in all formats;
- upload: the bundle's ratings.csv as ratings from elsewhere, from its bytes to its results, figures and packed bundle.

Times are CPU times. Filling the database takes about as long as a job, and some gigabytes of disk.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.exporting import ONE_CORE, run_python
from benchmarks.reading_ratings import RATINGS_OF_A_DIALOG

MILLION = 1_000_000
COPIES = 10  # of the rows that are filled one by one
MOST_MB = 4000  # of every job at ten million; how long statistics may take says benchmarks.analysing

SETUP = """
import resource, sys, time, django
from pathlib import Path
django.setup()
from django.utils import timezone
from hits.models import Study, offering_for
folder = Path(sys.argv[1])
def told(ratings, started):
    print(ratings, time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
SCREENING = """
from hits.models import Rating
from hits.screening import screen
offering = offering_for(Study.objects.get(), "local")
started = time.process_time()
screen(offering, timezone.now())
told(Rating.objects.count(), started)
"""
PAGE = """
from hits.analysing import compute_results
from hits.models import Rating, StudyResults
offering = offering_for(Study.objects.get(), "local")
started = time.process_time()
compute_results(offering, timezone.now)
assert StudyResults.objects.get().results, "nothing was computed"
told(Rating.objects.count(), started)
"""
BUNDLE = """
from hits.exporting import export_bundle
started = time.process_time()
bundle = export_bundle(offering_for(Study.objects.get(), "local"), folder / "bundle")
told(bundle.about.ratings, started)
"""
UPLOAD = """
from django.contrib.auth.models import User
from hits.elsewhere import ColumnMapping, keep_upload, look_at_upload, request_analysis
from hits.exporting import compute_upload
mapping = ColumnMapping(item="dialog", worker="worker", generator="generator", dataset="dataset", values=["value"],
                        kind="words", words=["good", "okay", "bad"])
with (folder / "bundle" / "ratings.csv").open("rb") as file:
    lines = sum(1 for _ in file) - 1
started = time.process_time()
with (folder / "bundle" / "ratings.csv").open("rb") as file:
    pieces = iter(lambda: file.read(1_000_000), b"")
    upload, _ = keep_upload(User.objects.create(username="owner"), "ratings.csv", pieces, timezone.now())
request_analysis(upload, mapping, look_at_upload(upload), lambda upload: None, timezone.now())
compute_upload(upload.pk, timezone.now)
upload.refresh_from_db()
assert upload.results, upload.problem
told(lines - upload.unusable_count, started)
"""
JOBS = {"screening": SCREENING, "page": PAGE, "bundle": BUNDLE, "upload": UPLOAD}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=int, nargs="+", default=[MILLION, 10 * MILLION])
    print(f"{'job':>10} {'ratings':>12} {'CPU s':>8} {'peak MB':>8} {'to the first':>13} {'of the limit':>13}")
    first: dict[str, float] = {}
    broken = []
    for size in parser.parse_args().ratings:
        for job, (ratings, seconds, peak) in _measure(size):
            most = MOST_MB * max(1, size / (10 * MILLION))
            growth = peak / first.setdefault(job, peak)
            print(f"{job:>10} {ratings:>12,.0f} {seconds:>8.1f} {peak:>8,.0f} {growth:>13.2f} {peak / most:>13.2f}")
            sys.stdout.flush()
            broken += [f"{job} at {ratings:,.0f} ratings: {peak:,.0f} MB"] if peak > most else []
    print(f"limit: every job {MOST_MB:,} MB at ten million")
    if broken:
        sys.exit("A limit is broken: " + "; ".join(broken))


def _measure(size: int) -> Iterator[tuple[str, tuple[float, float, float]]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **dict.fromkeys(ONE_CORE, "1"), "DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
        environment |= {"VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR", "UPLOAD_MB": "100000"}
        dialogs = round(size / COPIES / RATINGS_OF_A_DIALOG / 30) * 30
        run_python(["-m", "benchmarks.ratings_data", str(dialogs), str(COPIES)], environment)
        for job, code in JOBS.items():
            ratings, seconds, peak = map(float, run_python(["-c", SETUP + code, folder], environment).split())
            yield job, (ratings, seconds, peak)


if __name__ == "__main__":
    main()
