"""Decides which files a study's bundle has and what they are made from; writes all of them or none."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    make_pictures,
    metrics_of,
    note_look,
    plan_of,
    pricing_of,
    progress_to_show,
    scales_of,
    source_of,
    with_progress,
    with_separations,
)
from hits.batching import manifest_lines
from hits.budgeting import reveal_secret
from hits.exporting import about as about_file
from hits.exporting.about import About, count_by_origin
from hits.exporting.bundle_facts import FILE as FACTS_FILE
from hits.exporting.bundle_facts import Sources
from hits.exporting.bundle_texts import texts_of
from hits.exporting.columns import bundle_rows, described
from hits.exporting.example_dialogs import FILE as EXAMPLES_FILE
from hits.exporting.example_dialogs import example_dialogs
from hits.exporting.figure_files import results_of_figures, write_figures
from hits.exporting.gathering_facts import gather_facts, software
from hits.exporting.hashing import write_hashes
from hits.exporting.ratings_files import read_ratings, write_ratings
from hits.exporting.worker_pages import FOLDER as PAGES_FOLDER
from hits.exporting.worker_pages import take_pictures, worker_pages
from hits.frames import confirmed_submissions, rating_chunks
from hits.models import Offering, Publication, ScreeningRun
from hits.screening import funnel_of, mark_exclusions, submissions_by_rule

SEED = 1


@dataclass(frozen=True)
class Bundle:
    folder: Path
    about: About
    results: Results


def export_bundle(
    offering: Offering, folder: Path, pseudonyms: str = "", *, has_texts: bool = False, browser: str = ""
) -> Bundle:
    """Export a bundle. `pseudonyms` is a name that bundles may share, so that a worker has the same pseudonym in all of
    them. `has_texts` adds example dialogs, which may be licensed. `browser` takes pictures of the worker's pages.
    Whoever gets a bundle of interim results has looked at them."""
    source = source_of(offering)  # before any rating is read
    with _new_bundle(offering, folder) as new:
        about = write_ratings_of(offering, new, pseudonyms)
        frame = read_ratings(new / "ratings.parquet", about)
        results = analyse_bundle(frame, about)
        _write_rest(offering, new, about, results)
        _write_extras(offering, new, frame, about.warning, has_texts, browser)
        note_look(offering, results.progress, source, None, timezone.now())
    return Bundle(folder.resolve(), about, results)


def analyse_bundle(frame: pd.DataFrame, about: About) -> Results:
    """Analyse a bundle's own ratings, by the plan and the progress that bundle.json tells."""
    results = analyse(frame, about.seed, about.criteria, about.plan)
    results = with_progress(results, about.progress, about.plan, about.equal_within)
    return with_separations(results, about.pricing, about.plan)


def export_ratings(offering: Offering, folder: Path, pseudonyms: str = "") -> About:
    """Write only a bundle's ratings. Memory does not grow with the study."""
    with _new_bundle(offering, folder) as new:
        return write_ratings_of(offering, new, pseudonyms)


@contextmanager
def _new_bundle(offering: Offering, folder: Path) -> Iterator[Path]:
    """Write all or nothing: into a folder beside the bundle, which replaces an older one at the end."""
    folder = folder.resolve()
    _refuse_unready(offering, folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        new = Path(temporary) / "bundle"
        new.mkdir()
        yield new
        write_hashes(new)
        if folder.exists():
            folder.rename(Path(temporary) / "old")
        new.rename(folder)


def _refuse_unready(offering: Offering, folder: Path) -> None:
    if not offering.study.is_frozen:
        raise EvalPlatformError(f"{offering.study} has no HITs yet, and so nothing to export: run build_hits first.")
    if folder.exists() and not about_file.is_bundle(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise EvalPlatformError(f"{folder} is there already and is no bundle; name another folder with --out.")
    if not confirmed_submissions(offering).exists():
        raise EvalPlatformError(
            f"{offering.study} has no ratings on the {offering.marketplace} marketplace; run sync_hits first."
        )


def write_ratings_of(offering: Offering, folder: Path, pseudonyms: str = "") -> About:
    """Write the ratings files and bundle.json."""
    run = ScreeningRun.objects.current(offering)
    named = submissions_by_rule(run)
    design = offering.study.parsed_design
    metrics = metrics_of(offering.study)
    columns = described(list(named), list(metrics))
    origins: Counter[str] = Counter()
    pieces = _rating_pieces(offering, named, pseudonyms, metrics, origins)
    rows = write_ratings(pieces, folder, list(columns))
    origin = Origin(**origins)
    about = About(
        study=offering.study.name,
        marketplace=offering.marketplace,
        manifest_sha256=offering.study.manifest_hash,
        card_order_secret=reveal_secret(offering.study, timezone.now()),
        pseudonyms=pseudonyms,
        origin=count_by_origin(origin),
        warning=origin.warning,
        ratings=rows,
        datasets=[part.name for part in design.datasets],
        generators=design.generators,
        criteria=scales_of(offering.study),
        plan=plan_of(offering.study),
        rules=list(named),
        metrics=metrics,
        is_screened=run is not None,
        is_exploratory=run is not None and not run.is_frozen_rules,
        funnel=funnel_of(run),
        seed=SEED,
        equal_within=design.analysis.equal_within,
        progress=progress_to_show(offering),
        dropped_models=_dropped_models(offering),
        pricing=pricing_of(offering.study),
        software=software(),
        columns=columns,
    )
    (folder / about_file.FILE).write_text(about.as_json(), encoding="utf-8", newline="\n")
    return about


def _dropped_models(offering: Offering) -> dict[int, list[str]]:
    published = Publication.objects.filter(offering=offering).current().exclude(dropped_models=[])
    return dict(published.order_by("hit__number").values_list("hit__number", "dropped_models"))


def _rating_pieces(
    offering: Offering,
    named: Mapping[str, Sequence[int]],
    pseudonyms: str,
    metrics: Mapping[str, str],
    origins: Counter[str],
) -> Iterator[pd.DataFrame]:
    keys = np.fromiter(confirmed_submissions(offering).order_by("pk").values_list("pk", flat=True).iterator(), np.int64)
    salt = f"name {pseudonyms}" if pseudonyms else f"study {offering.study.key}"
    for frame in rating_chunks(offering, lambda worker_id: bundle_pseudonym(salt, worker_id)):
        mark_exclusions(frame, named)
        add_metrics(frame, metrics)
        origins.update(frame.loc[~frame["submission"].duplicated(), "origin"])  # no submission is in two pieces
        yield bundle_rows(frame, keys)


# --- Everything that is computed from the ratings ---------------------------------------------------------------------


def _write_rest(offering: Offering, folder: Path, about: About, results: Results) -> None:
    facts = gather_facts(offering, results)
    sources = Sources(facts, offering.study.parsed_design, about.manifest_sha256, results)
    texts = {FACTS_FILE: facts.as_json(), **texts_of(about, sources)}
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write_figures(folder, make_pictures(results_of_figures(results), about.funnel))
    with (folder / "manifest.jsonl").open("wb") as file:
        file.writelines(manifest_lines(offering.study))


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
