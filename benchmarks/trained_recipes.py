"""Say how benchmarks/trained_systems.py trains each system, and which published figures stand beside it.

All networks of ours have the same width. `steps_a_minute` was measured on the machine of docs/measured: it decides only
how often a run is validated and how long its learning rate rises.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VALIDATIONS = 5
WARM_UP = 0.1  # of the steps

_WORDS = ("--width", "128", "--minimum-count", "2", "--learning-rate", "1e-3")
_TOKENS = (
    "--width", "128", "--heads", "4", "--layers", "2", "--feed-forward", "512", "--vocabulary", "8000",
    "--batch-size", "64", "--learning-rate", "1e-3", "--clip", "1",
)  # fmt: skip
_RETRIEVAL = (
    "--width", "128", "--heads", "4", "--layers", "2", "--feed-forward", "512", "--batch-size", "128",
    "--max-epochs", "100",
)  # fmt: skip
_MINILM = ("--from", "all-MiniLM-L6-v2", "--batch-size", "16", "--learning-rate", "2e-5")


@dataclass(frozen=True)
class Stage:
    arguments: tuple[str, ...]  # of train_generator
    steps_a_minute: float
    share: float = 1.0  # of the system's minutes
    out: str = "{name}"  # the folder of its checkpoint
    part: str = ""

    def steps(self, minutes: float, share: float) -> int:
        return max(1, round(self.steps_a_minute * self.share * minutes * share))


@dataclass(frozen=True)
class Recipe:
    kind: str
    stages: tuple[Stage, ...]
    published: tuple[tuple[str, str], ...]  # rows of generation/metrics/published_tables.py
    reads_labels: bool = False

    def commands(self, name: str, out: Path, minutes: float, labeller: Path) -> Iterator[list[str]]:
        """Yield the arguments of each stage's train_generator, but for the data."""
        for stage in self.stages:
            given = [argument.format(out=out) for argument in stage.arguments]
            given += ["--out", str(out / stage.out.format(name=name)), "--save-every", "50", "--patience", "0"]
            given += ["--max-cpu-minutes", str(minutes * stage.share)]
            given += ["--validate-every", str(stage.steps(minutes, 1 / VALIDATIONS))]
            given += ["--warmup-steps", str(stage.steps(minutes, WARM_UP))]
            given += ["--part", stage.part] if stage.part else []
            if stage.part == "discriminators":
                given += ["--discriminator-steps", str(stage.steps(minutes, 1 / VALIDATIONS))]
            yield given + (["--labeller", str(labeller)] if self.reads_labels else [])

    def run_folders(self, name: str, out: Path) -> list[Path]:
        from generation.training.history import run_folder

        return [run_folder(out / stage.out.format(name=name), stage.part) for stage in self.stages]


def _one(arguments: tuple[str, ...], steps_a_minute: float) -> tuple[Stage, ...]:
    return (Stage(arguments, steps_a_minute),)


RECIPES = {
    "transformer": Recipe("transformer", _one(_TOKENS, 90), (("rashkin", "Generative, fine-tuned"),)),
    "meed2": Recipe(
        "meed2",
        (
            Stage(_TOKENS, 90, share=0.8),
            Stage(("--batch-size", "64", "--learning-rate", "5e-4", "--clip", "1"), 180, share=0.2, part="predictor"),
        ),
        (),
    ),
    "trs": Recipe("trs", _one(_WORDS, 200), (("li", "Transformer"),)),
    "multi-tr": Recipe("multi-tr", _one(_WORDS, 200), (("li", "EmoPrepend-1"), ("majumder", "Multi-TR"))),
    "moel": Recipe("moel", _one(_WORDS, 150), (("li", "MoEL"), ("majumder", "MoEL"))),
    "mime": Recipe("mime", _one(_WORDS, 150), (("majumder", "MIME"),)),
    "empdg": Recipe(
        "empdg",
        (
            Stage(_WORDS, 200, share=0.75, out="{name}-alone"),
            Stage(("--from", "{out}/empdg-alone", "--learning-rate", "3e-4"), 20, share=0.25, part="discriminators"),
        ),
        (("li", "EmpDG w/o D"), ("li", "EmpDG")),
    ),
    "retrieval": Recipe("retrieval", _one(_RETRIEVAL, 60), (("rashkin", "Retrieval, fine-tuned"),)),
    "retrieval-emotions": Recipe(
        "retrieval", _one(_RETRIEVAL, 60), (("rashkin", "Retrieval, EmoPrepend-1"),), reads_labels=True
    ),
    "retrieval-minilm": Recipe("retrieval-hf", _one(_MINILM, 12), (("rashkin", "BERT, fine-tuned"),)),
}

# The published models whose replies the data has: their names there, and ours.
PUBLISHED_OUTPUTS = {
    "Transformer(EmpDG repo)": "Transformer of Li et al., their replies",
    "EmoPrepend(EmpDG repo)": "EmoPrepend-1 of Li et al., their replies",
    "MoEL(EmpDG rerun)": "MoEL of Li et al., their replies",
    "EmpDG_woD": "EmpDG w/o D, their replies",
    "EmpDG": "EmpDG, their replies",
    "Multi-TR(MoEL repo: trs+multitask)": "Multi-TR of MoEL's authors, their replies",
    "MoEL": "MoEL, their replies",
    "MIME": "MIME greedy, their replies",
    "MIME-beam": "MIME beam, their replies",
}
