"""Train the demo's own networks on the example corpus in seconds, and let them answer in a real background process.

They are so small and so briefly trained that their replies make little sense, but every step is that of real ones.
"""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management import CommandError, call_command

if TYPE_CHECKING:
    from generation.models import GenerationRun

TWO_NETWORKS = {"tiny-transformer": "transformer", "tiny-meed2": "meed2"}
SIZES = "--width 32 --heads 4 --layers 1 --feed-forward 64 --vocabulary 600 --dropout 0".split()
TRAINING = (
    "--batch-size 32 --learning-rate 0.005 --warmup-steps 1 --max-steps 60 --validate-every 30 --patience 0 "
    "--save-every 1000 --seed 1"
).split()
DECODING = {"method": "nucleus", "top_p": 0.8, "max_tokens": 40}
MOST_SECONDS = 300


def all_networks() -> dict[str, str]:
    """Return a name for a network of each kind that can be trained, and its kind."""
    from generation.networks.families import generating_families

    return TWO_NETWORKS | {f"tiny-{kind}": kind for kind in generating_families()}


def train_networks(networks: Mapping[str, str], datasets: Iterable[str]) -> dict[str, str]:
    """Train what was not trained before, all parts of it. Return the networks without those that need more than
    this: a file of the user's, for example."""
    from generation.networks.families import FAMILIES

    trained = {}
    for name, kind in networks.items():
        first, *others = FAMILIES[kind].parts
        try:
            _train(name, kind, first, datasets, SIZES)
            for part in others:
                _train(name, kind, part, datasets, [])
            trained[name] = kind
        except CommandError as error:
            print(f"  {name}: left out. {error}")
    return trained


def _train(name: str, kind: str, part: str, datasets: Iterable[str], sizes: list[str]) -> None:
    folder, is_first = _folder(name), bool(sizes)
    if not (folder / ("config.json" if is_first else f"{part}.safetensors")).exists():
        chosen = [] if is_first else ["--part", part]
        call_command("train_generator", kind, "--data", *datasets, "--out", str(folder), *chosen, *sizes, *TRAINING)
    elif is_first:
        print(f"  {name}: trained before")


def generate_replies(networks: Mapping[str, str], datasets: Iterable[str]) -> None:
    """Ask in the background process, through the broker, as the pages do."""
    from generation.models import GenerationRun

    for dataset in datasets:
        for name, kind in networks.items():
            if _has_answered(name, dataset):
                continue
            described = ["--kind", kind, "--checkpoint", str(_folder(name)), *_settings(name, kind)]
            call_command("generate_candidates", "--dataset", dataset, "--generator", name, *described, "--no-wait")
    deadline = time.monotonic() + MOST_SECONDS
    while GenerationRun.objects.going_on().exists():
        if time.monotonic() > deadline:
            sys.exit("Nothing was answered in five minutes; the process's messages are in var/demo-process.log.")
        time.sleep(0.2)
    _print_runs(GenerationRun.objects.filter(generator__name__in=networks).order_by("pk"))


def _has_answered(name: str, dataset: str) -> bool:
    """Return whether the network has answered before. Dialogs to which it had no reply would get none now either."""
    from generation.models import GenerationRun

    runs = GenerationRun.objects.filter(generator__name=name, dataset__name=dataset)
    return runs.exclude(finished_at=None).exists()


def _folder(name: str) -> Path:
    return settings.VAR_DIR / "demo-networks" / name


def _settings(name: str, kind: str) -> list[str]:
    """Return options that say how to sample, if the kind samples."""
    from generation.errors import SettingsRefused
    from generation.registry import load_kind

    try:
        load_kind(kind).check(str(_folder(name)), DECODING)
    except SettingsRefused:
        return ["--setting", "batch_size=20"]
    named = DECODING | {"batch_size": 20}
    return [part for setting, value in named.items() for part in ("--setting", f"{setting}={value}")]


def _print_runs(runs: "Iterable[GenerationRun]") -> None:
    from django.utils import timezone

    from generation.run_requests import count_failures, count_run

    for run in runs:
        counts = count_run(run, timezone.now())
        told = [f"{counts.answered} of {counts.total} answered"]
        told += [f"{count} {reason}" for reason, count in count_failures(run).items()]
        print(f"  {run.generator} on {run.dataset}: {', '.join(told)}")
