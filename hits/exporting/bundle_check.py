"""Checks a bundle: computes everything again from its ratings file alone, and tells what differs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from evalplatform.errors import EvalPlatformError
from hits.analysing import WARNINGS, Origin, Results, make_pictures, report_of, results_as_json
from hits.exporting.about import About, count_by_origin, read_about
from hits.exporting.bundle_facts import Facts, Sources, read_design, read_facts
from hits.exporting.bundle_texts import texts_of
from hits.exporting.bundles import analyse_bundle
from hits.exporting.hashing import changed_files, hash_of
from hits.exporting.ratings_files import RATINGS_FILES, read_ratings
from hits.exporting.report_latex import latex_tables
from hits.exporting.revealed_orders import wrong_orders

MOST_TOLD = 5
MARKED_TEXTS = ("README.md", "methods.md", "methods.tex", "datasheet.md", "checklist.md", "participants.md")

# What no ratings file can give again: from the database, from a browser, or from the dialogs' texts.
ONLY_HASHED = {
    "facts.json": "what the database said of recruiting, pay, consent and power; checked where the ratings say it, too",
    "figures/*.svg, figures/*.pdf": "the figures; figures.md, which says the same in words, is made again",
    "manifest.jsonl": "the frozen study, whose hash bundle.json names",
    "worker_pages/": "the worker's pages, from the software and the design",
    "examples.tex": "texts of example dialogs, if they were asked for",
}


def check_bundle(folder: Path, ratings: str = RATINGS_FILES[0]) -> list[str]:
    """Describe each difference; the list is empty if all is well. `ratings` is one of the bundle's three files."""
    about = read_about(folder)
    found = [*changed_files(folder), *_other_manifest(folder, about)]
    try:
        frame = read_ratings(folder / ratings, about)
        results = _analyse(frame, about, ratings)
    except EvalPlatformError as error:
        return [*found, str(error)]
    if len(frame) != about.ratings:
        found.append(f"{ratings} has {len(frame):,} ratings, bundle.json says {about.ratings:,}")
    found += _wrong_origin(folder, about, results.origin, ratings)
    found += wrong_orders(folder, about, frame)
    found += _different_results(folder, results)
    found += _different_tables(folder, about, results, ratings)
    found += _different_texts(folder, about, results, frame, ratings)
    words = {picture.name: picture.description for picture in make_pictures(results)}
    told = _read_text(folder / "figures" / "figures.md")
    return found + [f"figures/{name} shows other numbers than {ratings}" for name in words if words[name] not in told]


def _other_manifest(folder: Path, about: About) -> list[str]:
    file = folder / "manifest.jsonl"
    if not file.is_file() or hash_of(file) == about.manifest_sha256:
        return []
    return ["manifest.jsonl is not the one that the study was frozen with"]


def _wrong_origin(folder: Path, about: About, origin: Origin, ratings: str) -> Iterator[str]:
    """Count the origins again. Whatever is not wholly from people must say so in every text that is there."""
    if about.origin != count_by_origin(origin) or about.warning != origin.warning:
        yield f"bundle.json says that the work came from {about.origin}, {ratings} that it came from {origin}"
    for name in MARKED_TEXTS:
        text = _read_text(folder / name)
        if origin.warning and text and origin.warning not in text:
            yield f"{name} does not say “{origin.warning}”, which {ratings} gives"
        if origin.is_from_people and any(warning in text for warning in WARNINGS):
            yield f"{name} says that the work is not from people, but {ratings} says that it is"


def _analyse(frame: pd.DataFrame, about: About, ratings: str) -> Results:
    try:
        return analyse_bundle(frame, about)
    except (ValueError, TypeError, LookupError, ArithmeticError) as error:
        # The file can be read and has the right columns, but its values make no sense as ratings.
        raise EvalPlatformError(f"{ratings} has no ratings that can be analysed: {error}") from error


def _different_results(folder: Path, results: Results) -> list[str]:
    try:
        written = json.loads(_read_text(folder / "results.json"))
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


def _different_tables(folder: Path, about: About, results: Results, ratings: str) -> Iterator[str]:
    for name, text in latex_tables(report_of(results), about.study, about.plan.outcome).items():
        if _read_text(folder / "tables" / name) != text:
            yield f"tables/{name} has other numbers than {ratings}"


def _different_texts(folder: Path, about: About, results: Results, frame: pd.DataFrame, ratings: str) -> Iterator[str]:
    """Write methods, datasheet, checklist and the like again, from the ratings, facts.json and the manifest."""
    if not (folder / "results.json").exists() and not (folder / "facts.json").exists():
        return  # the bundle has ratings only; a missing file is told by its hash
    try:
        facts, design = read_facts(folder), read_design(folder)
    except EvalPlatformError as error:
        yield f"{error}: methods, datasheet and checklist can't be written again"
        return
    yield from _wrong_facts(facts, about, frame, ratings)
    for name, text in texts_of(about, Sources(facts, design, about.manifest_sha256, results)).items():
        if name != "results.json" and not name.startswith("tables/") and _read_text(folder / name) != text:
            yield f"{name} does not say what {ratings}, facts.json and manifest.jsonl give"


def _wrong_facts(facts: Facts, about: About, frame: pd.DataFrame, ratings: str) -> Iterator[str]:
    """Compare facts.json with what the ratings and bundle.json say, too."""
    workers, assignments = frame["worker"].nunique(), frame["assignment"].nunique()
    if facts.workers < workers or facts.submissions - facts.problems < assignments:
        yield f"facts.json knows fewer workers or assignments than {ratings} has"
    if facts.study != about.study or facts.marketplace != about.marketplace or facts.software != about.software:
        yield "facts.json is about another study, marketplace or software than bundle.json"
    if (facts.screened.funnel if facts.screened else None) != about.funnel:
        yield "facts.json tells of another screening than bundle.json"


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
