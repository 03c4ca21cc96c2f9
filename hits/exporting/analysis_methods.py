"""Writes the paragraph about the analysis: outcome, coding, intervals, tests, family; then looks, stopping and power.

It says what these results used, and nothing else: a test that was not made is not named, nor is its source. Looks and
stopping are in stopping_methods, power is in power_words.
"""

from collections.abc import Iterator, Mapping, Sequence

from evalplatform.wording import count_of
from hits.analysing import ALL_DATASETS, Results
from hits.exporting.bundle_facts import Sources, join_names
from hits.exporting.power_words import describe_power
from hits.exporting.stopping_methods import describe_looks, describe_stopping
from hits.protocols import Criterion, protocol_of
from hits.stats import FEW_WORKERS, LARGER_OF_BOTH, PERMUTATION, TWO_WAY_T, Comparison, PairTest, TrueValues, Undefined

FEWEST_DRAWS = 999  # hits.stats.sign_flips makes no fewer
MOST_PAIRS_NAMED = 4


def describe_analysis(sources: Sources) -> Iterator[str]:
    yield from describe_findings(sources)
    yield from describe_looks(sources)
    yield from describe_stopping(sources)
    yield from describe_power(sources)


def describe_findings(sources: Sources) -> Iterator[str]:
    """Yield how ratings became numbers and verdicts."""
    yield from _outcome(sources)
    if sources.results.offerings:
        yield (
            "The design plans its comparisons for one offering; those of several offerings together use the same "
            "outcome and pairs, and are exploratory. Differences between offerings are those of a model's ratings on "
            "the dialogs that were rated in both, with intervals of the same kind, uncorrected and without a test."
        )
    yield from _coding(sources)
    yield from describe_intervals(sources.results)
    if sources.results.progress.has_verdicts:
        yield from _planned_part(sources)
        yield from describe_tests(sources.results)
        if any(isinstance(pair.test, PairTest) for pair in _pairs(sources.results)):
            yield from _family(sources, _pairs(sources.results))
        yield from describe_letters(sources.results)
    else:
        yield from _sequences(sources)
    yield from describe_secondary(sources.results)


def _verdicts(sources: Sources) -> Iterator[str]:
    """Say how votes became verdicts, and how often a fourth person was needed."""
    lines = sources.results.main.votes
    if not lines or lines[0].rule == "all votes":
        return
    if lines[0].rule == "majority":
        yield "The verdict on a pair of replies was what more than half of its votes said."
        return
    some = [one for one in lines if one.dataset == lines[0].dataset]
    items = sum(one.split + (0 if isinstance(one.verdicts, Undefined) else one.verdicts.count) for one in some)
    names = ("unanimous", "differing", "split")
    unanimous, differing, split = (sum(getattr(one, name) for one in some) for name in names)
    yield (
        "The verdict on a pair of replies was what two of its first three votes said; where all three differed, a "
        "fourth person who had not seen the pair was asked, and decided. Of "
        f"{count_of(items, 'pair of replies', 'pairs of replies')}, {unanimous:,} were unanimous, {differing:,} needed "
        f"a fourth vote, and {split:,} have no verdict. Fourth votes were used for verdicts alone."
    )


# --- What is measured -------------------------------------------------------------------------------------------------


def outcome_words(sources: Sources) -> str:
    outcome = sources.design.analysis.outcome
    if protocol_of(sources.design).criteria[0].is_comparison:
        outcome = "win rate"
    best = sources.results.main.values[0] if sources.results.main.values else "the best value"
    if len(sources.results.criteria) > 1:
        return {"share of best": "share of replies that got the best value"}.get(outcome, outcome)
    return {"share of best": f"share of replies rated “{best}”"}.get(outcome, outcome)


def _outcome(sources: Sources) -> Iterator[str]:
    several = len(sources.results.criteria) > 1
    titles = join_names([one.title for one in sources.results.criteria])
    each = f", for each of the {len(sources.results.criteria)} criteria ({titles})" if several else ""
    yield f"The primary outcome, fixed in the design before data collection, was the {outcome_words(sources)}{each}."


def _coding(sources: Sources) -> Iterator[str]:
    criteria = protocol_of(sources.design).criteria
    yield from describe_coding({one.title: _coded(one) for one in criteria})
    outcome = sources.design.analysis.outcome
    if criteria[0].is_comparison or outcome == "win rate":
        yield "For the win rate, a win counted 1, a tie 1/2 and a loss 0."
        yield from _verdicts(sources)
    elif outcome == "share of best":
        best = "a criterion's best value" if len(criteria) > 1 else f"“{sources.results.main.values[0]}”"
        yield f"For the primary outcome, {best} counted 1 and every other value 0."
    if not criteria[0].is_comparison:
        yield "Mean scores treat the distances between neighbouring values as equal."


def describe_coding(coded: Mapping[str, str]) -> Iterator[str]:
    """Say how ratings became numbers, from the words about each criterion."""
    for text in dict.fromkeys(coded.values()):
        about = [title for title, one in coded.items() if one == text]
        of_these = f" of {join_names(about)}" if len(set(coded.values())) > 1 else ""
        yield f"Ratings{of_these} were coded as {text}."


def _coded(one: Criterion) -> str:
    scores, labels = one.scale.scores, one.scale.labels
    if one.measured.bins or list(labels) == [f"{score:g}" for score in scores]:
        return f"their points, from {min(scores):g} to {max(scores):g}"
    return join_names([f"{score:g} (“{label}”)" for label, score in zip(labels, scores, strict=True)])


def describe_intervals(results: Results, are_raters_known: bool = True) -> Iterator[str]:
    if are_raters_known:
        yield (
            "Ratings of the same dialog, and of the same worker, are not independent; 95% confidence intervals "
            "therefore use a two-way cluster-robust variance over dialogs and workers [@cameron], adjusted for few and "
            "uneven clusters, with Satterthwaite's degrees of freedom [@satterthwaite]; from dialogs or workers that "
            f"are worth fewer than {FEW_WORKERS} equal ones, they are at least as wide as Banerjee's [@banerjee]."
        )
    else:
        yield (
            "95% confidence intervals use a cluster-robust variance over dialogs. Raters were not identified, so that "
            "neither intervals nor tests take into account which ratings are the same person's; if few people rated "
            "much, intervals are too narrow and p-values too small."
        )
    means = "" if results.main.is_comparison or results.main.is_nominal else " and mean scores"
    yield (
        f"Intervals of shares{means} are symmetric on the log-odds scale; no interval is corrected for multiplicity."
    )


# --- Which models differ ----------------------------------------------------------------------------------------------


def _pairs(results: Results) -> list[Comparison]:
    return [pair for one in results.criteria for table in one.comparisons for pair in table.comparisons]


def _planned_part(sources: Sources) -> Iterator[str]:
    further = sources.results.main.further_dialogs
    if further and any(isinstance(pair.test, PairTest) for pair in _pairs(sources.results)):
        yield (
            f"Tests were made on the {count_of(sources.design.analysis.planned_dialogs, 'planned dialog')}, the first "
            f"in the frozen order; {count_of(further, 'dialog')} rated beyond them were not tested."
        )


def describe_tests(results: Results) -> Iterator[str]:
    pairs = _pairs(results)
    methods = {pair.test.method for pair in pairs if isinstance(pair.test, PairTest)}
    if not methods:
        if pairs:
            yield "No pair of models could be tested."
        return
    if any(pair.kind == "paired" for pair in pairs):
        yield "Models were compared by paired differences within the same worker and dialog."
    if methods & {PERMUTATION, LARGER_OF_BOTH}:
        yield (
            "Differences of the primary outcome were tested two-sided by a permutation test that swaps the two models' "
            f"names in whole dialogs (at least {FEWEST_DRAWS} random draws, seed {results.seed}), with a "
            "studentised statistic, which stays valid where workers differ in taste [@chung]."
        )
    if LARGER_OF_BOTH in methods:
        yield _few_raters(results)
    if TWO_WAY_T in methods and any(pair.kind == "paired" for pair in pairs if _method(pair) == TWO_WAY_T):
        yield "Where answers were very many, a t test with the two-way variance stood in for the permutation test."
    if not results.main.are_raters_known:
        yield "Models were compared by the difference of their means, with a t test on this variance."
    elif any(pair.kind == "unpaired" for pair in pairs):
        yield (
            f"Models that {_not_side_by_side(pairs)} were compared by the difference of their means, with a t test on "
            "the two-way variance; such differences include differences between raters."
        )


def _few_raters(results: Results) -> str:
    """Say for which pairs the t test decided, too: each pair's own raters count."""
    tables = [(one.title, table) for one in results.criteria for table in one.comparisons]
    few = [
        (title, table.dataset, pair)
        for title, table in tables
        for pair in table.comparisons
        if _method(pair) == LARGER_OF_BOTH
    ]
    datasets, titles = len({table.dataset for _, table in tables}), len(results.criteria)
    names = [
        f"{pair.first} with {pair.second}"
        + (f" on {dataset or ALL_DATASETS}" if datasets > 1 else "")
        + (f" by {title}" if titles > 1 else "")
        for title, dataset, pair in few
    ]
    paired = sum(pair.kind == "paired" and isinstance(pair.test, PairTest) for pair in _pairs(results))
    about = "all comparisons" if len(few) == paired else f"{len(few):,} of {paired:,} comparisons"
    if len(few) <= MOST_PAIRS_NAMED and len(few) < paired:
        about += f": {join_names(names)}"
    fewest = min(pair.size.effective_workers for _, _, pair in few)
    return (
        f"Where a pair's ratings were worth those of fewer than {FEW_WORKERS} equally busy workers ({about}; the "
        f"least was {fewest:.1f}), the larger of this p-value and that of a t test with the two-way variance decided."
    )


def _not_side_by_side(pairs: Sequence[Comparison]) -> str:
    apart = [pair for pair in pairs if pair.kind == "unpaired"]
    if any(pair.size.side_by_side for pair in apart):
        return "no worker had rated in the same dialog, or too few for a comparison,"
    return "no worker had rated in the same dialog"


def _method(pair: Comparison) -> str:
    return pair.test.method if isinstance(pair.test, PairTest) else ""


def _family(sources: Sources, pairs: Sequence[Comparison]) -> Iterator[str]:
    first = sources.results.main
    primary = [pair for table in first.comparisons for pair in table.comparisons if pair.is_primary]
    each = " of each criterion" if len(sources.results.criteria) > 1 else ""
    yield (
        f"The primary family{each}, also fixed in the design, {_which_pairs(sources, len(primary))}; p-values were "
        "corrected within it by Holm's method [@holm] at a family-wise level of .05."
    )
    yield from describe_other_comparisons(sources.results)
    untested = sum(isinstance(pair.test, Undefined) for pair in pairs)
    if untested:
        yield f"Of all comparisons, {untested:,} could not be tested and {_is(untested)} reported as not compared."


def describe_other_comparisons(results: Results) -> Iterator[str]:
    """Say how exploratory comparisons were corrected: those of each criterion by themselves."""
    others = [
        [(table, pair) for table in one.comparisons for pair in table.comparisons if not pair.is_primary]
        for one in results.criteria
    ]
    count = sum(map(len, others))
    if not count:
        return
    among = ", among them those within single datasets" if any(of.dataset for one in others for of, _ in one) else ""
    each = f" of each criterion ({join_names([f'{len(one):,}' for one in others])})" if len(others) > 1 else ""
    yield (f"All other comparisons ({count:,}{among}) are exploratory and were corrected as a second family{each}.")


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _which_pairs(sources: Sources, count: int) -> str:
    analysis = sources.design.analysis
    if analysis.compare == "one against the others":
        return f"compared {analysis.reference} with each other model ({count_of(count, 'comparison')})"
    if analysis.compare == "named pairs":
        named = join_names([f"{first} with {second}" for first, second in analysis.pairs])
        return f"compared {named} ({count_of(count, 'comparison')})"
    return f"comprised all pairs of models ({count_of(count, 'comparison')})"


def describe_letters(results: Results) -> Iterator[str]:
    tables = [table for one in results.criteria for table in one.comparisons]
    if any(name.letters for table in tables for name in table.letters):
        yield (
            "In the tables, models that share a letter could not be told apart [@piepho]; letters and bold type are "
            "given only where all pairs were tested."
        )


def _sequences(sources: Sources) -> Iterator[str]:
    progress = sources.results.progress
    interim = "" if progress.is_complete else "The results are interim. "
    if progress.is_by_sequence:
        yield (
            f"{interim}By design, confidence sequences decide, whenever data collection ends; no fixed-sample test was "
            "made, and no letters are given."
        )
    else:
        yield f"{interim}No fixed-sample test was made, and no p-values or letters are reported."
    pairs = sources.results.main.sequences  # each criterion has a family of its own
    missing = [one.low.reason for one in pairs if isinstance(one.low, Undefined)]
    if not pairs:
        return
    if len(missing) == len(pairs):
        yield f"No difference has a confidence sequence yet: {missing[0]}."
        return
    each = " of a criterion" if len(sources.results.criteria) > 1 else ""
    yield (
        "Differences of the primary outcome have confidence sequences, which are valid at every look: Robbins' normal "
        "mixture [@robbins; @howard] on the two-way variance, with a mixture variance that was frozen with the design "
        f"({_mixture_variances(sources)}), and the error level of .05 shared equally by the "
        f"{count_of(len(pairs), 'planned pair')}{each}."
    )
    if progress.beyond:
        yield (
            "The sequences rest on tasks that had all their assignments, in their frozen order; "
            f"{count_of(progress.beyond, 'assignment')} of other tasks {'is' if progress.beyond == 1 else 'are'} in no "
            "sequence yet."
        )
    if missing:
        yield f"Of these pairs, {len(missing):,} {'has' if len(missing) == 1 else 'have'} none yet: {missing[0]}."


def _mixture_variances(sources: Sources) -> str:
    found = {one.title: f"{one.sequences[0].tau2:.3g}" for one in sources.results.criteria if one.sequences}
    if len(set(found.values())) == 1:
        return f"τ² = {next(iter(found.values()))}"
    return "; ".join(f"τ² = {tau2} for {title}" for title, tau2 in found.items())


def describe_secondary(results: Results) -> Iterator[str]:
    criteria = results.criteria
    if any(not isinstance(one.ranked, Undefined) for found in criteria for one in found.rankings):
        yield (
            "Models were also ranked by a Bradley-Terry model [@bradley] with ties [@davidson], fitted to which of two "
            "replies a worker rated higher."
        )
    if any(isinstance(found.true_values, TrueValues) for found in criteria):
        yield "As a check, the replies' latent values were estimated with a Dawid-Skene model [@dawid]."
