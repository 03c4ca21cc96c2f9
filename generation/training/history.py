"""Write, read and draw the validation results of a training run: history.json and curves.svg."""

import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.errors import TrainingRefused

HISTORY = "history.json"
CURVES = "curves.svg"
MACRO, TOKEN_WEIGHTED = "perplexity_macro", "perplexity_token_weighted"

_TRAINING = "training, with dropout"
_DASHES = {"validation, macro": "-", "validation, token-weighted": "--", _TRAINING: ":"}

Entry = dict[str, Any]


def run_folder(checkpoint: Path, part: str = "") -> Path:
    """Return the run's own folder. It is beside the checkpoint's folder, which holds nothing but the checkpoint."""
    return checkpoint.with_name(f"{checkpoint.name}{f'.{part}' if part else ''}.training")


def write_history(folder: Path, history: Sequence[Entry], identity: Mapping[str, Any]) -> None:
    text = json.dumps({"settings": dict(identity), "history": list(history)}, indent=1)
    _replace(folder / HISTORY, text.encode())


def write_curves(folder: Path, history: Sequence[Entry]) -> None:
    _replace(folder / CURVES, draw_curves({"": history}))


def read_history(folder: Path) -> list[Entry]:
    """Read the history of a run, given the run's folder or its checkpoint's folder."""
    path = next((place / HISTORY for place in (folder, run_folder(folder)) if (place / HISTORY).is_file()), None)
    if path is None:
        raise TrainingRefused(f"There is no {HISTORY} in {folder} or {run_folder(folder)}; train_generator writes it.")
    try:
        history: list[Entry] = json.loads(path.read_text())["history"]
        kinds = {"step": int, MACRO: float, "is_best": bool}
        if not all(isinstance(entry[name], kind) for entry in history for name, kind in kinds.items()):
            raise ValueError("an entry lacks its step or perplexity")
        return history
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingRefused(f"{path} is broken: {error}.") from error


def draw_curves(histories: Mapping[str, Sequence[Entry]]) -> bytes:
    """Draw perplexities against steps, as SVG: a colour for each run, a dash pattern for each measure."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "training", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        for number, (run, history) in enumerate(histories.items()):
            for measure, dash in _DASHES.items():
                points = [(entry["step"], _perplexity(entry, measure)) for entry in history]
                label = f"{run} {measure}".strip()
                axes.plot(*zip(*points, strict=True), dash, marker=".", color=f"C{number}", label=label)
        axes.set(xlabel="step", ylabel="perplexity", yscale="log")
        axes.yaxis.set_major_formatter("{x:.0f}")
        axes.yaxis.set_minor_formatter("{x:.0f}")
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize="small")
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return picture.getvalue()


def _perplexity(entry: Entry, measure: str) -> float:
    if measure == _TRAINING:
        return math.nan if entry["training_loss"] is None else math.exp(entry["training_loss"])
    return float(entry[MACRO if "macro" in measure else TOKEN_WEIGHTED])


def _replace(path: Path, content: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    new.replace(path)
