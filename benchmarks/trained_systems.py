"""Train every system of the papers for the same minutes of CPU time, and score its replies beside published figures.

python -m benchmarks.trained_systems --data FOLDER [--minutes 5] [--systems trs moel ...] [--out var/trained-systems]

FOLDER holds EmpatheticDialogues as ed_train.jsonl, ed_valid.jsonl and ed_test.jsonl (docs/formats.md) and, if you have
them, the replies of published models to its test dialogs as ed_test_candidates.jsonl. Each system learns from the same
part of it with one thread at low priority, through `train_generator`. All answer the same test dialogs, and
`score_candidates` scores them. Run the same command again to go on after a stop: what is done is not done again.
benchmarks/trained_recipes.py has the recipes. After minutes, replies are poor: this shows that everything runs and
learns, not which system is best.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.trained_recipes import PUBLISHED_OUTPUTS, RECIPES, Recipe

if TYPE_CHECKING:
    from generation.models import Dataset

TEST = "ED test"
CURVE_POINTS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=Path("var/trained-systems"), metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=5.0, help="of CPU time, for each system (default 5)")
    parser.add_argument(
        "--systems", nargs="*", metavar="NAME", default=list(RECIPES),
        help=f"{', '.join(RECIPES)}; without a name, only published replies are scored",
    )  # fmt: skip
    parser.add_argument("--conversations", type=int, default=4000, help="to learn from (default 4000)")
    parser.add_argument("--validation", type=int, default=200, help="conversations to validate on (default 200)")
    parser.add_argument("--test", type=int, default=400, help="turns of test dialogs to answer (default 400)")
    parser.add_argument("--replies", type=int, default=10, help="test dialogs whose replies are printed (default 10)")
    options = parser.parse_args()
    if unknown := [name for name in options.systems if name not in RECIPES]:
        parser.error(f"There is no recipe for {', '.join(unknown)}.")
    if options.minutes <= 0:
        parser.error("--minutes must be above 0.")
    if problem := _note_settings(options):
        parser.error(problem)
    _set_up(options.out)
    dataset = _import_data(options)
    for name in options.systems:
        _train_and_answer(name, RECIPES[name], options, dataset)
    _print_results(options.out, options.systems, dataset, options.replies)


def _note_settings(options: argparse.Namespace) -> str:
    """Write down what this run compares. Return what is wrong if its folder was begun with something else."""
    settings = {name: getattr(options, name) for name in ("minutes", "conversations", "validation", "test")}
    options.out.mkdir(parents=True, exist_ok=True)
    noted = options.out / "settings.json"
    if noted.exists() and (begun := json.loads(noted.read_text())) != settings:
        return f"{options.out} was begun with {begun}; name another folder for {settings}."
    noted.write_text(json.dumps(settings))
    return ""


def _set_up(out: Path) -> None:
    """Use one thread at low priority, and a database of our own."""
    os.nice(19)
    database = f"sqlite:///{(out / 'benchmark.sqlite3').resolve()}"
    os.environ |= {"OMP_NUM_THREADS": "1", "VAR_DIR": str(out.resolve()), "DATABASE_URL": database}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings", "LOG_LEVEL": "ERROR"}
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _import_data(options: argparse.Namespace) -> "Dataset":
    """Write the parts of the data that are used, and import the test dialogs with the published replies to them."""
    from django.core.management import call_command

    from generation.models import Dataset

    published = options.data / "ed_test_candidates.jsonl"
    answered = [json.loads(line) for line in published.open()] if published.exists() else []
    usable = {row["id"] for row in answered if row["candidates"].keys() >= PUBLISHED_OUTPUTS.keys()}
    _write_part(options.data / "ed_train.jsonl", options.out / "train.jsonl", options.conversations, "conv_id")
    _write_part(options.data / "ed_valid.jsonl", options.out / "valid.jsonl", options.validation, "conv_id")
    _write_part(options.data / "ed_test.jsonl", options.out / "test.jsonl", options.test, "id", usable)
    call_command("import_dialogs", options.out / "test.jsonl", dataset=TEST)
    chosen = {json.loads(line)["id"] for line in (options.out / "test.jsonl").open()}
    if rows := [row for row in answered if row["id"] in usable & chosen]:
        with (options.out / "published.jsonl").open("w") as file:
            for row in rows:
                replies = {new: row["candidates"][old] for old, new in PUBLISHED_OUTPUTS.items()}
                file.write(json.dumps({"id": row["id"], "candidates": replies}) + "\n")
        call_command("import_candidates", options.out / "published.jsonl", dataset=TEST)
    return Dataset.objects.get(name=TEST)


def _write_part(whole: Path, part: Path, count: int, unit: str, usable: set[str] | None = None) -> None:
    """Copy `count` units at random, conversations or lines, in random order: the file is grouped by emotion."""
    units: dict[str, list[str]] = {}
    for line in whole.open():
        name = json.loads(line)[unit]
        if not usable or name in usable:
            units.setdefault(name, []).append(line)
    chosen = random.Random(0).sample(sorted(units), min(count, len(units)))
    part.write_text("".join(line for name in chosen for line in units[name]))


def _train_and_answer(name: str, recipe: Recipe, options: argparse.Namespace, dataset: "Dataset") -> None:
    """Let a system learn, answer and be scored. What goes wrong is printed, and the next system goes on."""
    from django.core.management import CommandError, call_command

    began, cpu_began = time.monotonic(), time.process_time()
    print(f"\n{name}", flush=True)
    labeller = options.out / "emotions.safetensors"
    data = ["--data", str(options.out / "train.jsonl"), "--validation", str(options.out / "valid.jsonl")]
    try:
        if recipe.reads_labels and not labeller.exists():
            call_command("train_labeller", *data, "--out", str(labeller))
        for arguments in recipe.commands(name, options.out, options.minutes, labeller):
            call_command("train_generator", recipe.kind, *arguments, *data, "--device", "cpu")
        checkpoint = str((options.out / name).resolve())
        call_command(
            "generate_candidates", dataset=dataset.name, generator=name, kind=recipe.kind, checkpoint=checkpoint,
            here=True,
        )  # fmt: skip
        call_command("score_candidates", dataset=dataset.name, generator=[name], without_similarity=True, device="cpu")
    except CommandError as error:
        print(f"{name} failed: {error}", flush=True)
    seconds, cpu_seconds = time.monotonic() - began, time.process_time() - cpu_began
    print(f"{name} took {cpu_seconds / 60:.1f} minutes of CPU, {seconds / 60:.1f} in all", flush=True)


def _print_results(out: Path, names: Sequence[str], dataset: "Dataset", replies: int) -> None:
    from django.core.management import call_command

    from generation.models import Candidate

    if Candidate.objects.filter(dialog__dataset=dataset, generator__name__in=PUBLISHED_OUTPUTS.values()).exists():
        call_command("score_candidates", dataset=dataset.name, without_similarity=True, verbosity=0, stdout=_Nowhere())
    print("\n## Curves\n")
    for name in names:
        for folder in RECIPES[name].run_folders(name, out):
            print(f"{folder.stem}: {_describe_curve(folder)}")
    print("\n## Scores\n")
    for line in _score_table(names, dataset):
        print(line)
    print("\n## Replies\n")
    for line in _reply_table(names, dataset, replies):
        print(line)


class _Nowhere:
    def write(self, text: str) -> None: ...


def _describe_curve(folder: Path) -> str:
    from generation.training.history import read_history

    if not (folder / "history.json").exists():
        return "no validation yet"
    points = read_history(folder)
    shown = [points[0], *points[1:][-CURVE_POINTS + 1 :]]
    return "; ".join(
        f"step {point['step']:,} (epoch {point['epoch']:.2f}, {point['cpu_seconds'] / 60:.1f} CPU min): "
        f"perplexity {point['perplexity_macro']:.1f}"
        + (f", accuracy {point['accuracy']:.3f}" if "accuracy" in point else "")
        for point in shown
    )


Shown = tuple[str, str, Callable[[float], str]]
COLUMNS: list[Shown] = [
    ("perplexity", "PPL", "{:.1f}".format),
    ("perplexity_by_token", "by token", "{:.1f}".format),
    ("emotion_top_1", "top 1", lambda share: f"{100 * share:.0f}"),
    ("emotion_top_2", "top 2", lambda share: f"{100 * share:.0f}"),
    ("emotion_top_5", "top 5", lambda share: f"{100 * share:.0f}"),
    ("bleu_4", "BLEU-4", "{:.2f}".format),
    ("bleu_average", "BLEU-1..4", "{:.2f}".format),
    ("distinct_1", "D1", lambda share: f"{100 * share:.2f}"),
    ("distinct_2", "D2", lambda share: f"{100 * share:.2f}"),
    ("precision_at_1_100", "P@1,100", lambda share: f"{100 * share:.1f}"),
]


def _score_table(names: Sequence[str], dataset: "Dataset") -> Iterator[str]:
    """Yield the lines of a table in Markdown: ours, what papers print of the same system, and their outputs scored."""
    from generation.metrics.published_tables import PAPER_TABLES
    from generation.metrics.score_tables import newest_scores
    from generation.models import GeneratorScore

    ours: dict[str, dict[str, float]] = {}
    for score in newest_scores(GeneratorScore.objects.filter(dataset=dataset).select_related("generator")):
        ours.setdefault(score.generator.name, {})[score.metric] = score.value
    yield "| system | " + " | ".join(heading for _, heading, _ in COLUMNS) + " |"
    yield "|---" * (len(COLUMNS) + 1) + "|"
    for name in names:
        yield _row(f"**{name}**, here", ours.get(name, {}))
        for paper, row in RECIPES[name].published:
            table = PAPER_TABLES[paper]
            printed = zip(table.columns, table.published[row], strict=True)
            values = {column.metric: value / column.factor for column, value in printed if value is not None}
            yield _row(f"{row}, printed by {table.paper.partition(' (')[0]}", values)
    for name in PUBLISHED_OUTPUTS.values():
        yield _row(f"{name}, scored here", ours.get(name, {}))


def _row(title: str, values: dict[str, float]) -> str:
    cells = [write(values[metric]) if metric in values else "–" for metric, _, write in COLUMNS]
    return f"| {title} | {' | '.join(cells)} |"


def _reply_table(names: Sequence[str], dataset: "Dataset", count: int) -> Iterator[str]:
    """Yield each system's replies to some dialogs. The dialogs are named by their ids only: their licence differs."""
    from generation.models import Candidate, Dialog

    for dialog in Dialog.objects.filter(dataset=dataset).order_by("pk")[:count]:
        yield f"\n{dialog.external_id} ({dialog.emotion})"
        found: dict[str, Any] = dict(
            Candidate.objects.filter(dialog=dialog, generator__name__in=names).values_list("generator__name", "text")
        )
        yield from (f"- {name}: {found.get(name, 'no reply')}" for name in names)


if __name__ == "__main__":
    main()
