"""Writes every text of a bundle that follows from its ratings, its facts and its manifest.

In: bundle.json and the `Sources`. Out: texts by file name. Guaranteed: no database is asked, so that `check_bundle`
writes them again and compares.
"""

import json

from hits.analysing import Results, describe_pool, report_of, results_as_json
from hits.exporting.about import About
from hits.exporting.bundle_facts import Sources
from hits.exporting.datasheet import datasheet, heds_json
from hits.exporting.methods import methods_bibliography, methods_latex, methods_markdown
from hits.exporting.participants import participants
from hits.exporting.readme import readme
from hits.exporting.report_latex import latex_tables
from hits.exporting.research_checklist import research_checklist
from hits.screening import describe_funnel

# Those that every bundle has, without its tables.
TEXT_FILES = (
    *("results.json", "methods.md", "methods.tex", "methods.bib", "datasheet.md", "heds.json", "checklist.md"),
    *("participants.md", "funnel.txt", "README.md"),
)


def texts_of(about: About, sources: Sources) -> dict[str, str]:
    """Return the texts. results.json comes first, because the others say what it says."""
    results, warning = sources.results, sources.results.origin.warning
    tables = tables_of(about, results)
    return {
        "results.json": results_as_json(results),
        **{f"tables/{name}": text for name, text in tables.items()},
        "methods.md": methods_markdown(sources),
        "methods.tex": methods_latex(sources),
        "methods.bib": methods_bibliography(sources),
        "datasheet.md": datasheet(sources),
        "heds.json": heds_json(sources),
        "checklist.md": research_checklist(sources),
        "participants.md": participants(sources),
        **_funnel_texts(about, warning),
        "README.md": readme(about),
    }


def tables_of(about: About, results: Results) -> dict[str, str]:
    """Return the LaTeX tables by file name. Their captions say which offerings are put together, if several are."""
    together = f", {describe_pool(results)} together" if results.offerings else ""
    return latex_tables(report_of(results), f"Study {about.study}{together}", about.plan.outcome)


def _funnel_texts(about: About, warning: str) -> dict[str, str]:
    head = f"{warning}.\n" if warning else ""
    if about.funnel is None:
        return {"funnel.txt": f"{head}The study was not screened: everything counts.\n"}
    content = {**({"warning": warning} if warning else {}), **about.funnel.model_dump(mode="json")}
    return {
        "funnel.txt": head + "\n".join(describe_funnel(about.funnel)) + "\n",
        "funnel.json": json.dumps(content, indent=1, ensure_ascii=False) + "\n",
    }
