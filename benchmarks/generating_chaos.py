"""Kill background processes and broker over and over while models answer: does every dialog get exactly one candidate?

python -m benchmarks.generating_chaos [--dialogs 2000] [--kills 40] [--seed 1] [--database-url ...]

Several Celery processes take chunks from a Redis of their own. At random moments one of them, or Redis itself, gets
SIGKILL and is started again; chunks are sent twice; the run is paused and resumed. Replies depend on their seeds, so we
know what an undisturbed run would give, and also count replies that differ.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.processes import BackgroundProcess, stop_all
from tests.servers import RedisServer

if TYPE_CHECKING:
    from generation.models import GenerationRun

PROCESSES = 3
CHUNK_SIZE = 8
FAILING_SHARE = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database-url", default="", help="a new SQLite file unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        redis = RedisServer(Path(name))
        os.environ |= {"VAR_DIR": name, "DATABASE_URL": options.database_url, "LOG_LEVEL": "ERROR"}
        os.environ |= {"BROKER_URL": redis.url, "BROKER_LOST_TASK_SECONDS": "3"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
        import django

        django.setup()
        chaos = Chaos(random.Random(options.seed), Path(name), redis)
        try:
            chaos.play(options.dialogs, options.kills)
        finally:
            stop_all(chaos.processes)
            redis.kill()
    for what, count in chaos.tally.items():
        print(f"{what:45} {count:>8,}")
    if chaos.tally["holes"] or chaos.tally["doubles"] or chaos.tally["replies that differ"]:
        sys.exit("Generation is not exactly once.")


class Chaos:
    def __init__(self, rng: random.Random, folder: Path, redis: RedisServer) -> None:
        self._rng, self._folder, self._redis = rng, folder, redis
        self.tally: Counter[str] = Counter()
        self.processes: list[BackgroundProcess] = []
        self._started = 0

    def play(self, dialogs: int, kills: int) -> None:
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        run = _make_run(dialogs, self._rng)
        self.processes = [self._start() for _ in range(PROCESSES)]
        self._send(run)
        began = time.monotonic()
        while self.tally["processes killed"] + self.tally["broker killed"] < kills and not _is_finished(run):
            time.sleep(self._rng.uniform(0.2, 2.0))
            self._disturb(run)
        while not _is_finished(run):
            time.sleep(1)
            if not _count_waiting() and _is_quiet(run):
                self._send(run)
                self.tally["times that lost chunks were sent again"] += 1
        self.tally["seconds"] = round(time.monotonic() - began)
        self._compare(run)

    def _disturb(self, run: "GenerationRun") -> None:
        what = self._rng.random()
        if what < 0.7:
            number = self._rng.randrange(PROCESSES)
            self.processes[number].kill()
            self.processes[number] = self._start()
            self.tally["processes killed"] += 1
        elif what < 0.8:
            self._redis.kill()
            self._redis.start()
            self.tally["broker killed"] += 1
        elif what < 0.9:
            self._send(run)
            self.tally["times that all chunks were sent again"] += 1
        else:
            self._pause_and_resume(run)
            self.tally["times paused and resumed"] += 1

    def _pause_and_resume(self, run: "GenerationRun") -> None:
        from django.utils import timezone

        from generation.run_requests import pause_run, resume_run

        pause_run(run, timezone.now())
        time.sleep(self._rng.uniform(0, 1))
        resume_run(run, timezone.now())
        self._send(run)

    def _send(self, run: "GenerationRun") -> None:
        from generation.run_requests import undone_chunks
        from generation.tasks import send_chunks

        send_chunks(undone_chunks(run))

    def _start(self) -> BackgroundProcess:
        self._started += 1
        return BackgroundProcess(self._folder / f"process{self._started}.log", {}, "gpu", f"chaos{self._started}@%h")

    def _compare(self, run: "GenerationRun") -> None:
        from generation.models import Candidate, Dialog, GenerationFailure
        from generation.open_questions import seed_of
        from generation.run_requests import failed_dialogs

        answers = Counter(Candidate.objects.values_list("dialog", flat=True))
        failed = set(failed_dialogs(run))
        failing = set(Dialog.objects.filter(external_id__startswith="be empty").values_list("pk", flat=True))
        everyone = set(Dialog.objects.values_list("pk", flat=True))
        candidates = Candidate.objects.select_related("dialog").iterator()
        self.tally |= Counter({"dialogs": len(everyone), "candidates": sum(answers.values()), "failed": len(failed)})
        self.tally["holes"] = len(everyone - answers.keys() - failed) + len(failed ^ failing)
        attempts = Counter(GenerationFailure.objects.values_list("dialog", "attempt"))
        self.tally["doubles"] = sum(n - 1 for n in answers.values()) + sum(n - 1 for n in attempts.values())
        self.tally["doubles"] += len(attempts) - 2 * len(failing)
        self.tally["replies that differ"] = sum(
            candidate.text != f"You said {candidate.dialog} ({seed_of(run.generator, candidate.dialog, 1)})"
            for candidate in candidates
        )


def _make_run(count: int, rng: random.Random) -> "GenerationRun":
    import tests.scripted_generator  # noqa: F401  # the kind that the processes know, too
    from generation.models import Dataset, Dialog, context_key
    from generation.registering import Registration, register_generator
    from generation.run_requests import request_run

    dataset = Dataset.objects.create(name="chaos")
    names = [f"be empty {n}" if rng.random() < FAILING_SHARE else f"dialog {n}" for n in range(count)]
    rows = [Dialog(dataset=dataset, external_id=name, turns=[name], context_key=context_key([name])) for name in names]
    Dialog.objects.bulk_create(rows)
    settings = {"seconds": 0.03, "batch_size": 2}
    return request_run(
        register_generator(Registration("chaos", "scripted", "", settings)), dataset, None, None, CHUNK_SIZE
    )


def _is_finished(run: "GenerationRun") -> bool:
    run.refresh_from_db()
    return run.finished_at is not None


def _is_quiet(run: "GenerationRun") -> bool:
    from django.utils import timezone

    return (timezone.now() - (run.seen_at or run.requested_at)).total_seconds() > 10


def _count_waiting() -> int:
    from generation.tasks import count_waiting

    return count_waiting()


if __name__ == "__main__":
    main()
