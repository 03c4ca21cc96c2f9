"""Which model answers best, and how sure that is: the first sections of the results page."""

from collections.abc import Iterator, Sequence

from hits.views.result_shapes import Found, Section, Table, tables_by_dataset
from hits.views.result_words import ALL, counted, estimated, p_value, undefined, verdict


def shares(found: Found) -> Section:
    lead = (
        "Which share of each model's replies was rated so. Whiskers and brackets are 95 % intervals; they respect that "
        "ratings of one dialog, and of one worker, belong together."
    )
    rows = [row for row in found["table"] if row["dataset"] or len(found["datasets"]) > 1]
    return Section("shares", "How replies were rated", lead, tables_by_dataset(rows, found["values"]))


def comparisons(found: Found) -> Section | None:
    if len(found["generators"]) < 2:
        return None
    lead = (
        "Within the same worker and dialog. The difference is of mean scores, the first model less the second; "
        "superiority is the chance that the first is rated higher, ties counting half. The permutation test decides. "
        "P-values are corrected by Holm. Models that share a letter can't be told apart."
    )
    columns = ["difference", "superiority", "permutation, p", "signed rank, p", "answers", "verdict"]
    tables = [
        Table(one["dataset"] or ALL, "Pair", columns, [_pair(pair) for pair in one["comparisons"]])
        for one in found["comparisons"]
    ]
    return Section("comparisons", "Which model is better", lead, tables, list(_letters(found["comparisons"])))


def _pair(pair: Found) -> list[str]:
    return [
        f"{pair['first']} and {pair['second']}",
        estimated(pair["difference"], "+.3f"),
        estimated(pair["superiority"]),
        p_value(pair["permutation"]),
        p_value(pair["signed_rank"]),
        counted(pair["answers"]),
        verdict(pair),
    ]


def _letters(comparisons: Sequence[Found]) -> Iterator[str]:
    for one in comparisons:
        ranked = ", ".join(f"{lettered['generator']} ({lettered['letters']})" for lettered in one["letters"])
        yield f"{one['dataset'] or ALL}, the best first: {ranked}"


def ranking(found: Found) -> Section | None:
    if len(found["generators"]) < 2:
        return None
    lead = (
        "Bradley and Terry's model with ties, from the areas that the cards were put in. Strength is on the scale of "
        "log-odds, and 0 is the average."
    )
    tables, notes = [], []
    for one in found["rankings"]:
        name = one["dataset"] or ALL
        if reason := undefined(one["ranked"]):
            notes.append(f"{name}: {reason}.")
            continue
        rows = [
            [f"{ranked['rank']}. {ranked['generator']}", estimated(ranked["strength"], "+.3f")]
            for ranked in one["ranked"]
        ]
        tables.append(Table(f"{name}, {one['comparisons']:,} comparisons", "Model", ["strength"], rows))
    return Section("ranking", "Ranking", lead, tables, notes)


_AGREEMENTS = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_interval": "alpha, interval",
    "alpha_nominal": "alpha, nominal",
    "fleiss_kappa": "Fleiss' kappa",
    "raw": "raw agreement",
}


def agreement(found: Found) -> Section:
    lead = (
        "How far workers agree on the same reply: Krippendorff's alpha (1 is perfect, 0 is chance), Fleiss' kappa, and "
        "the share of pairs that say the same."
    )
    rows = [
        [_scope(one), *(estimated(one[name]) for name in _AGREEMENTS), counted(one["replies"])]
        for one in found["agreement"]
    ]
    columns = [*_AGREEMENTS.values(), "replies rated twice"]
    return Section("agreement", "Agreement of workers", lead, [Table("", "Replies of", columns, rows)])


def _scope(one: Found) -> str:
    return f"{one['dataset'] or ALL}, {one['generator']}" if one["generator"] else one["dataset"] or ALL
