"""Writes what a report says where several offerings are put together: each of them beside the others, and a caution.

In: results of a pool. Out: a section, and a sentence that stands with every answer. Guaranteed: nothing here is called
planned, and nothing is tested.
"""

from collections.abc import Iterator
from dataclasses import replace

from evalplatform.wording import count_of
from hits.analysing.report import Answer, Cell, Column, Head, Kind, Row, Section, Table, count, number
from hits.analysing.results import CriterionResults, OfferingPart, Results
from hits.models import split_marketplace_name
from hits.stats import LevelDifference, Slice

NOT_RATED = "it was not rated there"
OF_PARTS = {
    "assignments": "assignments",
    "kept_assignments": "of them kept",
    "workers": "workers",
    "dialogs": "dialogs",
    "ratings": "ratings",
}


def describe_pool(results: Results) -> str:
    """Say how much came from which offering; "" if the results are about one."""
    told = [f"{count_of(one.assignments, 'assignment')} from {one.offering}" for one in results.offerings]
    return f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else "".join(told)


def as_exploratory(answer: Answer, results: Results) -> Answer:
    """Let an answer say in its first sentence that it is about several offerings, and why that is exploratory."""
    first, *others = answer.sentences
    caution = (
        f"{len(results.offerings)} offerings are put together here ({describe_pool(results)}), which the study's plan "
        "does not say: the outcome is the planned one, but what is told apart here is exploratory. Each offering has "
        "results of its own."
    )
    begun = f"All {len(results.offerings)} offerings together, which is exploratory: {first}"
    return replace(answer, sentences=(begun, *others), cautions=(*answer.cautions, caution))


def describe_identity(results: Results) -> str:
    """Say what is not known about workers of several crowds; "" if all offerings are on one."""
    crowds = dict.fromkeys(split_marketplace_name(one.offering)[0] for one in results.offerings)
    if len(crowds) < 2:
        return ""
    return (
        f"Workers are counted on each crowd ({', '.join(crowds)}): whether a worker of one is the same person as a "
        "worker of another can't be known, so somebody may be counted twice and may have met a dialog twice."
    )


def offerings(found: CriterionResults, results: Results) -> Section:
    what = "mean score" if found.is_by_mean else f"share of {found.values[0] if found.values else 'the best value'}"
    lead = (
        f"Exploratory: the {what} of each model in each offering, with 95 % intervals, and how far the offerings are "
        "apart. Nobody was assigned to an offering by lot, and nothing here is tested or corrected: differences may "
        "come from who rated, when, or what they were told and paid."
    )
    tables = (
        _parts(results.offerings),
        *_shares(found, results.offerings, what),
        *_differences(found, what),
    )
    notes = ["Each offering is screened by itself: no rule compares workers of different offerings."]
    if identity := describe_identity(results):
        notes.append(identity)
    return Section("offerings", "By offering", lead, tables, tuple(notes))


def _parts(parts: tuple[OfferingPart, ...]) -> Table:
    columns = tuple(Column(key, title) for key, title in OF_PARTS.items())
    rows = tuple(Row(Head((one.offering,)), tuple(count(getattr(one, key)) for key in OF_PARTS)) for one in parts)
    return Table("parts", "What each offering brought", "Offering", columns, rows)


def _shares(found: CriterionResults, parts: tuple[OfferingPart, ...], what: str) -> Iterator[Table]:
    columns = tuple(Column("outcome", one.offering) for one in parts)
    for slices in found.by_offering:
        cells = {(row.generator, row.level): _share(row, found.is_by_mean) for row in slices.rows}
        nothing = Cell(Kind.SHARE, None, undefined=NOT_RATED)
        yield Table(
            "by-offering",
            f"{what[:1].upper()}{what[1:]} and number of ratings, by offering",
            "Model",
            columns,
            tuple(
                Row(Head((name,)), tuple(cells.get((name, one.offering), nothing) for one in parts))
                for name in dict.fromkeys(row.generator for row in slices.rows)
            ),
        )


def _share(row: Slice, is_by_mean: bool) -> Cell:
    kind, value = (Kind.SCORE, row.mean_score) if is_by_mean else (Kind.SHARE, row.share)
    return number(kind, value, after=f", n {row.ratings:,}")


def _differences(found: CriterionResults, what: str) -> Iterator[Table]:
    by_pair: dict[tuple[str, str], list[LevelDifference]] = {}
    for one in found.offering_differences:
        by_pair.setdefault((one.first, one.second), []).append(one)
    columns = (Column("difference", "difference"), Column("dialogs", "dialogs rated in both"))
    for (first, second), rows in by_pair.items():
        made = tuple(
            Row(Head((one.generator,)), (number(Kind.DIFFERENCE, one.difference), count(one.dialogs))) for one in rows
        )
        yield Table("differences", f"{what[:1].upper()}{what[1:]}, {first} minus {second}", "Model", columns, made)
