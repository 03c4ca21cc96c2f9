"""Room 9: a study's bundle, and whether it says what its ratings say."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.access import worker_ids
from hits.analysing import Results, analyse_study, origin_of_work, report_of, results_from_json
from hits.analysing.serialising import plain
from hits.batching.manifest import sha256
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.exporting import RATINGS_FILES, check_bundle, export_bundle, export_ratings
from hits.exporting.about import read_about
from hits.exporting.bundle_facts import Sources
from hits.exporting.bundles import Bundle, write_ratings_of
from hits.exporting.datasheet import datasheet
from hits.exporting.gathering_facts import gather_facts
from hits.exporting.latex import document, escape
from hits.exporting.methods import methods_bibliography, methods_latex, methods_markdown
from hits.exporting.ratings_files import read_ratings
from hits.exporting.report_latex import latex_tables
from hits.frames import rating_chunks, ratings_frame
from hits.models import Assignment, Payment, Rating, Study, Submission, offering_for
from hits.models.design import StudyDesign
from hits.paying import pay
from hits.screening import screen
from hits.stats import TrueValues
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import read_truth
from tests.hits.crowd import now, publish

AWKWARD = r"100%_sure & {cheap} $x^2$ #1 \o/ ~ [a]* <b> | naïve 中 → –"


@pytest.fixture
def worked(demo_study: Study, market: MTurkMarket) -> Study:
    """The demo study with a crowd's work on two HITs, paid and screened."""
    publish(demo_study, market, 2)
    simulate(demo_study, Crowd(12, read_truth("demo"), seed=4), InProcess(), ends_at=now())
    collect(offering_for(demo_study, "local"), market, now())
    pay(offering_for(demo_study, "local"), market, now)
    screen(offering_for(demo_study, "local"), now())
    return demo_study


@pytest.fixture
def bundle(worked: Study, tmp_path: Path) -> Bundle:
    return export_bundle(offering_for(worked, "local"), tmp_path / "bundle")


def sources_of(study: Study, results: Results) -> Sources:
    offering = offering_for(study, "local")
    return Sources(gather_facts(offering, results), study.parsed_design, study.manifest_hash, results)


def hashes(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in files}


@pytest.mark.once
def test_a_bundle_says_what_the_database_says_and_holds_together(bundle: Bundle, worked: Study) -> None:
    """That a second one has the same bytes is seen in tests/test_demo.py."""
    _check_that_it_says_what_the_database_says(bundle, worked)
    first = hashes(bundle.folder)

    assert [path.name for path in bundle.folder.parent.iterdir()] == ["bundle"]
    assert check_bundle(bundle.folder) == []
    ratings = [read_ratings(bundle.folder / name, bundle.about) for name in RATINGS_FILES]
    for other in ratings[1:]:
        pd.testing.assert_frame_equal(ratings[0], other, check_dtype=False, check_categorical=False)
    assert sha256((bundle.folder / "manifest.jsonl").read_bytes()) == worked.manifest_hash
    texts = [path.read_text() for path in bundle.folder.rglob("*.*") if path.suffix not in (".pdf", ".parquet")]
    assert not [
        worker_id for worker_id in worker_ids(offering_for(worked, "local")).values() if worker_id in "".join(texts)
    ]

    export_ratings(offering_for(worked, "local"), bundle.folder.with_name("ratings"))

    alone = hashes(bundle.folder.with_name("ratings"))
    assert alone.pop("sha256sums.txt")
    assert alone == {name: first[name] for name in (*RATINGS_FILES, "bundle.json")}
    _check_that_one_changed_rating_is_found(bundle.folder)


def _check_that_it_says_what_the_database_says(bundle: Bundle, worked: Study) -> None:
    rows = pd.read_csv(bundle.folder / "ratings.csv")
    frame = ratings_frame(offering_for(worked, "local"))
    own = analyse_study(offering_for(worked, "local"))

    assert len(rows) == Rating.objects.count() == bundle.about.ratings
    assert list(rows.columns) == list(bundle.about.columns)
    assert list(rows["value"]) == list(frame["value"])
    assert list(rows["dialog"]) == list(frame["external_id"])
    assert rows["worker"].nunique() == frame["worker"].nunique()
    assert isinstance(own.main.true_values, TrueValues)
    assert isinstance(bundle.results.main.true_values, TrueValues)
    unnamed = replace(own.main, true_values=replace(own.main.true_values, workers=()))
    there = replace(bundle.results.main, true_values=replace(bundle.results.main.true_values, workers=()))
    assert plain(unnamed) == plain(there)
    _check_that_it_says_what_is_simulated(bundle.folder)
    Submission.objects.update(origin=Submission.Origin.PEOPLE)  # as if they had been people
    offering = offering_for(worked, "local")
    sources = sources_of(worked, replace(own, origin=origin_of_work(offering)))
    paragraph = methods_markdown(sources)
    workers = Assignment.objects.exclude(submission=None).values("crowd_worker_id").distinct().count()
    assert f"{workers} raters handed in {Submission.objects.count()} assignments" in paragraph
    cents = sum(Payment.objects.paid().values_list("cents", flat=True))
    assert cents > 0
    assert f"moved no money; by its count, ${cents / 100:,.2f} was due in all" in paragraph
    assert f"and {Payment.objects.paid().filter(kind='bonus').count()} bonuses)" in paragraph
    assert bundle.about.funnel is not None
    assert f"{bundle.about.funnel.kept.answers} by {bundle.about.funnel.kept.workers} rater" in paragraph
    assert "2 of 6 tasks were published" in paragraph
    assert "whether a placement would win; what counted was the placement that they submitted" in paragraph
    assert worked.manifest_hash in paragraph
    assert "All replies, the human ones too, were typed alike for display" in paragraph
    assert "All replies, the human ones too, were typed alike" in (bundle.folder / "datasheet.md").read_text()
    raw = replace(sources, design=_as_written(sources.design))
    assert "Replies were shown as they were written" in methods_latex(raw)
    assert "typed alike" not in datasheet(raw)
    Submission.objects.update(origin=Submission.Origin.SIMULATION)


def _check_that_it_says_what_is_simulated(folder: Path) -> None:
    warning = "Simulated: not for publication"
    texts = ["README.md", "methods.md", "methods.tex", "datasheet.md", "figures/figures.md", "figures/shares.svg"]
    texts += ["checklist.md", "participants.md"]
    texts += [f"tables/{name}" for name in ("table5.tex", "intervals.tex", "comparisons.tex", "all.tex")]
    for name in texts:
        assert warning in (folder / name).read_text(), name
    assert json.loads((folder / "results.json").read_text())["origin"]["warning"] == warning
    assert json.loads((folder / "bundle.json").read_text())["warning"] == warning
    for name in ("methods.md", "methods.tex", "datasheet.md", "checklist.md", "participants.md"):
        text = (folder / name).read_text()
        assert "A simulated crowd of 7 made-up workers handed in 8 assignments" in text
        assert not re.search(r"were recruited on|crowd workers|workers received|was paid|an hour|[Nn]obody's pay", text)
    assert not re.search(r"(?<![Mm]ade-up )\b[Ww]orkers\b", (folder / "methods.md").read_text())


def _as_written(design: StudyDesign) -> StudyDesign:
    return design.model_copy(update={"task": design.task.model_copy(update={"reply_style": "as written"})})


def _check_that_one_changed_rating_is_found(folder: Path) -> None:
    file = folder / "ratings.csv"
    lines = file.read_text().splitlines(keepends=True)
    changed = next(number for number, line in enumerate(lines) if '"good",3' in line and ",true,false" in line)
    lines[changed] = lines[changed].replace('"good",3', '"bad",1')
    file.write_text("".join(lines))

    with pytest.raises(CommandError, match="does not hold together") as refused:
        call_command("check_bundle", folder)

    found = str(refused.value).splitlines()
    assert "ratings.csv has changed" in found
    assert "tables/table5.tex has other numbers than ratings.csv" in found
    assert any(line.startswith("results.json: ") for line in found)


def test_pieces_of_the_ratings_are_the_whole(worked: Study) -> None:
    whole = ratings_frame(offering_for(worked, "local"))

    pieces = pd.concat(
        [piece.astype({"worker": str}) for piece in rating_chunks(offering_for(worked, "local"), at_once=3)]
    )

    for name in ("submission", "worker", "wave", "item", "dialog", "place", "generator", "value", "active_ms"):
        assert pieces[name].astype(str).tolist() == whole[name].astype(str).tolist()


def test_bundles_share_pseudonyms_only_if_asked(worked: Study, tmp_path: Path) -> None:
    def workers(pseudonyms: str) -> set[str]:
        write_ratings_of(offering_for(worked, "local"), tmp_path, pseudonyms)
        return set(pd.read_csv(tmp_path / "ratings.csv")["worker"])

    own, ours, theirs = workers(""), workers("our-lab"), workers("their-lab")

    assert own == workers("")
    assert ours == workers("our-lab")
    assert not own & ours
    assert not (own | ours) & theirs
    assert not own & set(ratings_frame(offering_for(worked, "local"))["worker"])


def test_a_folder_that_is_no_bundle_stays_as_it_is(worked: Study, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "draft.txt").write_text("years of work")

    with pytest.raises(EvalPlatformError, match="is no bundle"):
        export_bundle(offering_for(worked, "local"), tmp_path / "thesis")
    with pytest.raises(EvalPlatformError, match="no bundle"):
        read_about(tmp_path / "thesis")

    assert hashes(tmp_path) == {"thesis/draft.txt": sha256(b"years of work")}


def test_a_study_without_work_has_no_bundle(demo_study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="run sync_hits first"):
        call_command("export_study", "demo", out=tmp_path / "bundle", stderr=StringIO())

    assert list(tmp_path.iterdir()) == []


def test_names_do_not_break_latex() -> None:
    assert escape("a_b & 50%") == r"a\_b \& 50\%"
    assert escape("[x]* 中") == "{[}x{]}{*} {[}U+4E2D{]}"
    assert not re.search(r"(?<!\\)[&%#_]", escape(AWKWARD).replace("$\\rightarrow$", ""))


@pytest.mark.once
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_tables_and_methods_compile(worked: Study, tmp_path: Path) -> None:
    results = analyse_study(offering_for(worked, "local"))
    renamed = json.dumps(plain(results)).replace(json.dumps(results.main.generators[0]), json.dumps(AWKWARD))
    made = latex_tables(report_of(results_from_json(renamed)))
    for name, text in made.items():
        (tmp_path / name).write_text(text)
    tables = [name.removesuffix(".tex") for name in made if name != "all.tex"]
    sources = sources_of(worked, results)
    (tmp_path / "methods.tex").write_text(methods_latex(sources))
    (tmp_path / "methods.bib").write_text(methods_bibliography(sources))
    paper = document([*tables, "methods"]).replace(r"\begin{document}", "\\usepackage{natbib}\n\\begin{document}")
    cited = "\\bibliographystyle{plainnat}\n\\bibliography{methods}\n\\end{document}"
    (tmp_path / "paper.tex").write_text(paper.replace(r"\end{document}", cited))

    as_they_are = tmp_path / "tables"
    as_they_are.mkdir()
    for name, text in latex_tables(report_of(results)).items():
        (as_they_are / name).write_text(text)

    _compile("paper.tex", tmp_path)
    told = subprocess.run(["bibtex", "paper"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "Warning" not in told
    for _ in range(2):
        log = _compile("paper.tex", tmp_path)
    assert "undefined" not in log
    assert "Overfull" not in _compile("all.tex", as_they_are)  # nothing sticks out of the page


def _compile(paper: str, folder: Path) -> str:
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", paper]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
