"""LaTeX tables of each way of asking compile as they are, also with names that mean something to LaTeX, and with usual
names nothing sticks out of the page."""

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from hits.analysing import analyse, report_of
from hits.exporting.report_latex import latex_tables
from hits.stats import CriterionScale, Plan
from tests.hits.stats.small_frames import drawn_frame

HOSTILE = (r"50%_off & more #1", r"\input{x} ^~ {", "naïve – 中文 $x$", "a" * 60, "-- ?` <<")
USUAL = ("meed2", "blender-400m", "dialogpt-large", "emphi", "t5-base")
SHARES = ((0.7, 0.2, 0.1), (0.5, 0.3, 0.2), (0.3, 0.3, 0.4), (0.3, 0.3, 0.4), (0.1, 0.3, 0.6))
POINTS = CriterionScale(("5", "4", "3", "2", "1"), (5, 4, 3, 2, 1), is_by_mean=True)

pytestmark = [
    pytest.mark.once,
    pytest.mark.parametrize("names", [USUAL, HOSTILE], ids=["usual", "hostile"]),
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed"),
]


def test_tables_of_areas_compile(names: tuple[str, ...], tmp_path: Path) -> None:
    results = analyse(_rated(names).assign(emotion="50% _sad_"), plan=Plan("share of best"))

    _compile(latex_tables(report_of(results), r"Study a_b & \c", "share of best"), tmp_path, names)


def test_tables_of_scales_compile(names: tuple[str, ...], tmp_path: Path) -> None:
    rated = _rated(names)
    points = rated.assign(
        value=pd.Categorical([POINTS.values[int(6 - 2 * score)] for score in rated["score"]], POINTS.values),
        score=rated["score"] * 2 - 1,
    )
    asked = {"Empathy & care": 0, r"50%_fluent \x": 1} if names is HOSTILE else {"Empathy": 0, "Fluency": 1}
    frame = pd.concat([points[points["dialog"] % 9 != at].assign(criterion=name) for name, at in asked.items()])
    frame["criterion"] = pd.Categorical(frame["criterion"], list(asked))

    made = latex_tables(
        report_of(analyse(frame, plan=Plan("mean score"), scales=dict.fromkeys(asked, POINTS))),
        "Study a_b",
        "mean score",
    )

    assert "criteria.tex" in made
    _compile(made, tmp_path, names)


def test_tables_of_pairs_compile(names: tuple[str, ...], tmp_path: Path) -> None:
    rated = _rated(names)
    wide = rated.pivot_table(
        index=["dialog", "worker"], columns="generator", values="score", observed=True
    ).reset_index()
    first, *others = names
    frame = pd.concat(
        wide[["dialog", "worker"]].assign(
            dataset=rated["dataset"].iloc[0],
            generator=pd.Categorical([first] * len(wide), names),
            opponent=pd.Categorical([other] * len(wide), names),
            score=(wide[first] - wide[other]).clip(-1, 1),
        )
        for other in others
    )
    values = ["first & better", "both_alike", "second ^ better"]
    frame["value"] = pd.Categorical([values[int(1 - score)] for score in frame["score"]], values)

    made = latex_tables(report_of(analyse(frame, plan=Plan("win rate"))), "Study a_b", "win rate")

    assert "votes.tex" in made
    _compile(made, tmp_path, names)


def _rated(names: tuple[str, ...]) -> pd.DataFrame:
    frame = drawn_frame(5, 30, 9, None, **dict(zip(names, SHARES, strict=True)))
    return frame.assign(dataset="ED" if names is USUAL else "A_B 50%")


def _compile(made: dict[str, str], folder: Path, names: tuple[str, ...]) -> None:
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-1500:]
    assert (folder / "all.pdf").exists()
    if names is USUAL:  # sixty letters without a space are longer than a column
        assert "Overfull" not in done.stdout, done.stdout
