"""The texts of a bundle: methods that a reviewer can follow, HEDS 3.0, the checklist, worker's pages, examples."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from PIL import Image

from evalplatform.file_hashes import hash_of_file
from hits.analysing import Origin, analyse, analyse_study
from hits.designing import parse_design
from hits.exporting import check_bundle, export_bundle, find_browser
from hits.exporting.analysis_methods import describe_other_comparisons, describe_tests
from hits.exporting.bundle_facts import Facts, Sources
from hits.exporting.citations import REFERENCES, cited_in
from hits.exporting.datasheet import datasheet, heds_json
from hits.exporting.gathering_facts import gather_facts
from hits.exporting.heds_questions import CRITERION_ELEMENT, QUESTIONS
from hits.exporting.latex import document
from hits.exporting.methods import (
    describe_questions,
    methods_bibliography,
    methods_latex,
    methods_markdown,
    methods_paragraphs,
)
from hits.exporting.participants import participants
from hits.exporting.research_checklist import research_checklist
from hits.exporting.to_fill_in import TO_FILL_IN
from hits.models import Offering, Study, offering_for
from hits.protocols import PROTOCOLS, protocol_of
from hits.screening import screen
from hits.stats import Plan
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.rated import rate
from tests.hits.stats.small_frames import drawn_frame

needs_frontend = pytest.mark.skipif(finders.find("worker.js") is None, reason="the frontend is not built")


@pytest.fixture
def rated_study(demo_study: Study) -> Study:
    rate(demo_study)
    screen(offering_for(demo_study, "local"), now())
    return demo_study


@pytest.fixture(scope="module")
def gathered() -> list[Sources]:
    return []


@pytest.fixture
def sources(rated_study: Study, gathered: list[Sources]) -> Sources:
    """A complete study whose raters were people on Mechanical Turk. Gathered once: nobody changes it."""
    if not gathered:
        Offering.objects.update(environment="production")
        offering = offering_for(rated_study, "production")
        results = analyse_study(offering)
        by_people = replace(results, origin=Origin(people=results.origin.total))
        facts = gather_facts(offering, by_people)
        gathered.append(Sources(facts, rated_study.parsed_design, rated_study.manifest_hash, by_people))
    return gathered[0]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles")


@pytest.fixture
def bare(rated_study: Study, bundles: Path) -> Path:
    """A bundle without texts of dialogs, made once and only read."""
    if not (bundles / "bare").exists():
        export_bundle(offering_for(rated_study, "local"), bundles / "bare")
    return bundles / "bare"


@pytest.fixture
def full(rated_study: Study, bundles: Path) -> Path:
    """A bundle with texts of dialogs, made once and only read."""
    if not (bundles / "full").exists():
        export_bundle(offering_for(rated_study, "local"), bundles / "full", has_texts=True)
    return bundles / "full"


def test_the_analysis_is_a_paragraph_with_test_family_intervals_coding_looks_and_power(sources: Sources) -> None:
    told = methods_paragraphs(sources)["Statistical analysis"]

    for part in (
        "The primary outcome, fixed in the design before data collection, was the share of replies rated “good”.",
        "Ratings were coded as 3 (“Good”), 2 (“Okay”) and 1 (“Bad”).",
        "a two-way cluster-robust variance over dialogs and workers [@cameron]",
        "by a permutation test that swaps the two models' names in whole dialogs",
        "comprised all pairs of models (6 comparisons); p-values were corrected within it by Holm's method [@holm]",
        "are exploratory and were corrected as a second family",
        "Interim results were not looked at before these were computed; all 24 planned assignments were collected.",
        "There was no rule for stopping early.",
        "No target power was recorded with the design.",
    ):
        assert part in told
    assert re.search(
        r"the study as designed \(60 dialogs, 4 ratings per reply, .*\) would detect a difference of", told
    )
    assert re.search(r"As carried out \(60 dialogs, 3 ratings per reply, about 7 equally busy workers\), it", told)


def test_exclusions_are_in_words_with_agreement_before_and_after(sources: Sources) -> None:
    told = methods_markdown(sources)

    assert "We excluded all work of workers who gave the same answer to 95% or more of the dialogs" in told
    assert "which removed 60 answers by 6 workers." in told
    assert "We then excluded single assignments in which fewer than 2 bonus points were won" in told
    assert re.search(r"was -?0\.\d\d \(95% CI .*\) before and 0\.\d\d \(95% CI .*\) after exclusions", told)
    assert not re.search("same_answer|hasty_without_points|too_few_points", told)
    assert "(all amounts are in USD)" in told
    assert "per hour" in told


def test_the_methods_count_how_often_other_rules_were_tried(sources: Sources) -> None:
    assert sources.facts.screened is not None
    screened = sources.facts.screened.model_copy(update={"exploratory_screenings": 3})
    tried = replace(sources, facts=sources.facts.model_copy(update={"screened": screened}))

    said = "Other rules than those of the design were tried 3 times."

    assert said in methods_markdown(tried)
    assert said not in methods_markdown(sources)


def test_the_methods_say_for_which_pairs_few_raters_decided_otherwise() -> None:
    many, few = (drawn_frame(seed, 30, workers) for seed, workers in ((1, 40), (2, 5)))
    few["dialog"] += 10_000
    workers = few["worker"].astype(str) + "-few"
    some = few.assign(dataset="few", worker=workers)
    frame = pd.concat([many.assign(dataset="many", worker=many["worker"].astype(str)), some], ignore_index=True)

    results = analyse(frame, plan=Plan("share of best"))

    pairs = {of.dataset: of.comparisons[0].size.effective_workers for of in results.main.comparisons}
    assert pairs["few"] < 10 <= min(pairs["many"] or 0, pairs[None] or 0)
    assert (
        f"Where a pair's ratings were worth those of fewer than 10 equally busy workers (1 of 3 comparisons: A with B "
        f"on few; the least was {pairs['few']:.1f}), the larger of this p-value and that of a t test with the two-way "
        "variance decided."
    ) in " ".join(describe_tests(results))
    [alone] = [text for text in describe_tests(analyse(few.assign(dataset="few"))) if "fewer than" in text]
    assert "(all comparisons; the least was " in alone


def test_the_methods_say_that_each_criterion_has_families_of_its_own() -> None:
    one, other = drawn_frame(1, 30).assign(dataset="one"), drawn_frame(2, 30).assign(dataset="other")
    other["dialog"] += 10_000
    both = pd.concat([one, other], ignore_index=True)
    criteria = pd.concat([both.assign(criterion=name) for name in ("empathy", "fluency")], ignore_index=True)

    [of_one], [of_two], nothing = (list(describe_other_comparisons(analyse(frame))) for frame in (both, criteria, one))

    said = (
        "All other comparisons ({}, among them those within single datasets) are exploratory and were corrected as a "
    )
    assert of_one == said.format(2) + "second family."
    assert of_two == said.format(4) + "second family of each criterion (2 and 2)."
    assert nothing == []


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_the_methods_quote_each_question_once(protocol: str) -> None:
    made = parse_design({**{name: part for name, part in DEMO.items() if name != "task"}, "protocol": protocol})
    told = " ".join(describe_questions(made))

    questions = {made.task.question, *(one.question for one in protocol_of(made).criteria if one.question)}
    assert questions
    assert [told.count(f"“{one}”") for one in questions] == [1] * len(questions)


def test_only_what_the_text_cites_is_in_the_bibliography(sources: Sources) -> None:
    text = " ".join(methods_paragraphs(sources).values())
    keys = cited_in(text)

    assert re.findall(r"^@\w+\{(\w+),", methods_bibliography(sources), re.MULTILINE) == keys
    assert "howard" not in keys  # the study is complete, so that nothing was said by a confidence sequence
    assert set(re.findall(r"\\citep\{([\w,]+)\}", methods_latex(sources))) <= {",".join(keys), *keys}
    for key in keys:
        assert f"{REFERENCES[key].short}, {REFERENCES[key].year}" in methods_markdown(sources)
    assert "[@" not in methods_markdown(sources) + methods_latex(sources)


def test_an_interim_study_has_sequences_and_no_test_in_its_methods(demo_study: Study) -> None:
    rate(demo_study, hits=2)
    offering = offering_for(demo_study, "local")
    results = analyse_study(offering)
    sources = Sources(gather_facts(offering, results), demo_study.parsed_design, demo_study.manifest_hash, results)

    told = methods_markdown(sources)

    assert "The results are interim. No fixed-sample test was made, and no p-values or letters are reported." in told
    # Few people have rated so far: what a text says of sequences must be true of these.
    assert "No difference has a confidence sequence yet: it takes the work of 10 equally busy made-up workers" in told
    assert not re.search("Robbins|Howard|valid at every look|shared equally", told)
    assert not re.search("Holm|permutation test|Piepho|As carried out", told)
    assert "on 20 dialogs with ratings that count" in told
    assert "out of 60 that the design had drawn at random" in told


def test_stopping_is_said_if_the_design_has_it(sources: Sources) -> None:
    analysis = sources.design.analysis.model_copy(
        update={"stop_when_decided": True, "equal_within": 0.05, "drop_losers": True}
    )
    by_rule = replace(sources.results.progress, is_by_sequence=True, rule_looks=1)
    power = sources.facts.power.model_copy(update={"is_by_sequence": True})
    designed = replace(
        sources,
        facts=sources.facts.model_copy(update={"power": power}),
        design=sources.design.model_copy(update={"analysis": analysis}),
        results=replace(sources.results, progress=by_rule),
    )
    happened = Facts.model_validate({**designed.facts.model_dump(), "stopped_by_rule": "decided"})
    dropped = replace(designed.results, progress=replace(by_rule, dropped=("parrot",), collected=20))

    quiet = methods_paragraphs(designed)["Statistical analysis"]
    stopped = methods_paragraphs(replace(designed, facts=happened, results=dropped))["Statistical analysis"]

    assert "every planned pair excluded zero, or lay within ±0.05" in quiet
    assert "left that model out: none was dropped. Data collection did not stop early." in quiet
    assert (
        "left that model out: parrot was dropped. Data collection stopped after 20 of 24 planned assignments" in stopped
    )
    assert "when every planned pair was decided." in stopped
    for told in (quiet, stopped):
        assert "The study's own rule looked once, at whole tasks" in told
        assert "1 times" not in told
        assert "interim:" not in told
        assert "By simulation with the confidence sequence that decides, at the end" in told


def test_the_datasheet_has_all_62_questions_and_the_form_can_load_the_json(sources: Sources) -> None:
    sheet, form = datasheet(sources), json.loads(heds_json(sources))

    assert len(QUESTIONS) == 62
    assert [number for number in QUESTIONS if f"**{number} " not in sheet] == []
    assert form["heds-sample_evaluators_design-evaluators-number_of_evaluators"] == {
        "data": {"": "8"},
        "control": {},
        "number": "3.2.1",
    }
    assert form["heds-system-tasks-10"]["text"] == {"": "10. Dialogue turn generation"}
    assert form[CRITERION_ELEMENT] == {"data": {}, "control": {"overall": True}, "text": {}}
    assert form["heds-criteria-criterion-response_elicitation-size_of_scale"]["data"] == {"overall": "3"}
    assert {one["number"] for name, one in form.items() if name != CRITERION_ELEMENT} <= QUESTIONS.keys()
    assert "heds-ethics-review_body" not in form  # only the researchers know
    assert f"**5.1 Which ethics committee approved it**\n\n{TO_FILL_IN}" in sheet
    assert "same_answer" not in sheet


def test_the_checklist_and_the_participants_say_what_reviewers_ask(sources: Sources) -> None:
    checklist, people = research_checklist(sources), participants(sources)

    assert re.findall(r"^\*\*([BCD]\d)", checklist, re.MULTILINE) == [
        *("B1", "B2", "B3", "B4", "B5", "B6", "C3", "C4", "D1", "D2", "D3", "D4", "D5")
    ]
    assert TO_FILL_IN in checklist.split("**D4")[1]
    assert sources.design.task.consent_version in people
    assert sources.design.task.consent.splitlines()[0] in people
    assert "| 90 |" in people
    assert "| countries | the United States, Australia, New Zealand, the United Kingdom and Canada |" in people
    assert "| kept | 8 | 18 | 180 |" in people


def test_nothing_is_said_of_pay_or_recruiting_where_nobody_was_paid(sources: Sources) -> None:
    simulated = replace(sources, results=replace(sources.results, origin=Origin(simulation=24)))

    for write in (methods_markdown, datasheet, research_checklist, participants):
        text = write(simulated)
        assert "Simulated: not for publication" in text
        assert not re.search(r"were recruited on|workers received|per hour|hourly|[Nn]obody's pay", text), (
            write.__name__
        )
    assert json.loads(heds_json(simulated))["heds-sample_evaluators_design-evaluators-number_of_evaluators"][
        "data"
    ] == {"": "0"}


@pytest.mark.once
def test_a_changed_text_or_fact_is_found_though_its_hash_was_changed_with_it(bare: Path, tmp_path: Path) -> None:
    """That the bundle was whole is seen in test_changed_bundles.py, and of that with texts below."""
    folder = Path(shutil.copytree(bare, tmp_path / "bundle"))
    for name, old, new, complaint in (
        ("methods.md", "60 answers", "6 answers", "methods.md does not say what ratings.csv, facts.json and"),
        ("heds.json", "Subjective", "Objective", "heds.json does not say what"),
        ("checklist.md", "worker_pages/", "elsewhere/", "checklist.md does not say what"),
        ("facts.json", '"submissions": 24', '"submissions": 4', "facts.json knows fewer workers or assignments"),
    ):
        kept = (folder / name).read_text(), (folder / "sha256sums.txt").read_text()
        assert old in kept[0]
        (folder / name).write_text(kept[0].replace(old, new))
        _hash_again(folder, name)

        found = check_bundle(folder)

        assert any(complaint in line for line in found), (name, found)
        assert not any("has changed" in line for line in found)
        (folder / name).write_text(kept[0])
        (folder / "sha256sums.txt").write_text(kept[1])


def _hash_again(folder: Path, name: str) -> None:
    lines = (folder / "sha256sums.txt").read_text().splitlines()
    made = [f"{hash_of_file(folder / name)}  {name}" if line.endswith(f"  {name}") else line for line in lines]
    (folder / "sha256sums.txt").write_text("\n".join(made) + "\n")


@needs_frontend
@pytest.mark.once
def test_the_worker_s_pages_open_without_a_server_and_have_no_dialog_unless_asked(
    rated_study: Study, bare: Path, full: Path
) -> None:
    turns = rated_study.hits.get(number=0).items.select_related("dialog").first()
    assert turns is not None
    names = [
        *("0-preview.html", "1-welcome.html", "2-instructions.html", "3-dialog.html", "4-checkpoint.html"),
        *("5-checkpoint-won.html", "6-checkpoint-missed.html", "7-finish.html"),
    ]
    assert sorted(page.name for page in (bare / "worker_pages").glob("*.html")) == names
    page = (bare / "worker_pages" / "3-dialog.html").read_text()
    assert 'src="' not in page.split("<script")[1][:40]
    assert "<style>" in page
    assert "/static/" not in page.split("</style>")[0]
    assert "export_study --screenshots" in (bare / "worker_pages" / "pages.md").read_text()
    texts = "".join(one.read_text() for one in bare.rglob("*") if one.suffix in (".html", ".md", ".tex", ".json"))
    last = json.dumps(turns.dialog.turns[-1])[1:-1]
    assert last not in texts
    assert last in (full / "worker_pages" / "3-dialog.html").read_text()
    assert (full / "examples.tex").exists()
    assert check_bundle(full) == []


@needs_frontend
@pytest.mark.once
def test_pictures_of_the_pages_are_taken_on_request(rated_study: Study, tmp_path: Path) -> None:
    if not any(map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome", "chromium-browser"))):
        pytest.skip("no Chromium is installed")
    call_command("export_study", "demo", "--out", str(tmp_path / "bundle"), "--screenshots")

    pictures = sorted((tmp_path / "bundle" / "worker_pages").glob("*.png"))

    assert find_browser()
    assert len(pictures) == 8
    heights = {one.stem: _height_without_content_below(one) for one in pictures}
    assert all(0 < empty <= 40 for empty in heights.values()), heights
    assert all(one.read_bytes().startswith(b"\x89PNG") and one.stat().st_size > 10_000 for one in pictures)
    assert check_bundle(tmp_path / "bundle") == []


def _height_without_content_below(picture: Path) -> int:
    """Count the rows at a picture's end that look like its last one."""
    with Image.open(picture) as image:
        rows = np.asarray(image.convert("RGB"))
    is_same = (rows == rows[-1]).all(axis=(1, 2))
    return int(np.argmin(is_same[::-1]))


@pytest.mark.once
def test_examples_are_chosen_by_a_stated_rule_and_compile(full: Path, tmp_path: Path) -> None:
    text = (full / "examples.tex").read_text()

    shares = [float(share) for share in re.findall(r"disagreement \((\d\.\d\d)\)", text)]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)
    assert "of equals, the first by dataset and id was taken" in text
    assert "Simulated: not for publication" in text
    assert text.count(r"\item \textbf{listener-large") == 3
    if shutil.which("pdflatex"):
        (tmp_path / "examples.tex").write_text(text)
        (tmp_path / "paper.tex").write_text(document(["examples"]))
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_captions_name_the_study_its_size_and_what_is_bold(bare: Path) -> None:
    table = (bare / "tables" / "table5.tex").read_text()

    assert "Study demo: 60 dialogs, 8 workers, 720 ratings." in table
    assert "Bold: the best model by the share of Good" in table
    assert "Models of a dataset that share a letter cannot be told apart" in table
    assert "$n = " in table
