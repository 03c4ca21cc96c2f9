"""Writes every text of a bundle that follows from its ratings, its facts and its manifest.

In: bundle.json and the `Sources`. Out: texts by file name. Guaranteed: no database is asked, so that `check_bundle`
writes them again and compares.
"""

from hits.analysing import report_of, results_as_json
from hits.exporting.about import About
from hits.exporting.bundle_facts import Sources
from hits.exporting.datasheet import datasheet, heds_json
from hits.exporting.methods import methods_bibliography, methods_latex, methods_markdown
from hits.exporting.participants import participants
from hits.exporting.readme import readme
from hits.exporting.report_latex import latex_tables
from hits.exporting.research_checklist import research_checklist
from hits.screening import describe_funnel


def texts_of(about: About, sources: Sources) -> dict[str, str]:
    """Return the texts. results.json comes first, because the others say what it says."""
    results = sources.results
    tables = latex_tables(report_of(results), about.study, about.plan.outcome)
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
        **_funnel_texts(about),
        "README.md": readme(about),
    }


def _funnel_texts(about: About) -> dict[str, str]:
    if about.funnel is None:
        return {"funnel.txt": "The study was not screened: everything counts.\n"}
    return {
        "funnel.txt": "\n".join(describe_funnel(about.funnel)) + "\n",
        "funnel.json": about.funnel.model_dump_json(indent=1) + "\n",
    }
