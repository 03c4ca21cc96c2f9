"""Writes the paragraph about the analysis of ratings that another tool collected, and its bibliography.

It says what these results used, as analysis_methods does for a study. What only whoever collected the ratings knows
(task, raters, pay, what was planned) is marked to be filled in.
"""

from collections.abc import Iterator, Mapping

from evalplatform.wording import count_of
from hits.analysing import Results
from hits.exporting.analysis_methods import (
    describe_coding,
    describe_intervals,
    describe_letters,
    describe_secondary,
    describe_tests,
)
from hits.exporting.bundle_facts import join_names
from hits.exporting.citations import bibliography, cite_in_latex, cite_in_markdown
from hits.exporting.quality_methods import agreement_sentences
from hits.exporting.to_fill_in import PLAIN_TO_FILL_IN
from hits.exporting.worker_names import call_workers
from hits.stats import CriterionScale, PairTest, Undefined

TITLE = "Statistical analysis"


def elsewhere_methods(
    results: Results, scales: Mapping[str, CriterionScale], are_raters_known: bool, software: Mapping[str, str]
) -> dict[str, str]:
    """Return methods.md, methods.tex and methods.bib."""
    text = call_workers(" ".join(_sentences(results, scales, are_raters_known, software)), "rater")
    return {
        "methods.md": f"# Methods\n\n**{TITLE}.** {cite_in_markdown(text)}\n",
        "methods.tex": f"\\paragraph{{{TITLE}.}}\n{cite_in_latex(text)}\n",
        "methods.bib": bibliography(text),
    }


def _sentences(
    results: Results, scales: Mapping[str, CriterionScale], are_raters_known: bool, software: Mapping[str, str]
) -> Iterator[str]:
    size = results.main.size
    yield (
        f"The ratings were collected with another tool ({PLAIN_TO_FILL_IN}: task, raters, pay, exclusions). Analysed "
        f"were {count_of(size.ratings, 'rating')} of {count_of(size.dialogs, 'item')}"
        + (f" by {count_of(size.workers, 'rater')}." if are_raters_known else "; raters were not identified.")
    )
    yield from describe_coding({scale.label or name: _coded(scale) for name, scale in scales.items()})
    yield from describe_intervals(results, are_raters_known)
    pairs = [pair for one in results.criteria for table in one.comparisons for pair in table.comparisons]
    outcomes = list(dict.fromkeys(table.outcome for one in results.criteria for table in one.comparisons))
    if outcomes and not results.main.is_nominal:
        yield (
            f"Models were compared by the {join_names(outcomes)}; nothing is known here of a plan that was fixed "
            "before data collection."
        )
    yield from describe_tests(results)
    if any(isinstance(pair.test, PairTest) for pair in pairs):
        yield (
            "All pairs of models were compared; p-values were corrected by Holm's method [@holm] at a family-wise "
            "level of .05."
        )
    yield from describe_letters(results)
    yield from describe_secondary(results)
    yield from _agreement(results, are_raters_known)
    versions = join_names([f"{name} {number}" for name, number in software.items() if name != "evalplatform"])
    yield f"The analysis was made with EvalPlatform {software['evalplatform']} ({versions}; seed {results.seed})."


def _agreement(results: Results, are_raters_known: bool) -> Iterator[str]:
    if are_raters_known or any(
        not isinstance(one.agreement[0].raw, Undefined) for one in results.criteria if one.agreement
    ):
        yield from agreement_sentences(results, has_rules=False)


def _coded(scale: CriterionScale) -> str:
    if scale.is_nominal:
        return f"labels without an order ({join_names(scale.values)})"
    if scale.bins or list(scale.values) == [f"{score:g}" for score in scale.scores]:
        return f"their points, from {min(scale.scores):g} to {max(scale.scores):g}"
    pairs = zip(scale.values, scale.scores, strict=True)
    return join_names([f"{score:g} (“{value}”)" for value, score in pairs])
