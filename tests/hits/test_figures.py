"""Figures: the same bytes from the same results, fit for any page, with the numbers in words."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from hits.analysing import Origin, Results, analyse, make_pictures
from hits.analysing.figures.all_figures import drawn_before
from hits.analysing.figures.canvas import INK
from hits.analysing.origin_words import SIMULATED
from hits.screening import Counts, Funnel
from hits.screening.funnel import FunnelStep

GENERATORS = ["meed2", "blend & $x$ <b>"]


def counts(answers: int) -> Counts:
    return Counts(workers=answers // 10, assignments=answers // 5, answers=answers, ratings=2 * answers)


FUNNEL = Funnel(
    received=counts(1000),
    steps=[FunnelStep(rule="hasty", parameters={}, left_out=counts(100), named_before=0, left=counts(900))],
)


OF_POINTS = FUNNEL.model_copy(update={"steps": [FUNNEL.steps[0].model_copy(update={"rule": "too_few_points"})]})


@pytest.fixture(scope="module")
def results() -> Results:
    rng = np.random.default_rng(3)
    rows = [
        {"worker": f"W{worker}", "dialog": dialog, "dataset": ("ED", "OS")[dialog % 2], "generator": name,
         "score": int(rng.choice([3, 2, 1], p=[0.6, 0.3, 0.1] if place else [0.2, 0.3, 0.5])),
         "label": ("joy", "sad", "asking")[(dialog + place) % 3], "metric_bleu": rng.normal() + place}
        for dialog in range(12) for worker in rng.choice(8, 3, replace=False) for place, name in enumerate(GENERATORS)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["value"] = pd.Categorical(frame["score"].map({3: "good", 2: "okay", 1: "bad"}), ["good", "okay", "bad"])
    frame["generator"] = pd.Categorical(frame["generator"], GENERATORS)
    return analyse(frame)


def test_all_figures_are_drawn_the_same_twice_and_need_no_style_of_their_own(results: Results) -> None:
    made, again = make_pictures(results, FUNNEL), make_pictures(results, FUNNEL)

    assert [one.name for one in made] == "shares comparisons ranking agreement labels metrics funnel".split()
    first = [(one.svg, one.narrow_svg) for one in made], made[0].pdf
    drawn_before.cache_clear()  # or the second ones would be the first
    assert first == ([(one.svg, one.narrow_svg) for one in again], again[0].pdf)
    for one in made:
        svg = one.svg
        assert not re.search(r"style|<script|<metadata", svg)
        assert INK not in svg
        assert "currentColor" in svg
        root = ElementTree.fromstring(svg)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == f"{one.title}. {one.description}"
        ids = re.findall(r'\bid="([^"]*)"', svg)
        assert len(ids) == len(set(ids))
        assert all(name.startswith(f"{one.name}-") for name in ids)
        assert not set(ids) & set(re.findall(r'\bid="([^"]*)"', one.narrow_svg))
        widths = [float(re.search(r'viewBox="0 0 ([\d.]+)', drawn)[1]) for drawn in (svg, one.narrow_svg)]  # type: ignore[index]
        assert widths == pytest.approx([455, 219], abs=0.5), "the text and the column of the common templates"
    assert b"CreationDate" not in made[0].pdf


def test_the_words_have_the_numbers(results: Results) -> None:
    words = {one.name: one.description for one in make_pictures(results, FUNNEL)}

    row = results.main.table[-1]
    assert isinstance(row.shares, tuple)
    assert f"{row.generator} good {100 * row.shares[0].share:.0f} %" in words["shares"]
    assert "1,000 answers of 100 workers were received. Hasty left out 100 answers" in words["funnel"]
    assert f"{results.main.metrics[0].replies} replies" in words["metrics"]
    assert "not told apart" in words["comparisons"] or "different" in words["comparisons"]


def test_what_is_undefined_is_drawn_with_its_reason() -> None:
    one_worker = pd.DataFrame(
        {
            "worker": "W",
            "dialog": [1, 1, 2, 2],
            "dataset": "ED",
            "generator": ["a", "b"] * 2,
            "value": "good",
            "score": 3,
        }
    )

    made = {one.name: one for one in make_pictures(analyse(one_worker))}

    assert "undefined" in made["agreement"].description
    assert "undefined" in made["agreement"].svg
    assert "no interval" in made["shares"].description
    assert made["ranking"].svg


def test_a_figure_that_would_be_higher_than_a_page_becomes_several() -> None:
    """20 models in three datasets and in all together: two panels of shares fit a page, and one matrix."""
    rng = np.random.default_rng(5)
    names = [f"model-{number:02}" for number in range(20)]
    frame = pd.DataFrame(
        [
            {"worker": f"W{(dialog + at) % 6}", "dialog": dialog, "dataset": "abc"[dialog % 3], "generator": name,
             "score": int(rng.integers(1, 4))}
            for dialog in range(12) for at in range(2) for name in names
        ]
    )  # fmt: skip
    frame["value"] = pd.Categorical(frame["score"].map({3: "good", 2: "okay", 1: "bad"}), ["good", "okay", "bad"])

    made = make_pictures(analyse(frame))

    by_section = {section: [one for one in made if one.section == section] for section in ("shares", "comparisons")}
    assert [one.name for one in by_section["shares"]] == ["shares", "shares-2"]
    assert [one.title[-8:] for one in by_section["comparisons"]] == [f"({number} of 4)" for number in (1, 2, 3, 4)]
    assert "all datasets" in made[0].svg
    assert ">c</text>" not in made[0].svg
    assert ">c</text>" in by_section["shares"][1].svg
    assert "c: " in by_section["shares"][1].description
    assert " a: " not in by_section["shares"][1].description
    for one in made:
        height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)', one.svg)[1])  # type: ignore[index]
        assert height / 72 <= 9.3, f"{one.name} is higher than a page"


def test_the_frame_of_a_warning_lies_within_the_figure(results: Results) -> None:
    simulated = replace(results, origin=Origin(simulation=4))

    for one in make_pictures(simulated, FUNNEL):
        for svg in (one.svg, one.narrow_svg):
            frame = re.findall(r'<path d="([^"]*)"', svg[: svg.index(f">{SIMULATED}</text>")])[-1]
            ends = [float(y) for y in re.findall(r"[\d.-]+ ([\d.-]+)", frame)]
            assert 1 < min(ends) < max(ends) < 0.36 * 72, one.name


def test_rules_are_named_in_words(results: Results) -> None:
    [funnel] = [one for one in make_pictures(results, OF_POINTS) if one.name == "funnel"]

    assert "Too few points left out 100 answers" in funnel.description
    assert ">too few points<" in funnel.svg
    assert "too_few" not in funnel.svg
