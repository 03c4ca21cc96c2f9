"""Decides which files a study's bundle has and what they are made from; writes all of them or none."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.access import bundle_pseudonym
from hits.analysing import (
    Origin,
    Results,
    add_metrics,
    analyse,
    compare_in_whole_hits,
    make_pictures,
    metrics_of,
    note_look,
    offerings_of,
    plan_of,
    pricing_of,
    progress_to_show,
    scales_of,
    source_of,
    twice_in,
    with_progress,
    with_self_agreement,
    with_separations,
)
from hits.batching import manifest_lines
from hits.budgeting import reveal_secret
from hits.exporting import about as about_file
from hits.exporting.about import About, count_by_origin
from hits.exporting.bundle_facts import FILE as FACTS_FILE
from hits.exporting.bundle_facts import Sources
from hits.exporting.bundle_texts import texts_of
from hits.exporting.columns import bundle_rows, columns_of_pairs, described
from hits.exporting.example_dialogs import FILE as EXAMPLES_FILE
from hits.exporting.example_dialogs import example_dialogs
from hits.exporting.figure_files import results_of_figures, write_figures
from hits.exporting.gathering_facts import gather_facts, software
from hits.exporting.hashing import write_hashes
from hits.exporting.ratings_files import read_ratings, write_ratings
from hits.exporting.repeats_file import numbered, read_repeats, write_repeats
from hits.exporting.worker_pages import FOLDER as PAGES_FOLDER
from hits.exporting.worker_pages import take_pictures, worker_pages
from hits.frames import confirmed_submissions, named_by_crowd, rating_chunks
from hits.models import Offering, Pool, Publication, Scope, ScreeningRun, Study
from hits.screening import are_screened_alike, mark_exclusions, pooled_funnel, pooled_submissions_by_rule

SEED = 1


@dataclass(frozen=True)
class Bundle:
    folder: Path
    about: About
    results: Results


def export_bundle(
    scope: Scope, folder: Path, pseudonyms: str = "", *, has_texts: bool = False, browser: str = ""
) -> Bundle:
    """Export a bundle. `pseudonyms` is a name that bundles may share, so that a worker has the same pseudonym in all of
    them. `has_texts` adds example dialogs, which may be licensed. `browser` takes pictures of the worker's pages.
    Whoever gets a bundle of interim results has looked at them."""
    source = source_of(scope)  # before any rating is read
    with _new_bundle(scope, folder) as new:
        about = write_ratings_of(scope, new, pseudonyms)
        frame = read_ratings(new / "ratings.parquet", about)
        results = analyse_bundle(frame, about, read_repeats(new))
        _write_rest(scope, new, about, results)
        _write_extras(_largest(scope, results), new, frame, about.warning, has_texts, browser)
        note_look(scope, results.progress, source, None, timezone.now())
    return Bundle(folder.resolve(), about, results)


def analyse_bundle(frame: pd.DataFrame, about: About, twice: pd.DataFrame) -> Results:
    """Analyse a bundle's own ratings and repeats, by the plan and the progress that bundle.json tells."""
    results = analyse(frame, about.seed, about.criteria, about.plan)
    until, whole = about.progress.whole_until, None
    if until is not None:
        whole = compare_in_whole_hits(frame, until, about.criteria, about.plan, about.seed)
    results = with_progress(results, about.progress, about.plan, about.equal_within, whole)
    results = with_self_agreement(results, twice, about.criteria)
    return with_separations(results, about.pricing, about.plan)


def export_ratings(scope: Scope, folder: Path, pseudonyms: str = "") -> About:
    """Write only a bundle's ratings. Memory does not grow with the study."""
    with _new_bundle(scope, folder) as new:
        return write_ratings_of(scope, new, pseudonyms)


@contextmanager
def _new_bundle(scope: Scope, folder: Path) -> Iterator[Path]:
    """Write all or nothing: into a folder beside the bundle, which replaces an older one at the end."""
    folder = folder.resolve()
    _refuse_unready(scope, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        new = Path(temporary) / "bundle"
        new.mkdir()
        yield new
        write_hashes(new)
        if folder.exists():
            folder.rename(Path(temporary) / "old")
        new.rename(folder)


def _refuse_unready(scope: Scope, folder: Path) -> None:
    if not scope.study.is_frozen:
        raise EvalPlatformError(f"{scope.study} has no HITs yet, and so nothing to export: run build_hits first.")
    if folder.exists() and not about_file.is_bundle(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise EvalPlatformError(f"{folder} is there already and is no bundle; name another folder with --out.")
    offerings = offerings_of(scope)
    if not any(confirmed_submissions(one).exists() for one in offerings):
        raise EvalPlatformError(
            f"{scope.study} has no ratings on the {scope.marketplace} marketplace; run sync_hits first."
        )
    if not are_screened_alike(offerings):
        names = ", ".join(one.marketplace for one in offerings)
        raise EvalPlatformError(
            f"{names} were screened by different rules, so that one bundle can't say what was left out: screen each of "
            "them by the study's own rules first (`screen_study`)."
        )


def write_ratings_of(scope: Scope, folder: Path, pseudonyms: str = "") -> About:
    """Write the ratings files and bundle.json."""
    study, offerings, is_pool = scope.study, offerings_of(scope), isinstance(scope, Pool)
    runs = [ScreeningRun.objects.current(one) for one in offerings]
    named = pooled_submissions_by_rule(offerings)
    design = study.parsed_design
    metrics = metrics_of(study)
    columns = described(list(named), list(metrics), is_pool, columns_of_pairs(design))
    origins: Counter[str] = Counter()
    dropped = _dropped_models(offerings)
    pieces = _rating_pieces(offerings, is_pool, named, pseudonyms, metrics, origins)
    rows = write_ratings(pieces, folder, list(columns))
    twice = twice_in(offerings, partial(bundle_pseudonym, _made_from(study, pseudonyms)))
    write_repeats(folder, numbered(twice, offerings))
    origin = Origin(**origins)
    about = About(
        study=study.name,
        marketplace=scope.marketplace,
        offerings=[one.marketplace for one in offerings] if is_pool else [],
        manifest_sha256=study.manifest_hash,
        card_order_secret=reveal_secret(study, timezone.now()),
        pseudonyms=pseudonyms,
        origin=count_by_origin(origin),
        warning=origin.warning,
        ratings=rows,
        repeats=len(twice),
        datasets=[part.name for part in design.datasets],
        generators=design.generators,
        criteria=scales_of(study),
        plan=plan_of(study),
        rules=list(named),
        metrics=metrics,
        is_screened=any(run is not None for run in runs),
        is_exploratory=any(run is not None and not run.is_frozen_rules for run in runs),
        funnel=pooled_funnel(offerings),
        seed=SEED,
        equal_within=design.analysis.equal_within,
        progress=progress_to_show(scope),
        dropped_models=dropped,
        pricing=pricing_of(study),
        software=software(),
        columns=columns,
    )
    (folder / about_file.FILE).write_text(about.as_json(), encoding="utf-8", newline="\n")
    return about


def _dropped_models(offerings: Sequence[Offering]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for one in offerings:
        published = Publication.objects.filter(offering=one).current().order_by("hit__number")
        for hit, names in published.values_list("hit__number", "dropped_models"):
            if found.setdefault(hit, names) != names:
                raise EvalPlatformError(
                    f"Models were dropped from HIT {hit + 1} in one offering and not in another, so that one bundle "
                    "can't say which cards it showed: export each offering by itself."
                )
    return {hit: names for hit, names in sorted(found.items()) if names}


def _rating_pieces(
    offerings: Sequence[Offering],
    is_pool: bool,
    named: Mapping[str, Sequence[int]],
    pseudonyms: str,
    metrics: Mapping[str, str],
    origins: Counter[str],
) -> Iterator[pd.DataFrame]:
    """Yield the rows, one offering after the other. Workers of several offerings are named by their crowd as well."""
    start = 0
    for one in offerings:
        keys = np.fromiter(confirmed_submissions(one).order_by("pk").values_list("pk", flat=True).iterator(), np.int64)
        name_worker = partial(bundle_pseudonym, _made_from(one.study, pseudonyms))
        for frame in rating_chunks(one, named_by_crowd(one, name_worker) if is_pool else name_worker):
            mark_exclusions(frame, named)
            add_metrics(frame, metrics)
            origins.update(frame.loc[~frame["submission"].duplicated(), "origin"])  # no submission is in two pieces
            yield bundle_rows(frame, keys, one.marketplace if is_pool else "", start)
        start += len(keys)


def _made_from(study: Study, pseudonyms: str) -> str:
    """Return what pseudonyms are made from: a name that bundles share, or this study."""
    return f"name {pseudonyms}" if pseudonyms else f"study {study.key}"


# --- Everything that is computed from the ratings ---------------------------------------------------------------------


def _largest(scope: Scope, results: Results) -> Offering:
    """Return the offering whose pages a bundle shows: of several, the one that brought most."""
    brought = {one.offering: one.assignments for one in results.offerings}
    return max(offerings_of(scope), key=lambda one: brought.get(one.marketplace, 0))


def _write_rest(scope: Scope, folder: Path, about: About, results: Results) -> None:
    facts = gather_facts(scope, results)
    sources = Sources(facts, scope.study.parsed_design, about.manifest_sha256, results)
    texts = {FACTS_FILE: facts.as_json(), **texts_of(about, sources)}
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write_figures(folder, make_pictures(results_of_figures(results), about.funnel))
    with (folder / "manifest.jsonl").open("wb") as file:
        file.writelines(manifest_lines(scope.study))


def _write_extras(
    offering: Offering, folder: Path, frame: pd.DataFrame, warning: str, has_texts: bool, browser: str
) -> None:
    """Write what check_bundle can only hash: the worker's pages, their pictures, texts of dialogs."""
    pages = folder / PAGES_FOLDER
    pages.mkdir()
    for name, text in worker_pages(offering, has_texts, warning).items():
        (pages / name).write_text(text, encoding="utf-8", newline="\n")
    if browser:
        take_pictures(pages, browser, warning)
    if has_texts:
        text = example_dialogs(offering.study, frame, warning)
        (folder / EXAMPLES_FILE).write_text(text, encoding="utf-8", newline="\n")
