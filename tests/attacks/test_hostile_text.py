"""Names and texts that look like code to something on their way: to figures, LaTeX, CSV, JSON, databases, patterns."""

import csv
import io
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evalplatform.spreadsheet_cells import cell_of, text_of
from generation.corpora.lines import Line
from generation.corpora.opensubtitles import read_dialogs
from generation.models import Dataset, Generator
from hits.analysing import analyse, compute_results, make_pictures
from hits.exporting import RATINGS_FILES, check_bundle, export_bundle
from hits.exporting.latex import escape
from hits.frames import build_ratings, categories_from_codes
from hits.models import Payment, Study, StudyResults, Submission, offering_for
from tests.hits.crowd import now
from tests.hits.rated import rate

HOSTILE = (
    r"C:\models\1",
    r"\frac{1}{0} $x_1^2$ %_&#~",
    r"\g<1> \N{x} \input{/etc/passwd}",
    'id="x" style="fill:red" #010203',
    "<!-- & ]]> --> <script>",
    "'\"`--?`,,''",
    "نموذج عربي",
    "深い🤖模型",
    "x" * 100,
    "=HYPERLINK(1)",
    "@SUM(1+1)",
    "'=2",
)


def ratings_of(names: list[str]) -> pd.DataFrame:
    dialog, worker, card = (codes.ravel() for codes in np.indices((6, 3, len(names))))
    return build_ratings(
        {
            "submission": worker,
            "worker": categories_from_codes(worker, ["W0", "W1", "W2"]),
            "dialog": dialog,
            "dataset": categories_from_codes(dialog % 2, [r"E\1", "O$S_{"]),
            "card": card,
            "generator": categories_from_codes(card, names),
            "value": 2 - (dialog + worker + card) % 3,
            "label": categories_from_codes((dialog + card) % 2, [r"joy\2", "s$a_d"]),
            "metric_bleu": (dialog + card).astype(float),
        }
    )


def test_figures_show_any_name_as_it_is() -> None:
    for picture in make_pictures(analyse(ratings_of(["plain", *HOSTILE]))):
        root = ElementTree.fromstring(picture.svg)

        assert root.attrib["aria-label"] == f"{picture.title}. {picture.description}"
        assert not re.search(r'<[^>]* style="', picture.svg)
        texts = [element.text for element in root.iter() if element.text]
        missing = [name for name in HOSTILE if not any(text.startswith(name[:15]) for text in texts)]
        assert missing == [] or picture.name == "labels", picture.name  # which has no models
        assert picture.pdf.startswith(b"%PDF")


def test_a_long_name_leaves_room_for_the_drawing() -> None:
    names = ["x" * 99 + end for end in "ab"]

    texts = "".join(picture.svg for picture in make_pictures(analyse(ratings_of(names))) if picture.name == "shares")

    shown = re.findall(r">(x+…x+[ab])<", texts)
    assert {len(name) for name in shown} == {30}
    assert {name[-1] for name in shown} == {"a", "b"}


@pytest.mark.parametrize(("name", "latex"), [("a--b", "a-{}-b"), ("?`", "?{}`"), ("\\", r"\textbackslash{}")])
def test_latex_sets_a_name_letter_by_letter(name: str, latex: str) -> None:
    assert escape(name) == latex


NAMING_MODELS = ["bundle.json", "methods.md", "methods.tex", "datasheet.md", "heds.json", "checklist.md"]


def test_a_paid_study_of_hostile_names_has_results_and_a_bundle_that_holds(
    demo_study: Study, researcher_client: Client, tmp_path: Path
) -> None:
    rate(demo_study)
    _rename(demo_study, dict(zip(demo_study.design["generators"], HOSTILE[:3] + HOSTILE[9:10], strict=True)))

    compute_results(offering_for(demo_study, "local"), now)
    page = researcher_client.get(f"/studies/{demo_study.name}/results/").content.decode()
    bundle = export_bundle(offering_for(demo_study, "local"), tmp_path / "bundle")

    assert StudyResults.objects.get().problem == ""
    assert page.count("<svg") >= 4
    assert "<script>" not in page
    for name in RATINGS_FILES:
        # Renamed after it was frozen, so the manifest and what names models can't agree; everything else holds.
        first, *texts = check_bundle(bundle.folder, name)
        assert first == "manifest.jsonl is not the one that the study was frozen with"
        assert [one.split(" ")[0] for one in texts] == NAMING_MODELS
    with (bundle.folder / "ratings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["generator"] for row in rows} == {"", *HOSTILE[:3], "'=HYPERLINK(1)"}
    assert {row["dataset"] for row in rows} == {"'+1 set", "example-empathetic", "example-subtitles"}
    assert pd.read_parquet(bundle.folder / "ratings.parquet")["generator"].dropna().unique().tolist()[0] in HOSTILE


def _rename(study: Study, names: dict[str, str]) -> None:
    for old, new in names.items():
        Generator.objects.filter(name=old).update(name=new)
    names_of = {"example-emotional": "+1 set"}
    for old, new in names_of.items():
        Dataset.objects.filter(name=old).update(name=new)
    design = {**study.design, "generators": list(names.values())}
    design["datasets"] = [{**part, "name": names_of.get(part["name"], part["name"])} for part in design["datasets"]]
    study.design = design
    study.save()


@given(st.text(alphabet="'=+-@\t\ra1. ＝", max_size=6))
def test_a_cell_never_begins_a_formula_and_gives_its_text_back(text: str) -> None:
    cell = cell_of(text)

    assert text_of(cell) == text
    assert not re.match(r"[=@\t\r＝]|[+-](?!\d+(\.\d+)?$)", cell)


def test_numbers_stay_numbers_in_cells() -> None:
    assert [cell_of(text) for text in ("-0.5", "+3", "-1+cmd|' /C calc'!A0")] == ["-0.5", "+3", "'-1+cmd|' /C calc'!A0"]


def test_the_ledger_s_file_has_no_formula_of_a_worker_or_researcher(
    demo_study: Study, researcher_client: Client
) -> None:
    rate(demo_study, hits=1, workers=1)
    Payment.objects.create(
        submission=Submission.objects.get(), kind="top_up", cents=1, fee_cents=0, intended_at=now(),
        reason='=WEBSERVICE("http://evil")',
    )  # fmt: skip

    answer = researcher_client.get(f"/studies/{demo_study.name}/ledger.csv")

    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    [row] = csv.DictReader(io.StringIO(text))
    assert row["reason"] == '\'=WEBSERVICE("http://evil")'
    assert row["cents"] == "1"


def _srt(text: str) -> list[Line]:
    return [Line(1, "1"), Line(2, "00:00:01,000 --> 00:00:02,000"), Line(3, text), Line(4, "")]


def _xml(inside: str) -> list[Line]:
    return [Line(1, '<?xml version="1.0"?>'), Line(2, f'<d><s id="1">{inside}</s></d>')]


@pytest.mark.parametrize(
    "lines",
    [
        *(_srt("a" + letter * 450_000) for letter in "<{[(#.-'\" "),
        _xml(f"<w>a{' ' * 450_000}b</w>"),
        _xml("<w> </w>" * 50_000 + "<w>b</w>"),
        [line for _ in range(11_000) for line in _srt("and so on")],
        [*_srt("and so on")[:2], *(Line(number, "and so on") for number in range(3, 45_000))],
    ],
    ids=lambda lines: lines[-2].text[:12],
)
def test_half_a_megabyte_of_subtitles_takes_no_time_whatever_it_holds(lines: list[Line]) -> None:
    """It took 30 to 60 seconds, and four times as long for twice as much."""
    started = time.process_time()

    list(read_dialogs(lines))

    assert time.process_time() - started < 3
