"""Writes a report's section about how one criterion goes together with the others: the halo."""

from collections.abc import Mapping

from hits.analysing.report import Column, Head, Kind, Row, Section, Table, count, number
from hits.analysing.results import CriterionResults

LEAD = (
    "Pearson's correlation of the same worker's ratings of the same reply on this criterion and on each other one, "
    "with 95 % intervals. Near 1, workers did not tell the two apart, or replies that are good in one are good in the "
    "other. The column “within models” takes out that some models are better than others."
)
COLUMNS = (
    Column("pearson", "correlation"),
    Column("within", "within models"),
    Column("replies", "ratings on both"),
)


def halo(found: CriterionResults, titles: Mapping[str, str]) -> Section:
    rows = tuple(
        Row(
            Head((titles[one.other],)),
            (number(Kind.SCORE, one.pearson), number(Kind.SCORE, one.within), count(one.replies)),
        )
        for one in found.halo
    )
    table = Table("halo", "Correlation with other criteria", "Criterion", COLUMNS, rows)
    return Section("halo", "How criteria go together", LEAD, (table,))
