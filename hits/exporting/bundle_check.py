"""Checks a bundle: computes everything again from its ratings file alone, and tells what differs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from evalplatform.errors import EvalPlatformError
from evalplatform.file_hashes import hash_of_file
from hits.analysing import Origin, Results, make_pictures, results_as_json
from hits.exporting.about import FILE as BUNDLE_FILE
from hits.exporting.about import About, count_by_origin, read_about
from hits.exporting.bundle_facts import FILE as FACTS_FILE
from hits.exporting.bundle_facts import Facts, Sources, read_design, read_facts
from hits.exporting.bundle_texts import TEXT_FILES, tables_of, texts_of
from hits.exporting.bundles import analyse_bundle
from hits.exporting.elsewhere_bundles import check_elsewhere_bundle, is_from_elsewhere
from hits.exporting.example_dialogs import FILE as EXAMPLES_FILE
from hits.exporting.figure_files import different_figures, different_words, files_of_figures, results_of_figures
from hits.exporting.hashing import FILE as HASHES_FILE
from hits.exporting.hashing import ONLY_HASHED, ONLY_HASHED_ELSEWHERE, changed_files, read_text
from hits.exporting.marks import unmarked_files, wrongly_marked_files
from hits.exporting.ratings_check import different_ratings
from hits.exporting.ratings_files import RATINGS_FILES, read_ratings
from hits.exporting.repeats_file import FILE as REPEATS_FILE
from hits.exporting.repeats_file import different_first_answers, read_repeats
from hits.exporting.revealed_orders import wrong_orders
from hits.exporting.worker_pages import FOLDER as PAGES_FOLDER
from hits.exporting.worker_pages import NOTES, is_page_file, notes_of_pages
from hits.models.design import StudyDesign
from hits.protocols import protocol_of

MOST_TOLD = 5
ONLY_RATINGS = {*RATINGS_FILES, REPEATS_FILE, BUNDLE_FILE, HASHES_FILE}
FIXED_FILES = {FACTS_FILE, "manifest.jsonl", *TEXT_FILES, f"{PAGES_FOLDER}/{NOTES}"}


def check_bundle(folder: Path, ratings: str = RATINGS_FILES[0]) -> list[str]:
    """Describe each difference; the list is empty if all is well. `ratings` is one of the bundle's three files."""
    if is_from_elsewhere(folder):
        return check_elsewhere_bundle(folder)
    about = read_about(folder)
    found = [*changed_files(folder), *_other_manifest(folder, about)]
    try:
        frame = read_ratings(folder / ratings, about)
        twice = read_repeats(folder)
        results = _analyse(frame, about, twice, ratings)
    except EvalPlatformError as error:
        return [*found, str(error)]
    if len(frame) != about.ratings:
        found.append(f"{ratings} has {len(frame):,} ratings, bundle.json says {about.ratings:,}")
    if len(twice) != about.repeats:
        found.append(f"{REPEATS_FILE} has {len(twice):,} rows, bundle.json says {about.repeats:,}")
    if len(twice):
        found += different_first_answers(twice, frame, ratings)
    found += different_ratings(folder, about, ratings)
    found += _wrong_origin(folder, about, results.origin, ratings)
    found += wrong_orders(folder, about, frame)
    if {path.name for path in folder.iterdir()} <= ONLY_RATINGS:
        return found  # export_study --only-ratings wrote it
    found += _different_results(folder, results)
    found += _different_texts(folder, about, results, frame, ratings)
    pictures = make_pictures(results_of_figures(results), about.funnel)
    found += _other_files(folder, about, {picture.name for picture in pictures})
    found += different_words(folder, pictures, ratings)
    # Drawing takes longer than all else together, so figures are drawn again only if all else is well.
    return found or list(different_figures(folder, pictures, about.software, ratings))


def describe_only_hashed(folder: Path) -> str:
    """Say of which files of this bundle only the hashes, and little more, can be checked."""
    if is_from_elsewhere(folder):
        known = ONLY_HASHED_ELSEWHERE
    else:
        known = {name: why for name, why in ONLY_HASHED.items() if any(folder.glob(name.rstrip("/")))}
    return f"Only their hashes were checked of {', '.join(known)}." if known else "It has nothing but ratings."


def _other_files(folder: Path, about: About, figures: set[str]) -> list[str]:
    """Name files that no bundle has, and those that this one should have."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    expected = {*ONLY_RATINGS, *FIXED_FILES, *files_of_figures(figures), *(["funnel.json"] if about.funnel else [])}
    expected -= set() if about.repeats else {REPEATS_FILE}
    # Tables are compared one by one, and a missing one is said there.
    known = {name for name in names if is_page_file(name) or name.startswith("tables/")}
    extra = [f"{name} is no file of a bundle" for name in sorted(names - expected - known - {EXAMPLES_FILE})]
    return [*extra, *(f"{name} is missing" for name in sorted(expected - names))]


def _other_manifest(folder: Path, about: About) -> list[str]:
    file = folder / "manifest.jsonl"
    if not file.is_file() or hash_of_file(file) == about.manifest_sha256:
        return []
    return ["manifest.jsonl is not the one that the study was frozen with"]


def _wrong_origin(folder: Path, about: About, origin: Origin, ratings: str) -> Iterator[str]:
    """Count the origins again. Whatever is not wholly from people must say so in every text that is there."""
    if about.origin != count_by_origin(origin) or about.warning != origin.warning:
        yield f"bundle.json says that the work came from {about.origin}, {ratings} that it came from {origin}"
    if origin.warning:
        for name in unmarked_files(folder, origin.warning):
            yield f"{name} does not say “{origin.warning}”, which {ratings} gives"
    else:
        for name in wrongly_marked_files(folder):
            yield f"{name} says that the work is not from people, but {ratings} says that it is"


def _analyse(frame: pd.DataFrame, about: About, twice: pd.DataFrame, ratings: str) -> Results:
    try:
        return analyse_bundle(frame, about, twice)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        # The file can be read and has the right columns, but its values make no sense as ratings.
        raise EvalPlatformError(f"{ratings} has no ratings that can be analysed: {error}") from error


def _different_results(folder: Path, results: Results) -> list[str]:
    try:
        written = json.loads(read_text(folder / "results.json"))
    except (ValueError, RecursionError):
        return ["results.json is missing or is no JSON"]
    differences = list(_differences(written, json.loads(results_as_json(results)), ""))
    more = len(differences) - MOST_TOLD
    told = [f"results.json: {one}" for one in differences[:MOST_TOLD]]
    return [*told, *([f"results.json: {more:,} more numbers differ"] if more > 0 else [])]


def _differences(written: Any, made: Any, place: str) -> Iterator[str]:
    if isinstance(written, dict) and isinstance(made, dict) and written.keys() == made.keys():
        for name in written:
            yield from _differences(written[name], made[name], f"{place}.{name}" if place else name)
    elif isinstance(written, list) and isinstance(made, list) and len(written) == len(made):
        for number, (one, other) in enumerate(zip(written, made, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif written != made:
        yield f"{place} is {json.dumps(written)[:60]}, the ratings give {json.dumps(made)[:60]}"


def _different_texts(folder: Path, about: About, results: Results, frame: pd.DataFrame, ratings: str) -> Iterator[str]:
    """Write tables, methods, datasheet, checklist and the like again, from the ratings, facts.json and the manifest."""
    tables = tables_of(about, results)
    for name, text in tables.items():
        if read_text(folder / "tables" / name) != text:
            yield f"tables/{name} has other numbers than {ratings}"
    for path in sorted((folder / "tables").glob("*")):
        if path.name not in tables:
            yield f"tables/{path.name} is no table of this bundle"
    try:
        facts, (design, frozen_tau2) = read_facts(folder), read_design(folder)
    except EvalPlatformError as error:
        yield f"{error}: methods, datasheet and checklist can't be written again"
        return
    yield from _wrong_facts(facts, about, frame, ratings)
    yield from _other_design(design, frozen_tau2, about)
    for name, text in texts_of(about, Sources(facts, design, about.manifest_sha256, results)).items():
        if name != "results.json" and not name.startswith("tables/") and read_text(folder / name) != text:
            yield f"{name} does not say what {ratings}, facts.json and manifest.jsonl give"
    pages = [path.name for path in sorted((folder / PAGES_FOLDER).glob("*.html"))]
    notes = {notes_of_pages(pages, has_texts, about.warning, bool(pages)) for has_texts in (False, True)}
    if read_text(folder / PAGES_FOLDER / NOTES) not in notes:
        yield f"{PAGES_FOLDER}/{NOTES} does not list the pages that are there"


def _other_design(design: StudyDesign, frozen_tau2: dict[str, float], about: About) -> Iterator[str]:
    """Compare what bundle.json says of the study with the frozen design."""
    criteria = {one.name: one.measured for one in protocol_of(design).criteria}
    of_design = (design.name, [part.name for part in design.datasets], design.generators, criteria)
    analysis = design.analysis
    plan = (analysis.outcome, analysis.planned_dialogs, analysis.equal_within, frozen_tau2)
    tau2 = {name: about.plan.tau2_of(name) for name in frozen_tau2}
    if of_design != (about.study, about.datasets, about.generators, about.criteria) or plan != (
        *(about.plan.outcome, about.plan.planned_dialogs, about.equal_within, tau2),
    ):
        yield "bundle.json tells of another design than manifest.jsonl"


def _wrong_facts(facts: Facts, about: About, frame: pd.DataFrame, ratings: str) -> Iterator[str]:
    """Compare facts.json with what the ratings and bundle.json say, too."""
    workers, assignments = frame["worker"].nunique(), frame["assignment"].nunique()
    if facts.workers < workers or facts.submissions - facts.problems < assignments:
        yield f"facts.json knows fewer workers or assignments than {ratings} has"
    if facts.study != about.study or facts.marketplace != about.marketplace or facts.software != about.software:
        yield "facts.json is about another study, marketplace or software than bundle.json"
    if [one.marketplace for one in facts.parts] != about.offerings:
        yield "facts.json is about other offerings than bundle.json"
    if (facts.screened.funnel if facts.screened else None) != about.funnel:
        yield "facts.json tells of another screening than bundle.json"
    if facts.warning != about.warning:
        yield "facts.json says of where the work came from what bundle.json does not say"
    consent = facts.consent
    if not about.warning and consent.agreements + consent.other_versions + consent.without != facts.submissions:
        yield "facts.json has other numbers of agreements than of assignments"
