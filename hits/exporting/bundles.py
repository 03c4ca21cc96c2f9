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
    Picture,
    Results,
    add_metrics,
    analyse,
    make_pictures,
    measure_progress,
    metrics_of,
    plan_of,
    report_of,
    results_as_json,
    scales_of,
    with_progress,
)
from hits.batching import manifest_lines
from hits.budgeting import reveal_secret
from hits.exporting import about as about_file
from hits.exporting.about import About, count_by_origin
from hits.exporting.bundle_facts import Facts, gather_facts, software
from hits.exporting.columns import bundle_rows, described
from hits.exporting.datasheet import datasheet
from hits.exporting.hashing import write_hashes
from hits.exporting.methods import methods_latex, methods_markdown
from hits.exporting.ratings_files import read_ratings, write_ratings
from hits.exporting.readme import readme
from hits.exporting.report_latex import latex_tables
from hits.frames import confirmed_submissions, rating_chunks
from hits.models import Offering, Publication, ScreeningRun
from hits.screening import Funnel, describe_funnel, funnel_of, mark_exclusions, submissions_by_rule

SEED = 1


@dataclass(frozen=True)
class Bundle:
    folder: Path
    about: About
    results: Results


def export_bundle(offering: Offering, folder: Path, pseudonyms: str = "") -> Bundle:
    """Export a bundle. `pseudonyms` is a name that bundles may share, so that a worker has the same pseudonym in all of
    them."""
    with _new_bundle(offering, folder) as new:
        about = write_ratings_of(offering, new, pseudonyms)
        results = analyse_bundle(read_ratings(new / "ratings.parquet", about), about)
        _write_rest(offering, new, about, results)
    return Bundle(folder.resolve(), about, results)


def analyse_bundle(frame: pd.DataFrame, about: About) -> Results:
    """Analyse a bundle's own ratings, by the plan and the progress that bundle.json tells."""
    results = analyse(frame, about.seed, about.criteria, about.plan)
    return with_progress(results, about.progress, about.plan, about.equal_within)


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
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as place:
        new = Path(place) / "bundle"
        new.mkdir()
        yield new
        write_hashes(new)
        if folder.exists():
            folder.rename(Path(place) / "old")
        new.rename(folder)


def _refuse_unready(offering: Offering, folder: Path) -> None:
    if not offering.study.is_frozen:
        raise EvalPlatformError(f"{offering.study} has no HITs yet, and so nothing to export: run build_hits first.")
    if folder.exists() and not about_file.is_bundle(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise EvalPlatformError(f"{folder} is there already and is no bundle; name another folder with --out.")
    if not confirmed_submissions(offering).exists():
        raise EvalPlatformError(
            f"{offering.study} has no ratings on the {offering.place} marketplace; run sync_hits first."
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
        marketplace=offering.place,
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
        progress=measure_progress(offering),
        left_out=_left_out(offering),
        software=software(),
        columns=columns,
    )
    (folder / about_file.FILE).write_text(about.as_json(), encoding="utf-8", newline="\n")
    return about


def _left_out(offering: Offering) -> dict[int, list[str]]:
    published = Publication.objects.filter(offering=offering).current().exclude(left_out=[])
    return dict(published.order_by("hit__number").values_list("hit__number", "left_out"))


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
    made = make_pictures(results, about.funnel)
    texts = {
        "results.json": results_as_json(results),
        **{f"tables/{name}": text for name, text in latex_tables(report_of(results)).items()},
        **{f"figures/{picture.name}.svg": picture.svg for picture in made},
        "figures/figures.md": _describe_pictures(made),
        **_texts(facts, about.funnel),
        "README.md": readme(about),
    }
    (folder / "tables").mkdir()
    (folder / "figures").mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for picture in made:
        (folder / "figures" / f"{picture.name}.pdf").write_bytes(picture.pdf)
    with (folder / "manifest.jsonl").open("wb") as file:
        file.writelines(manifest_lines(offering.study))


def _texts(facts: Facts, funnel: Funnel | None) -> dict[str, str]:
    made = {
        "methods.md": methods_markdown(facts),
        "methods.tex": methods_latex(facts),
        "datasheet.md": datasheet(facts),
    }
    if funnel is None:
        return made | {"funnel.txt": "The study was not screened: everything counts.\n"}
    return made | {
        "funnel.txt": "\n".join(describe_funnel(funnel)) + "\n",
        "funnel.json": funnel.model_dump_json(indent=1) + "\n",
    }


def _describe_pictures(made: Sequence[Picture]) -> str:
    return "# The figures in words\n\n" + "\n".join(
        f"## {one.title} ({one.name})\n\n{one.description}\n" for one in made
    )
