"""Results in words and columns, for the terminal."""

from collections.abc import Iterator, Sequence

from evalplatform.wording import count_of
from generation.metrics.naming import title_of
from hits.analysing.results import Results, Variant
from hits.stats.agreement import Agreement
from hits.stats.bradley_terry import Ranking
from hits.stats.comparing import Comparison, Comparisons, PairedTest
from hits.stats.dependence import Dependence
from hits.stats.estimates import Estimate, Undefined
from hits.stats.metrics import MetricCorrelation
from hits.stats.proportions import Row
from hits.stats.reply_labels import Labels
from hits.stats.true_values import TrueValues
from hits.stats.worker_effect import WorkerEffect

ALL = "all datasets"
HUMAN = "(human reply)"
FEW_LABELS = 5


def describe_results(results: Results) -> Iterator[str]:
    size = results.size
    yield (
        f"{count_of(size.ratings, 'rating')} of models' replies and {size.human_ratings:,} of human ones, in "
        f"{count_of(size.answers, 'answer')} by {count_of(size.workers, 'worker')} to "
        f"{count_of(size.dialogs, 'dialog')}. Brackets hold 95 % intervals."
    )
    for title, lines in _sections(results):
        yield from ("", title, *lines)


def _sections(results: Results) -> Iterator[tuple[str, Iterator[str]]]:
    yield "Shares of the ratings", _table(results.values, results.table)
    for comparisons in results.comparisons:
        yield f"Which is better, {comparisons.dataset or ALL}", _comparisons(comparisons)
    for ranking in results.rankings:
        yield f"Ranking, {ranking.dataset or ALL} (Bradley-Terry with ties)", _ranking(ranking)
    yield "Agreement of workers on the same reply", _agreements(results.agreement)
    yield "True values, as shares of the replies", _true_values(results.values, results.true_values)
    yield "What ratings depend on besides the model", _dependences(results.dependences, results.worker_effect)
    if results.calibration:
        yield "The human reply as a measure, in the same dialogs", _table(results.values, results.calibration)
    if results.labels:
        yield "Predicted emotions and intents", _labels(results.labels)
    if results.metrics:
        yield "Automatic metrics beside ratings", _metrics(results.metrics)
    if results.variants:
        yield "With and without rules of screening", _variants(results.variants)


def _table(values: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    width = max(len(row.generator or HUMAN) for row in rows) + 4  # two for being indented, two before what follows
    yield "  " + " " * width + "".join(f"{value:<24}" for value in values) + "mean score"
    for number, row in enumerate(rows):
        if not number or rows[number - 1].dataset != row.dataset:
            yield f"  {row.dataset or ALL}"
        name = f"    {(row.generator or HUMAN):<{width - 2}}"
        if isinstance(row.shares, Undefined):
            yield f"{name}{describe(row.shares)}"
            continue
        cells = [describe(Estimate(share.share, share.interval), ".4f") for share in row.shares]
        yield name + "".join(f"{cell:<24}" for cell in cells) + describe(row.mean_score)


def _comparisons(table: Comparisons) -> Iterator[str]:
    width = max((len(f"{one.first} - {one.second}") for one in table.comparisons), default=0) + 2
    yield f"  {'':{width}}{'difference':<25}{'superiority':<25}{'permutation':>12}{'signed rank':>12}   (p, corrected)"
    for one in table.comparisons:
        mark = "different" if one.is_different else ""
        yield f"  {f'{one.first} - {one.second}':<{width}}{_numbers(one)}   {mark}".rstrip()
    yield "  Who shares a letter can't be told apart:"
    wide = max(len(one.generator) for one in table.letters) + 2 if table.letters else 0
    for lettered in table.letters:
        yield f"    {lettered.generator:<{wide}}{describe(lettered.mean_score):<8}{lettered.letters}"


def _numbers(one: Comparison) -> str:
    if isinstance(one.difference, Undefined):
        return describe(one.difference)
    tests = "".join(f"{_p_value(test):>12}" for test in (one.permutation, one.signed_rank))
    return f"{describe(one.difference, '+.3f'):<25}{describe(one.superiority):<25}{tests}"


def _p_value(test: PairedTest | Undefined) -> str:
    return "-" if isinstance(test, Undefined) else f"{test.corrected_p_value:.4f}"


def _ranking(ranking: Ranking) -> Iterator[str]:
    if isinstance(ranking.ranked, Undefined):
        yield f"  {describe(ranking.ranked)}"
        return
    width = max(len(one.generator) for one in ranking.ranked) + 2
    for one in ranking.ranked:
        yield f"  {one.rank:>2}  {one.generator:<{width}}{describe(one.strength, '+.3f')}"


def _agreements(rows: Sequence[Agreement]) -> Iterator[str]:
    names = [f"{row.dataset or ALL}{f', {row.generator}' if row.generator else ''}" for row in rows]
    width = max(map(len, names)) + 2
    yield f"  {'':{width}}{'alpha, ordinal':<24}{'interval':<24}{'nominal':<24}{'Fleiss kappa':<24}raw"
    for name, row in zip(names, rows, strict=True):
        if isinstance(row.raw, Undefined):
            yield f"  {name:<{width}}{describe(row.raw)}"
            continue
        cells = (row.alpha_ordinal, row.alpha_interval, row.alpha_nominal, row.fleiss_kappa)
        yield f"  {name:<{width}}" + "".join(f"{_short(cell):<24}" for cell in cells) + describe(row.raw)


def _true_values(values: Sequence[str], found: TrueValues | Undefined) -> Iterator[str]:
    if isinstance(found, Undefined):
        yield f"  {describe(found)}"
        return
    width = max(len(f"{row.dataset}, {row.generator}") for row in found.shares) + 2
    heads = f"{'Dawid-Skene ' + '/'.join(values):<30}{'majority':<24}mean score"
    yield f"  {'':{width}}{heads}"
    for row in found.shares:
        cells = ["  ".join(f"{share:.3f}" for share in shares) for shares in (row.dawid_skene, row.majority)]
        yield f"  {f'{row.dataset}, {row.generator}':<{width}}{cells[0]:<30}{cells[1]:<24}{row.mean_score:.3f}"
    rates = sorted(one.reliability for one in found.workers)
    low, middle, high = (f"{rates[place]:.2f}" for place in (0, len(rates) // 2, -1))
    yield f"  Workers say the true value with a chance of {low} to {high}, {middle} in the middle."


def _dependences(found: Sequence[Dependence], worker: WorkerEffect) -> Iterator[str]:
    for one in found:
        if isinstance(one.corrected_p_value, Undefined):
            yield f"  {one.factor:<10}{describe(one.corrected_p_value)}"
            continue
        effect = describe(one.slope, "+.3f") + f" for {one.unit}"
        if not isinstance(one.levels, Undefined):
            effects = [level.effect.value for level in one.levels]
            effect = f"{min(effects):+.3f} to {max(effects):+.3f} over {len(effects)} levels"
        yield f"  {one.factor:<10}p {one.corrected_p_value:.4f}  {effect}"
    p_value = describe(worker.p_value, ".4f")
    yield f"  {'worker':<10}p {p_value}  deviation between workers {describe(worker.deviation)}"


def _labels(found: Sequence[Labels]) -> Iterator[str]:
    for one in found:
        head = f"  {one.generator or 'all models'}, rated {one.value} ({one.ratings:,}): "
        if isinstance(one.labels, Undefined):
            yield head + describe(one.labels)
        else:
            yield head + ", ".join(f"{label.label} {label.share:.3f}" for label in one.labels[:FEW_LABELS])


def _metrics(found: Sequence[MetricCorrelation]) -> Iterator[str]:
    for one in found:
        pearson, spearman = describe(one.pearson), describe(one.spearman)
        yield f"  {title_of(one.metric)}, {one.replies:,} replies: Pearson {pearson}, Spearman {spearman}"
        yield f"    means of the {len(one.generators)} models: Pearson {describe(one.of_generators)}"


def _variants(found: Sequence[Variant]) -> Iterator[str]:
    width = max(len(one.name) for one in found) + 2
    for one in found:
        order = "" if isinstance(one.ranking.ranked, Undefined) else " > ".join(r.generator for r in one.ranking.ranked)
        alpha = describe(one.agreement.alpha_ordinal)
        yield f"  {one.name:<{width}}{one.size.ratings:>12,} ratings   ordinal alpha {alpha:<24}{order}"


def _short(value: Estimate | Undefined) -> str:
    return "undefined" if isinstance(value, Undefined) else describe(value)


def describe(value: Estimate | Undefined | float, style: str = ".3f") -> str:
    if isinstance(value, Undefined):
        return f"undefined: {value.reason}"
    if isinstance(value, Estimate):
        if isinstance(value.interval, Undefined):
            return f"{value.value:{style}} (no interval: {value.interval.reason})"
        return f"{value.value:{style}} [{value.interval.low:{style}}, {value.interval.high:{style}}]"
    return f"{value:{style}}"
