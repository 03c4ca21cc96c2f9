"""Measure P@1,100 without training on EmpatheticDialogues, where it is known: MiniLM .378, TF-IDF .215, chance .01.

python -m benchmarks.known_rankings --data FOLDER [--only tf-idf|minilm]

FOLDER has ed_train.jsonl and ed_test.jsonl, which this project does not contain. The contexts are the last four turns.
MiniLM is `retrieval-hf` as it starts; TF-IDF is sublinear, fitted on the replies and last turns of the training data.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")

TURNS = 4
NEAR = 0.012  # of the known values, which differ by .006 between three orders
KNOWN = {"tf-idf": 0.215, "minilm": 0.378}

Pairs = list[tuple[list[str], str]]
Match = Callable[[Sequence[Sequence[str]], Sequence[str]], Sequence[Sequence[float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=list(KNOWN))
    parser.add_argument("--hundreds", type=int, default=0, metavar="N", help="only the first N hundreds")
    options = parser.parse_args()
    django.setup()
    pairs = _read(options.data / "ed_test.jsonl")
    problems = []
    for name in [options.only] if options.only else KNOWN:
        began = time.perf_counter()
        match = _tf_idf(_read(options.data / "ed_train.jsonl")) if name == "tf-idf" else _minilm()
        share, count = _precision(pairs, match, options.hundreds)
        seconds = time.perf_counter() - began
        said = f"P@1,100 {share:.4f} over {count:,} contexts, known {KNOWN[name]:.3f} ± {NEAR}"
        print(f"{name}: {said}; {seconds:.0f} s", flush=True)
        if not options.hundreds and abs(share - KNOWN[name]) > NEAR:
            problems.append(f"{name} is more than {NEAR} away from the known value")
    sys.exit("; ".join(problems) or None)


def _precision(pairs: Pairs, match: Match, most: int) -> tuple[float, int]:
    from generation.metrics.reply_ranking import count_found, hundreds

    groups = hundreds(range(len(pairs)))[: most or None]
    hits = 0
    for group in groups:
        contexts, replies = zip(*(pairs[number] for number in group), strict=True)
        hits += count_found(match(contexts, replies))
    return hits / (100 * len(groups)), 100 * len(groups)


def _minilm() -> Match:
    from generation.contexts import Context
    from generation.networks.retrieval_hf import MINILM, start_from
    from generation.networks.retriever import match_replies, texts_of

    start = start_from(MINILM, "retrieval-hf", {})
    start.network.eval()
    return lambda contexts, replies: match_replies(
        start.network, texts_of(start), [Context(tuple(turns)) for turns in contexts], replies
    )


def _tf_idf(training: Pairs) -> Match:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    vectorizer.fit([text for turns, reply in training for text in (turns[-1], reply)])

    def match(contexts: Sequence[Sequence[str]], replies: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = [vectorizer.transform(texts) for texts in ([" ".join(turns) for turns in contexts], replies)]
        scores: Sequence[Sequence[float]] = np.asarray((vectors[0] @ vectors[1].T).todense()).tolist()
        return scores

    return match


def _read(path: Path) -> Pairs:
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [(line["context"][-TURNS:], line["reference"]) for line in lines]


if __name__ == "__main__":
    main()
