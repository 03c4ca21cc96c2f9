"""Measure speed and memory of our beam search beside Hugging Face generate and CTranslate2, with the same weights.

python -m benchmarks.decoding [--checkpoint FOLDER --dialogs FILE] [--only rates|growth]

The networks are random, of MEED2's size (25.5 M parameters), with beam 32, 4-gram blocking, batch 8, 2 threads and
fp32. First, replies have exactly 32 tokens and contexts 60; ours must equal Hugging Face's. Then replies end at
different lengths, and contexts have 10 to 100 tokens. That network is so wild that replies depend on the last bit, and
Hugging Face's own differ between batches. Its beams also share so little of their past that its memory says nothing
about trained networks, so it is printed but not judged. Each side answers in its own process, alternating, and the best
of its rounds counts. At the end, we print how ours grows with the batch, and what sorting the contexts by length gains.
With --checkpoint, a trained `transformer` is used instead of random weights; it answers real dialogs (JSONL).
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.decoding_sides import BEAMS, SIDES

ROOT = Path(__file__).resolve().parent.parent
LEAST_SPEED = 3.0  # times Hugging Face's
MOST_MEMORY = 0.5  # of Hugging Face's
GROWTH_CONTEXTS = 32
EXACT = "exactly 32 tokens"
WILD = "different lengths"
CASES = {
    EXACT: (["--tokens", "32", "--contexts", "16"], 0),
    WILD: (["--tokens", "60", "--contexts", "32", "--lengths", "10", "100"], 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--dialogs", type=Path)
    parser.add_argument("--only", choices=["rates", "growth"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    if (options.checkpoint is None) != (options.dialogs is None):
        parser.error("--checkpoint and --dialogs go together.")
    print(f"beam {BEAMS}, 4-gram blocking, {options.threads} threads, fp32", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problems = []
        for title, (arguments, ends) in CASES.items():
            if options.checkpoint and not ends:
                continue
            made = folder / str(ends)
            trained = ["--checkpoint", str(options.checkpoint), "--dialogs", str(options.dialogs)]
            _run("make", made, ["--ends", str(ends), *(trained if options.checkpoint else [])])
            if options.only != "growth":
                named = "trained weights" if options.checkpoint else title
                problems += _compare(named, made, [*arguments, "--threads", options.threads], options.rounds)
            if options.only != "rates" and ends:
                _print_growth(made, options.threads)
    if problems:
        sys.exit("\n".join(problems))


def _compare(title: str, folder: Path, arguments: Sequence[str], rounds: int) -> list[str]:
    rows: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for side in SIDES:
            row = _run(side, folder, ["--batch", "8", *arguments])
            if side not in rows or row["seconds"] < rows[side]["seconds"]:
                rows[side] = row
    lengths = sorted(len(reply) for reply in rows["ours"]["replies"])
    print(f"\n{title}: {len(lengths)} replies of {lengths[0]} to {lengths[-1]} tokens, batch 8")
    print(f"{'':>14} {'replies/s':>10} {'CPU s/reply':>11} {'peak MB':>8} {'same replies as Hugging Face':>29}")
    ours, theirs = rows["ours"], rows["hugging-face"]
    for side, row in rows.items():
        same = sum(_bare(one) == _bare(other) for one, other in zip(row["replies"], theirs["replies"], strict=True))
        print(
            f"{side:>14} {len(lengths) / row['seconds']:>10.2f} {row['cpu_seconds'] / len(lengths):>11.2f} "
            f"{row['peak_mb']:>8,.0f} {f'{same} of {len(lengths)}':>29}",
            flush=True,
        )
    speed = rows["ctranslate2"]["seconds"] / ours["seconds"]
    print(f"ours / CTranslate2: {speed:.2f} times as fast (the mark is 1)")
    return _problems(title, ours, theirs)


def _problems(title: str, ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    problems = []
    speed = theirs["seconds"] / ours["seconds"]
    memory = ours["peak_mb"] / theirs["peak_mb"]
    limit = math.inf if title == WILD else MOST_MEMORY
    print(f"ours / Hugging Face: {speed:.2f} times as fast (limit {LEAST_SPEED}), {memory:.2f} of its memory", end=" ")
    print(f"(limit {limit})" if limit < math.inf else "(not judged)", flush=True)
    if speed < LEAST_SPEED or memory > limit:
        problems.append(f"{title}: a limit is broken. On a machine that does other work, measure again.")
    if title == EXACT and ours["replies"] != theirs["replies"]:
        problems.append(f"{title}: ours and Hugging Face's replies differ.")
    return problems


def _bare(reply: list[int]) -> list[int]:
    return [token for token in reply if token != 2]  # CTranslate2 does not say the end


def _print_growth(folder: Path, threads: str) -> None:
    arguments = ["--tokens", "60", "--contexts", str(GROWTH_CONTEXTS), "--lengths", "10", "100", "--threads", threads]
    print(f"\nours, {GROWTH_CONTEXTS} contexts of 10 to 100 tokens")
    print(f"{'batch':>6} {'replies/s':>10} {'sorted by length':>17} {'peak MB':>8}")
    for batch in (1, 4, 16, 32):
        rows = [_run("ours", folder, ["--batch", str(batch), *arguments, *extra]) for extra in ([], ["--sorted"])]
        rates = [GROWTH_CONTEXTS / row["seconds"] for row in rows]
        print(f"{batch:>6} {rates[0]:>10.2f} {rates[1]:>17.2f} {rows[0]['peak_mb']:>8,.0f}", flush=True)


def _run(what: str, folder: Path, arguments: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.decoding_sides", what, str(folder), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return result


if __name__ == "__main__":
    main()
