"""Make the paper's study on any number of synthetic dialogs."""

import random
from itertools import islice
from pathlib import Path
from typing import Any

from generation.models import Candidate, Dataset, Dialog, GenerationRun, Generator, context_key
from hits.designing import read_study_file

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
WORDS = "well then maybe tomorrow we could see whether the river has gone down and ask your sister about it".split()


def make_data(dialog_count: int) -> dict[str, Any]:
    """Make the dialogs, and return the settings of a study that fits them."""
    settings = read_study_file(EXAMPLES / "meed2.toml")
    for part in settings["datasets"]:
        part["dialogs"] = dialog_count // 3
        _fill(Dataset.objects.create(name=part["name"]), part["dialogs"], settings["generators"])
    return settings


def _fill(dataset: Dataset, dialog_count: int, generator_names: list[str]) -> None:
    rng = random.Random(dataset.name)
    runs = []
    for name in generator_names:
        generator, _ = Generator.objects.get_or_create(name=name)
        runs.append(GenerationRun.objects.create(generator=generator, dataset=dataset, origin="synthetic"))
    numbers = iter(range(dialog_count))
    while chunk := list(islice(numbers, 2_000)):
        dialogs = Dialog.objects.bulk_create(
            Dialog(
                dataset=dataset,
                external_id=f"{dataset.name}-{number}",
                turns=(turns := [_text(rng), _text(rng), _text(rng)]),
                gold=_text(rng),
                context_key=context_key(turns),
            )
            for number in chunk
        )
        Candidate.objects.bulk_create(
            Candidate(dialog=dialog, generator_id=run.generator_id, run=run, text=text, display_text=text)
            for dialog in dialogs
            for run in runs
            for text in [_text(rng)]
        )


def _text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(3, 15))).capitalize() + "."
