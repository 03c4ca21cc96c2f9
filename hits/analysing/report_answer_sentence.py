"""Writes the sentences that answer a study's question: who leads, who can't be told apart from the leader, which
differences are sure, and what it would take to separate the rest.

In: the results of a criterion and the study's progress. Out: an `Answer` for all datasets together, if there are
several, and for each. Guaranteed: "better" is said only where the corrected test of the planned outcome, or until a
study is complete the confidence sequence, tells two models apart; what was not compared is never called equal; what was
not planned is called exploratory; labels without an order are never ranked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from evalplatform.wording import count_of
from hits.analysing.pairing_words import describe_pairing, describe_planned_part
from hits.analysing.report import Answer, Kind
from hits.analysing.report_effort import assumptions, what_it_takes
from hits.analysing.report_leaderboard import outcome_in, outcome_kind, outcome_title
from hits.analysing.results import CriterionResults
from hits.analysing.study_progress import Progress
from hits.stats import Comparison, Comparisons, Estimate, Undefined

MOST_NAMES = 4
MOST_PAIRS = 3


def answers(found: CriterionResults, progress: Progress, is_one_of_several: bool = False) -> tuple[Answer, ...]:
    """Return the answers. Those about one of several criteria begin with its name."""
    told = (_answer(table, found, progress) for table in found.comparisons)
    if not is_one_of_several:
        return tuple(told)
    return tuple(replace(one, sentences=(f"{found.title}: {one.sentences[0]}", *one.sentences[1:])) for one in told)


def _answer(table: Comparisons, found: CriterionResults, progress: Progress) -> Answer:
    rated = {row.generator for row in found.tested_table if row.dataset == table.dataset and row.ratings}
    names = [one.generator for one in table.letters if one.generator in rated]
    is_primary = any(pair.is_primary for pair in table.comparisons) or len(found.comparisons) == 1
    if found.is_nominal and names:
        return Answer(table.dataset, (_of_labels(found),), is_primary=is_primary)
    if len(names) < 2:
        return Answer(table.dataset, tuple(_of_one_model(names, table, found)), is_primary=is_primary)
    if table.dataset is None and not is_primary and _is_undefined(table):
        return Answer(None, tuple(_of_nothing_pooled(table, found)), is_primary=False)
    write = _when_complete if progress.has_verdicts else _so_far
    sentences = [*write(names, table, found, progress), *what_it_takes(table, found)]
    if found.table and len(found.datasets) > 1 and table.dataset is not None:
        where = f"In {table.dataset}" if is_primary else f"In {table.dataset} alone, which is exploratory"
        sentences[0] = f"{where}: {sentences[0]}"
    return Answer(table.dataset, tuple(sentences), tuple(_cautions(names, table, found, progress)), is_primary)


# --- Nothing to compare ----------------------------------------------------------------------------------------------


def _of_one_model(names: Sequence[str], table: Comparisons, found: CriterionResults) -> Iterable[str]:
    if not names:
        yield "No model's replies have been rated, so there is nothing to say."
        return
    yield f"{names[0]} has {_level(names[0], table, found)}. No other model was rated, so nothing is compared."


def _of_labels(found: CriterionResults) -> str:
    return (
        f"The values ({_listed(found.values)}) have no order, so nothing is ranked, and no model is better: below "
        "stand each model's shares, and how far raters agree."
    )


def _of_nothing_pooled(table: Comparisons, found: CriterionResults) -> Iterable[str]:
    yield f"All datasets together can't say which model is better: {_reason(table.comparisons[0])}."
    leaders = [(one.dataset, one.letters[0].generator) for one in found.comparisons if one.dataset and one.letters]
    yield f"The highest of each dataset: {_listed(f'{name} in {dataset}' for dataset, name in leaders)}."


# --- A complete study ------------------------------------------------------------------------------------------------


@dataclass
class _Standing:
    """How the other models stand to the leader."""

    behind: list[str] = field(default_factory=list)
    ahead: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    equal: list[str] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    exploratory: list[str] = field(default_factory=list)  # those of all of them whose pair was not planned


def _when_complete(
    names: Sequence[str], table: Comparisons, found: CriterionResults, progress: Progress
) -> Iterable[str]:
    leader, others = names[0], names[1:]
    standing = _Standing()
    for name in others:
        pair = _pair(table.comparisons, leader, name)
        if pair is None or pair.verdict == "not compared":
            standing.not_compared.append(name)
            continue
        group = standing.open if not pair.is_different else standing.behind if pair.better == leader else standing.ahead
        group.append(name)
        if not pair.is_primary and _has_primary(table):
            standing.exploratory.append(name)
    yield _leading_sentence(leader, others, standing, table, found)
    if standing.ahead:
        yield f"{_listed(standing.ahead)} did better where the same people rated both."
    if standing.not_compared and (standing.behind or standing.open):
        yield f"It was not compared with {_listed(standing.not_compared)}."
    if standing.exploratory:
        yield f"Its comparison with {_listed(standing.exploratory)} was not planned, so it is exploratory."
    yield from _other_pairs(leader, names, table)


def _leading_sentence(
    leader: str, others: Sequence[str], standing: _Standing, table: Comparisons, found: CriterionResults
) -> str:
    level = _level(leader, table, found)
    if len(standing.behind) == len(others):
        return f"{leader} leads with {level}: it is better than {_all_of(standing.behind, 'all')}."
    if not standing.behind and not standing.open:
        reason = next((_reason(pair) for pair in table.comparisons if leader in (pair.first, pair.second)), "")
        told = f": {reason}" if reason else ""
        return f"{leader} has {level}, the highest, but it can't be compared with the other models{told}."
    if not standing.behind:
        who = _all_of(standing.open, "any of") if len(standing.open) == len(others) else _listed(standing.open)
        return f"{leader} has {level}, the highest, but can't be told apart from {who}."
    if not standing.open:
        return f"{leader} leads with {level}: it is better than {_listed(standing.behind)}."
    return (
        f"{leader} leads with {level}, but can't be told apart from {_listed(standing.open)}; "
        f"it is better than {_listed(standing.behind)}."
    )


def _other_pairs(leader: str, names: Sequence[str], table: Comparisons) -> Iterable[str]:
    """Say which other differences are sure: the planned ones, or all if none was planned here."""
    is_planned = _has_primary(table)
    pairs = [
        pair
        for pair in table.comparisons
        if leader not in (pair.first, pair.second)
        and {pair.first, pair.second} <= set(names)
        and (pair.is_primary or not is_planned)
        and pair.verdict != "not compared"
    ]
    if not pairs:
        return
    sure = [
        f"{pair.better} over {pair.second if pair.better == pair.first else pair.first}"
        for pair in pairs
        if pair.better
    ]
    if not sure:
        yield (
            "No difference among the others is sure."
            if len(pairs) > 1
            else (f"{pairs[0].first} and {pairs[0].second} can't be told apart.")
        )
    elif len(sure) <= MOST_PAIRS:
        yield f"Also sure: {_listed(sure)}."
    else:
        yield f"Of the {len(pairs):,} differences among the others, {len(sure):,} are sure."


# --- Until a study is complete ---------------------------------------------------------------------------------------


def _so_far(names: Sequence[str], table: Comparisons, found: CriterionResults, progress: Progress) -> Iterable[str]:
    leader = names[0]
    sequences = [one for one in found.sequences if one.dataset == table.dataset]
    standing = _Standing()
    for one in sequences:
        if leader not in (one.first, one.second):
            continue
        name = one.second if one.first == leader else one.first
        if isinstance(one.estimate, Undefined):
            standing.not_compared.append(name)
        elif one.better:
            (standing.behind if one.better == leader else standing.ahead).append(name)
        else:
            (standing.equal if one.decided else standing.open).append(name)
    told = f"{progress.collected:,} of {progress.planned:,} assignments"
    begin, yet = ("In the end", "") if progress.is_complete else ("So far", " yet")
    yield f"{begin}, after {told}, {leader} is ahead with {_level(leader, table, found)}."
    if standing.behind:
        yield f"It is better than {_listed(standing.behind)}, which holds at every look."
    if standing.ahead:
        yield f"{_listed(standing.ahead)} did better where the same people rated both."
    if standing.equal:
        yield f"It is equal to {_listed(standing.equal)} within the planned margin."
    too_early = [one.low.reason for one in sequences if isinstance(one.low, Undefined)]
    if too_early and len(too_early) == len(sequences):
        yield f"Nothing can be decided{yet}: {too_early[0]}."
        return
    if standing.open:
        every = "all" if len(standing.open) == len(names) - 1 else "the"
        yield f"Its lead over {_all_of(standing.open, every)} is not decided{yet}."
    others = [one for one in sequences if leader not in (one.first, one.second)]
    decided = sum(bool(one.decided) for one in others)
    if others:
        pairs = count_of(len(others), "other planned pair")
        yield f"Of {pairs}, {decided or 'none'} {'is' if decided <= 1 else 'are'} decided."
    if found.is_variant:
        yield "Whether models differ is not said under these rules: confidence sequences keep to all screening rules."
    elif not sequences and progress.is_complete:
        yield "Confidence sequences decide here, and this view has none."
    elif not sequences:
        yield "No comparison is planned here, so nothing is said about which model is better."


# --- Cautions and words ----------------------------------------------------------------------------------------------


def _cautions(names: Sequence[str], table: Comparisons, found: CriterionResults, progress: Progress) -> Iterable[str]:
    yield from assumptions(table, found, progress)
    if progress.has_verdicts:  # they are about tests: until then, what is said of sequences says why there are none
        yield from table.warnings
    if told := describe_planned_part(found):
        yield told
    primary = [pair for pair in table.comparisons if pair.is_primary and found.are_raters_known]
    yield from describe_pairing(primary)
    apart = [pair for pair in primary if pair.kind == "unpaired" and not pair.size.side_by_side]
    if apart:
        yield (
            f"{count_of(len(apart), 'pair was', 'pairs were')} rated by different people only, so that what raters "
            "differ by is part of the difference."
        )
    unrated = [name for name in found.generators if name not in names]
    if unrated:
        yield f"{_listed(unrated)} {'has' if len(unrated) == 1 else 'have'} no ratings here."


def _level(name: str, table: Comparisons, found: CriterionResults) -> str:
    """Write a model's outcome: "43.2 % good", "a mean score of 3.42", "a win rate of 61.0 %"."""
    rows = [row for row in found.tested_table if (row.dataset, row.generator) == (table.dataset, name)]
    value = outcome_in(rows[0], table.outcome, found) if rows else Undefined("there is no rating")
    title = outcome_title(table.outcome, found)
    if not isinstance(value, Estimate):
        return f"an undefined {title}"
    if outcome_kind(table.outcome, found) is Kind.SCORE:
        return f"a {title} of {value.value:.2f}"
    if found.is_comparison:
        return f"a {title} of {100 * value.value:.1f} %"
    return f"{100 * value.value:.1f} % {found.values[0]}"


def _pair(pairs: Iterable[Comparison], first: str, second: str) -> Comparison | None:
    return next((pair for pair in pairs if {pair.first, pair.second} == {first, second}), None)


def _has_primary(table: Comparisons) -> bool:
    return any(pair.is_primary for pair in table.comparisons)


def _is_undefined(table: Comparisons) -> bool:
    return all(isinstance(pair.difference, Undefined) for pair in table.comparisons)


def _reason(pair: Comparison) -> str:
    return pair.test.reason if isinstance(pair.test, Undefined) else ""


def _all_of(names: Sequence[str], every: str) -> str:
    return f"{every} {len(names)} other models" if len(names) > MOST_NAMES else _listed(names)


def _listed(names: Iterable[str]) -> str:
    """Join names; of many, name a few and count the rest.

    >>> _listed("ab"), _listed("abcd"), _listed("abcdefg")
    ('a and b', 'a, b, c and d', 'a, b, c and 4 others')
    """
    some = list(names)
    if len(some) > MOST_NAMES:
        some = [*some[: MOST_NAMES - 1], f"{len(some) - MOST_NAMES + 1} others"]
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]])) if some else ""
