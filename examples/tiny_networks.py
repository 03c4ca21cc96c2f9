"""Train the demo's own networks on the example corpus in seconds, and let them answer in a real background process.

They are so small and so briefly trained that their replies make little sense, but every step is that of real ones.
"""

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import call_command

if TYPE_CHECKING:
    from generation.models import GenerationRun

NETWORKS = {"tiny-transformer": "transformer", "tiny-meed2": "meed2"}
SIZES = "--width 32 --heads 4 --layers 1 --feed-forward 64 --vocabulary 600 --dropout 0".split()
TRAINING = (
    "--batch-size 32 --learning-rate 0.005 --max-steps 60 --validate-every 30 --patience 0 --save-every 1000 --seed 1"
).split()
DECODING = ["method=nucleus", "top_p=0.8", "max_tokens=40", "batch_size=20"]
MOST_SECONDS = 300


def train_networks(datasets: Iterable[str]) -> None:
    for name, kind in NETWORKS.items():
        folder = _folder(name)
        if (folder / "config.json").exists():
            print(f"  {name}: trained before")
        else:
            call_command("train_generator", kind, "--data", *datasets, "--out", str(folder), *SIZES, *TRAINING)
    meed2 = _folder("tiny-meed2")
    if not (meed2 / "predictor.safetensors").exists():
        call_command(
            "train_generator", "meed2", "--part", "predictor", "--data", *datasets, "--out", str(meed2), *TRAINING
        )


def generate_replies(datasets: Iterable[str]) -> None:
    """Ask in the background process, through the broker, as the pages do."""
    from generation.models import GenerationRun

    for dataset in datasets:
        for name, kind in NETWORKS.items():
            if _has_answered(name, dataset):
                continue
            described = ["--kind", kind, "--checkpoint", str(_folder(name)), *_settings()]
            call_command("generate_candidates", "--dataset", dataset, "--generator", name, *described, "--no-wait")
    deadline = time.monotonic() + MOST_SECONDS
    while GenerationRun.objects.going_on().exists():
        if time.monotonic() > deadline:
            sys.exit("Nothing was answered in five minutes; the process's messages are in var/demo-process.log.")
        time.sleep(0.2)
    _print_runs(GenerationRun.objects.filter(generator__name__in=NETWORKS).order_by("pk"))


def _has_answered(name: str, dataset: str) -> bool:
    """Return whether the network has answered before. Dialogs to which it had no reply would get none now either."""
    from generation.models import GenerationRun

    runs = GenerationRun.objects.filter(generator__name=name, dataset__name=dataset)
    return runs.exclude(finished_at=None).exists()


def _folder(name: str) -> Path:
    return settings.VAR_DIR / "demo-networks" / name


def _settings() -> list[str]:
    return [part for setting in DECODING for part in ("--setting", setting)]


def _print_runs(runs: "Iterable[GenerationRun]") -> None:
    from django.utils import timezone

    from generation.run_requests import count_failures, count_run

    for run in runs:
        counts = count_run(run, timezone.now())
        told = [f"{counts.answered} of {counts.total} answered"]
        told += [f"{count} {reason}" for reason, count in count_failures(run).items()]
        print(f"  {run.generator} on {run.dataset}: {', '.join(told)}")
