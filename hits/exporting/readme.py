"""Writes the bundle's own README: what is in the bundle, and how to check it."""

from hits.analysing import Origin, count_origins
from hits.exporting.about import About
from hits.exporting.hashing import ONLY_HASHED
from hits.exporting.revealed_orders import describe_orders

FILES = {
    "ratings.csv, ratings.jsonl, ratings.parquet": "every rating, even if screening leaves it out, in three formats",
    "repeats.csv": "what workers said twice, if dialogs came again: only first answers are ratings",
    "results.json": "every statistic with its interval: shares, comparisons, ranking, agreement and more",
    "tables/": "LaTeX tables with booktabs; all.tex compiles by itself",
    "figures/": "each figure as SVG and PDF; figures.md says the same in words",
    "methods.md, methods.tex, methods.bib": "paragraphs for the paper that say what was really done, with references",
    "datasheet.md, heds.json": "the Human Evaluation Datasheet (HEDS 3.0); heds.json is for its public form",
    "checklist.md": "what ARR's responsible research checklist asks of a human evaluation",
    "participants.md": "consent, pay, time, filters, exclusions, agreement and power",
    "worker_pages/": "the worker's pages as they were shown",
    "examples.tex": "texts of example dialogs with their ratings, if they were asked for",
    "facts.json": "what the database knew of recruiting, pay, consent and power",
    "funnel.txt, funnel.json": "what screening left out, rule by rule",
    "manifest.jsonl": "the frozen study: design, then every dialog and reply by its hash",
    "bundle.json": "what this bundle is about, and the software it was made with",
    "sha256sums.txt": "the SHA-256 of every other file",
}


def readme(about: About) -> str:
    files = "\n".join(f"- `{name}`: {text}" for name, text in FILES.items())
    columns = "\n".join(f"| `{name}` | {text} |" for name, text in about.columns.items())
    origin = Origin(**about.origin)
    whose = _whose(about) if origin.is_from_people else "(see above)"
    warning = "" if origin.is_from_people else f"**{origin.warning}.** {count_origins(origin)}\n\n"
    return f"""# Bundle of the study {about.study}

{warning}{about.ratings:,} ratings {whose}. {_screening(about)}

## Files

{files}

## Columns of the ratings

One row for each reply that was judged in an assignment. A reply that several models gave was one card on the worker's
page, and has a row for each of them. Texts of dialogs and replies are in the bundle only as examples, if they were
asked for; the manifest has their hashes.

| column | what it says |
|---|---|
{columns}

## Checking it

- `sha256sum --check sha256sums.txt`, in this folder: no file has changed since it was written.
- `sha256sum manifest.jsonl` gives the hash that the study was frozen with: `{about.manifest_sha256}`
- `python manage.py check_bundle FOLDER`, in EvalPlatform {about.software["evalplatform"]}: every statistic and every
  table is made again from `ratings.csv` alone, and every text from it, `facts.json` and the manifest, and compared. No
  database is needed. Only their hashes are checked of: {", ".join(ONLY_HASHED)}.

## The order of the cards

{describe_orders(about)}

## Workers

Workers have pseudonyms that were made for {_bundles(about)}. They can't be matched with the marketplace's ids, with the
names on the platform's pages, or with {"other bundles." if not about.pseudonyms else "bundles under other names."}
"""


def _whose(about: About) -> str:
    if about.offerings:
        return (
            f"by workers of {len(about.offerings)} offerings that are put together here ({', '.join(about.offerings)})"
        )
    return f"by workers of the {about.marketplace} marketplace"


def _screening(about: About) -> str:
    if not about.is_screened:
        return "The study was not screened: everything counts."
    rules = ", ".join(about.rules) or "no rule"
    how = "chosen after the fact, as an exploration" if about.is_exploratory else "fixed before the study"
    return f"The results leave out what screening excludes ({rules}; {how}); the ratings files have everything."


def _bundles(about: About) -> str:
    return f"all bundles under the name {about.pseudonyms}" if about.pseudonyms else "this study's bundle"
