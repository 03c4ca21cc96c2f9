"""Measure how long results take to compute, beside krippendorff and crowd-kit on the same data, and how time grows.

python -m benchmarks.analysing [--ratings 100000 1000000 10000000] [--peers-at 1000000] [--steps 20]

The study has the paper's design with table 5 as the truth, three screening rules, 41 labels and three metrics:
everything that the results page shows. Each size runs in a process of its own. Dawid-Skene takes as many steps as the
ratings need; beside crowd-kit, both take the same number of plain steps from the same start, so that the numbers must
be equal. krippendorff gets counts of values, its fastest form: as a matrix, a million ratings would take gigabytes.
Times are CPU times on one core, which hardly change while the machine does other work. Drawing a study takes far more
memory than analysing it, so more than a million ratings are studies of a million each, by other workers on other
dialogs, and memory is counted from the moment on when they are drawn (on Linux; elsewhere drawing counts, too).
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import django
import krippendorff
import numpy as np
import pandas as pd

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
django.setup()

from benchmarks.environments import ROOT, python_of  # noqa: E402
from hits.analysing import analyse  # noqa: E402
from hits.stats import (  # noqa: E402
    CodedRatings,
    agreement,
    code_ratings,
    find_true_values,
)
from hits.stats.dawid_skene import dawid_skene  # noqa: E402
from hits.stats.rater_agreement import LEVELS, krippendorff_alpha  # noqa: E402
from simulated_crowd.drawing import Drawing, StudySize, draw_frames  # noqa: E402
from simulated_crowd.truths import read_truth  # noqa: E402

MILLION = 1_000_000
MOST_SECONDS, MOST_SECONDS_OF_TWO, MOST_MB = 10, 1.5, 1500  # at a million
MOST_MB_AT_TEN_MILLION = 4000
LEAST_RATIOS = {"krippendorff": 3, "crowd-kit": 8}
RATINGS_OF_A_DIALOG = 4 * 4.3
ONE_CORE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
KEYS = {"submission", "hit", "block", "item", "dialog", "candidate"}
STATUS = Path("/proc/self/status")
RULES = ("same_answer", "hasty_without_points", "too_few_points")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=int, nargs="+", default=[100_000, MILLION, 10 * MILLION])
    parser.add_argument("--peers-at", type=int, default=MILLION)
    parser.add_argument("--steps", type=int, default=20, help="steps of Dawid-Skene beside crowd-kit")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--peers", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        _measure(options.measure)
    elif options.peers:
        _compare(options.peers, options.steps)
    else:
        _run_all(options)


def _run_all(options: argparse.Namespace) -> None:
    broken: list[str] = []
    print(f"{'ratings':>12}{'everything, s':>15}{'alpha, s':>10}{'Dawid-Skene, s':>16}{'peak MB':>9}")
    for size in options.ratings:
        print(line := _run("--measure", str(size)), end="", flush=True)
        _, everything, alpha, true_values, peak = (float(cell.replace(",", "")) for cell in line.split())
        if size == 10 * MILLION:
            print(f"memory at ten million: {peak / MOST_MB_AT_TEN_MILLION:.2f} of {MOST_MB_AT_TEN_MILLION:,} MB")
            broken += [f"memory {peak:,.0f} MB at ten million"] if peak > MOST_MB_AT_TEN_MILLION else []
        if size == MILLION:
            broken += [f"everything {everything:.1f} s"] if everything > MOST_SECONDS else []
            broken += ["alpha and Dawid-Skene"] if alpha + true_values > MOST_SECONDS_OF_TWO else []
            broken += [f"memory {peak:,.0f} MB"] if peak > MOST_MB else []
    print(f"limits at a million: {MOST_SECONDS} s, {MOST_SECONDS_OF_TWO} s together, {MOST_MB:,} MB\n")
    print(lines := _run("--peers", str(options.peers_at), "--steps", str(options.steps)), end="")
    broken += [line for line in lines.splitlines() if "BROKEN" in line]
    if broken:
        sys.exit("A limit is broken: " + "; ".join(broken))


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.analysing", *arguments]
    environment = {**os.environ, **dict.fromkeys(ONE_CORE, "1")}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _frame(size: int) -> pd.DataFrame:
    if size <= MILLION:
        return _drawn(size)
    return _repeated(_drawn(MILLION), round(size / MILLION))


def _repeated(frame: pd.DataFrame, times: int) -> pd.DataFrame:
    """Put the frame below itself, each time with other names and keys."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if not isinstance(column.dtype, pd.CategoricalDtype):
            values = np.tile(column.dt.tz_localize(None) if name == "submitted_at" else column, times)
            if name in KEYS:
                further = np.repeat(np.arange(times, dtype=values.dtype), len(frame)) * (int(column.max()) + 1)
                values = np.where(values > 0, values + further, 0) if name == "candidate" else values + further
            columns[name] = pd.DatetimeIndex(values, tz="UTC") if name == "submitted_at" else values
            continue
        codes, names = np.tile(column.cat.codes, times), column.cat.categories
        if name in ("worker", "external_id"):
            codes = codes.astype(np.int32) + np.repeat(np.arange(times, dtype=np.int32), len(frame)) * len(names)
            names = pd.Index([f"{name} {number}" for number in range(times * len(names))])
        columns[name] = pd.Categorical.from_codes(codes, categories=names)
    return pd.DataFrame(columns, copy=False)


def _drawn(size: int) -> pd.DataFrame:
    truth = read_truth("table5")
    dialogs = round(size / RATINGS_OF_A_DIALOG / 30) * 10
    datasets, generators = dict.fromkeys(truth.datasets, dialogs), list(truth.datasets["OS"].generators)
    study = StudySize(datasets, generators, max(20, dialogs // 7), checkpoint_dataset="ED")
    frame = draw_frames(Drawing(study, truth), 1).ratings
    candidate = frame["candidate"].to_numpy()
    labels = np.where(candidate > 0, candidate * 7919 % 41, -1)
    frame["label"] = pd.Categorical.from_codes(labels, categories=pd.Index([f"label {number}" for number in range(41)]))
    for number in range(3):
        frame[f"metric_{number}"] = np.sin(candidate + number)
    for number, rule in enumerate(RULES):
        # hits.screening.EXCLUDED_BY, which needs Django; this benchmark runs without
        frame[f"excluded_by_{rule}"] = frame["submission"] % 50 == number
    return frame


def _measure(size: int) -> None:
    frame = _frame(size)
    _forget_peak()
    started = time.process_time()
    analyse(frame)
    everything = time.process_time() - started
    peak = _peak_mb()
    ratings = code_ratings(frame)
    started = time.process_time()
    agreement(ratings.cards)
    alpha = time.process_time() - started
    started = time.process_time()
    find_true_values(ratings)
    true_values = time.process_time() - started
    print(f"{len(frame):>12,}{everything:>15.2f}{alpha:>10.2f}{true_values:>16.2f}{peak:>9,.0f}")


def _forget_peak() -> None:
    if STATUS.exists():
        (STATUS.parent / "clear_refs").write_text("5")


def _peak_mb() -> float:
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    [line] = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def _compare(size: int, steps: int) -> None:
    cards = code_ratings(_frame(size)).cards
    print(f"on the same {len(cards):,} ratings{'ours, s':>20}{'theirs, s':>12}{'ratio':>8}   largest difference")
    _beside_krippendorff(cards)
    _beside_crowdkit(cards, steps)


def _beside_krippendorff(cards: CodedRatings) -> None:
    reply = pd.factorize(cards.reply)[0]
    counts = np.bincount(reply * 3 + cards.value, minlength=3 * (int(reply.max()) + 1)).reshape(-1, 3).astype(float)
    started = time.process_time()
    theirs = [
        krippendorff.alpha(value_counts=counts, value_domain=[3, 2, 1], level_of_measurement=level) for level in LEVELS
    ]
    middle = time.process_time()
    ours = [krippendorff_alpha(counts, cards.scores, level) for level in LEVELS]
    times = (time.process_time() - middle, middle - started)
    difference = max(abs(float(one) - other) for one, other in zip(ours, theirs, strict=True) if isinstance(one, float))
    _told("krippendorff", "alpha, three levels", times, difference)


def _beside_crowdkit(cards: CodedRatings, steps: int) -> None:
    reply, worker = (pd.factorize(codes)[0] for codes in (cards.reply, cards.worker))
    started = time.process_time()
    ours = dawid_skene(
        reply, worker, cards.value, 3, tolerance=-1, most_steps=steps, is_extrapolating=False, has_prior=False
    )
    seconds = time.process_time() - started
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.npz"
        np.savez(path, reply=reply, worker=worker, value=cards.value)
        driver = ROOT / "benchmarks" / "third_party" / "drive_crowdkit.py"
        command = [str(python_of("crowdkit")), str(driver), str(path), str(steps)]
        theirs = float(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        posterior = np.load(f"{path}.found.npy")
    difference = float(np.abs(posterior - ours.posterior).max())
    _told("crowd-kit", f"Dawid-Skene, {steps} steps", (seconds, theirs), difference)


def _told(peer: str, what: str, seconds: tuple[float, float], difference: float) -> None:
    ratio = seconds[1] / seconds[0]
    is_right = ratio >= LEAST_RATIOS[peer] and difference < 1e-6
    mark = "" if is_right else "   BROKEN"
    print(
        f"{f'{peer}: {what}':40}{seconds[0]:>9.3f}{seconds[1]:>12.3f}{ratio:>8.1f}   {difference:.1e}"
        f"   (at least {LEAST_RATIOS[peer]}){mark}"
    )


if __name__ == "__main__":
    main()
