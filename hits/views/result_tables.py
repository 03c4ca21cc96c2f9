"""The sections of the results page in the order in which they are read, and the variants of the screening."""

from collections.abc import Callable, Sequence

from hits.views.result_answers import agreement, comparisons, ranking, shares
from hits.views.result_circumstances import calibration, dependences, labels, metrics, true_values
from hits.views.result_shapes import Found, Section, Table
from hits.views.result_words import counted, estimated, undefined

Make = Callable[[Found], Section | None]

WITH_EVERY_VARIANT: list[Make] = [shares, ranking, agreement]
BY_ALL_RULES: list[Make] = [
    *(shares, comparisons, ranking, agreement),
    *(calibration, dependences, true_values, labels, metrics),
]


def result_sections(found: Found, variant: Found | None = None) -> list[Section]:
    """With a variant, its table, ranking and agreement instead."""
    if variant:
        shown = {**found, **variant, "rankings": [variant["ranking"]], "agreement": [variant["agreement"]]}
        return [section for make in WITH_EVERY_VARIANT if (section := make(shown))]
    return [section for make in BY_ALL_RULES if (section := make(found))]


def variant_table(variants: Sequence[Found]) -> Table:
    """With and without each rule, side by side."""
    columns = ["order", "alpha, ordinal", "ratings", "workers"]
    rows = [
        [
            one["name"],
            undefined(one["ranking"]["ranked"])
            or " > ".join(ranked["generator"] for ranked in one["ranking"]["ranked"]),
            estimated(one["agreement"]["alpha_ordinal"]),
            counted(one["size"]["ratings"]),
            counted(one["size"]["workers"]),
        ]
        for one in variants
    ]
    return Table("", "Screening", columns, rows)
