"""The results' tables in LaTeX: the paper's table 5, the same with intervals, comparisons, ranking and agreement."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from hits.analysing.results import Results
from hits.exporting.latex import document, escape, table, table_side_by_side
from hits.stats.agreement import Agreement
from hits.stats.bradley_terry import Ranking
from hits.stats.comparing import Comparison, PairedTest
from hits.stats.estimates import Estimate, Interval, Undefined
from hits.stats.proportions import Row, Share

ALL = "All datasets"
UNDEFINED = "--"
DATASETS_ABREAST = 3
LETTERS = r"$^{\mathrm{%s}}$"


def latex_tables(results: Results) -> dict[str, str]:
    """By file name. Each can be taken into a paper that loads booktabs; all.tex compiles by itself."""
    made = {
        "table5.tex": _paper_shares(results),
        "intervals.tex": _shares(results),
        "comparisons.tex": _comparisons(results),
        "ranking.tex": _ranking(results),
        "agreement.tex": _agreement(results),
    }
    return made | {"all.tex": document(name.removesuffix(".tex") for name in made)}


def _paper_shares(results: Results) -> str:
    """As the paper has it: datasets side by side, few enough for a page, and numbers only."""
    caption = (
        "Human evaluation results on each of the test sets. Numbers have been normalized across the quality categories "
        "on each test set."
    )
    by_dataset = {dataset: [row for row in results.table if row.dataset == dataset] for dataset in results.datasets}
    blocks = []
    for start in range(0, len(by_dataset), DATASETS_ABREAST):
        part = results.datasets[start : start + DATASETS_ABREAST]
        cells = [_share_cells(by_dataset[dataset], results) for dataset in part]
        rows = [
            [escape(name), *(cell for of_dataset in cells for cell in of_dataset[name])] for name in results.generators
        ]
        blocks.append(([escape(dataset) for dataset in part], rows))
    head = [escape(value.capitalize()) for value in results.values]
    return table_side_by_side(caption, "results", head, blocks)


def _share_cells(rows: Sequence[Row], results: Results) -> dict[str, list[str]]:
    """By generator."""
    found = {name: [UNDEFINED] * len(results.values) for name in results.generators}
    best = _best(rows)
    for row in rows:
        if row.generator in found and not isinstance(row.shares, Undefined):
            shares = [one.share for one in row.shares]
            found[row.generator] = [_bold(shares[0], shares[0] == best), *(_bold(share, False) for share in shares[1:])]
    return found


def _shares(results: Results) -> str:
    letters = {(one.dataset, name.generator): name.letters for one in results.comparisons for name in one.letters}
    caption = (
        r"Human evaluation results with 95\,\% intervals in brackets, which respect that ratings of one dialog and of "
        "one worker belong together. Models that share a letter cannot be told apart by a corrected permutation test."
    )
    groups = [
        (escape(dataset or ALL), _share_rows(list(rows), letters, len(results.values)))
        for dataset, rows in groupby(results.table, key=lambda row: row.dataset)
    ]
    head = ["Model", *(escape(value.capitalize()) for value in results.values), "Ratings"]
    return table(caption, "intervals", "l" + "c" * len(results.values) + "r", head, groups)


def _share_rows(rows: Sequence[Row], letters: Mapping[tuple[str | None, str], str], values: int) -> list[list[str]]:
    """The highest share of the best value is bold."""
    best = _best(rows)
    found = []
    for row in rows:
        marks = letters.get((row.dataset, row.generator or ""), "")
        name = escape(row.generator or "human") + (LETTERS % marks if marks else "")
        cells = [UNDEFINED] * values
        if not isinstance(row.shares, Undefined):
            cells = [_share(share, place == 0 and share.share == best) for place, share in enumerate(row.shares)]
        found.append([name, *cells, f"{row.ratings:,}"])
    return found


def _best(rows: Sequence[Row]) -> float | None:
    return max((row.shares[0].share for row in rows if not isinstance(row.shares, Undefined)), default=None)


def _share(share: Share, is_best: bool) -> str:
    return _bold(share.share, is_best) + _brackets(share.interval, ".3f")


def _bold(share: float, is_best: bool) -> str:
    number = _number(share, ".4f")
    return rf"\textbf{{{number}}}" if is_best else number


def _comparisons(results: Results) -> str:
    caption = (
        "Paired comparisons within the same worker and dialog: mean difference of the scores and probability of "
        r"superiority of the first over the second (0.5 is no difference), with 95\,\% intervals; $p$-values of a "
        "permutation test and of Wilcoxon's signed-rank test, corrected by Holm's method."
    )
    head = ["Models", "Difference", "Superiority", "$p$ (perm.)", "$p$ (rank)"]
    groups = [
        (escape(one.dataset or ALL), [_comparison_row(comparison) for comparison in one.comparisons])
        for one in results.comparisons
        if one.comparisons
    ]
    return table(caption, "comparisons", "lcccc", head, groups)


def _comparison_row(one: Comparison) -> list[str]:
    names = f"{escape(one.first)} -- {escape(one.second)}"
    tests = [_p_value(one.permutation), _p_value(one.signed_rank)]
    return [names, _estimate(one.difference, "+.3f"), _estimate(one.superiority), *tests]


def _ranking(results: Results) -> str:
    caption = r"Ranking of the models by Bradley--Terry strength with ties (0 is the average), with 95\,\% intervals."
    groups = [(escape(one.dataset or ALL), list(_ranks(one))) for one in results.rankings]
    return table(caption, "ranking", "rlc", ["", "Model", "Strength"], groups)


def _ranks(ranking: Ranking) -> Iterator[Sequence[str]]:
    if isinstance(ranking.ranked, Undefined):
        yield ["", escape(f"undefined: {ranking.ranked.reason}"), UNDEFINED]
        return
    for one in ranking.ranked:
        yield [str(one.rank), escape(one.generator), _estimate(one.strength, "+.3f")]


def _agreement(results: Results) -> str:
    caption = (
        r"Agreement of workers on the same reply: Krippendorff's $\alpha$ (ordinal, nominal), Fleiss' $\kappa$ and "
        r"raw agreement, with 95\,\% intervals."
    )
    head = ["", r"$\alpha$ (ordinal)", r"$\alpha$ (nominal)", r"Fleiss' $\kappa$", "Raw"]
    groups = [
        (escape(dataset or ALL), [_agreement_row(row) for row in rows])
        for dataset, rows in groupby(results.agreement, key=lambda row: row.dataset)
    ]
    return table(caption, "agreement", "lcccc", head, groups)


def _agreement_row(row: Agreement) -> list[str]:
    values = (row.alpha_ordinal, row.alpha_nominal, row.fleiss_kappa, row.raw)
    return [escape(row.generator or "all models"), *(_estimate(value, ".2f") for value in values)]


def _estimate(value: Estimate | Undefined, style: str = ".3f") -> str:
    if isinstance(value, Undefined):
        return UNDEFINED
    return f"${value.value:{style}}${_brackets(value.interval, style)}"


def _brackets(interval: Interval | Undefined, style: str) -> str:
    if isinstance(interval, Undefined):
        return ""
    return rf" {{\scriptsize[${_number(interval.low, style)}$, ${_number(interval.high, style)}$]}}"


def _number(value: float, style: str) -> str:
    """Shares without the leading zero, as the paper has them."""
    text = f"{value:{style}}"
    return text[1:] if text.startswith("0.") and style == ".4f" else text


def _p_value(test: PairedTest | Undefined) -> str:
    if isinstance(test, Undefined):
        return UNDEFINED
    p_value = test.corrected_p_value
    return "$<.001$" if p_value < 0.001 else f"${p_value:.3f}$"
