"""Fill a database with a finished study of the paper's design: python -m benchmarks.ratings_data DIALOGS [COPIES]"""

import random
import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from benchmarks.batching_data import make_data  # noqa: E402
from benchmarks.copied_rows import copy_rows  # noqa: E402
from hits.batching import build_hits  # noqa: E402
from hits.designing import create_study  # noqa: E402
from hits.frames import DEFAULT_TIME, USUAL_VALUES  # noqa: E402
from hits.models.cards import Card  # noqa: E402
from simulated_crowd.filling import Done, fill  # noqa: E402

HITS_AT_ONCE = 50
HITS_OF_A_WORKER = 20


def main() -> None:
    call_command("migrate", verbosity=0)
    study = create_study(make_data(int(sys.argv[1])))
    build_hits(study)
    hits = list(study.hits.prefetch_related("items"))
    workers = [f"A{number}" for number in range(max(4, 4 * len(hits) // HITS_OF_A_WORKER))]
    rng = random.Random(1)
    for start in range(0, len(hits), HITS_AT_ONCE):
        work = [
            Done(hit, worker, f"{hit.number}-{rank}", rank, DEFAULT_TIME, _judge)
            for hit in hits[start : start + HITS_AT_ONCE]
            for rank, worker in enumerate(rng.sample(workers, 4))
        ]
        fill(work, rng)
    copy_rows(int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def _judge(card: Card, rng: random.Random) -> str:
    return rng.choice(USUAL_VALUES)


if __name__ == "__main__":
    main()
