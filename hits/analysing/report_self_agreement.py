"""Writes a report's section about how far workers agree with themselves, where dialogs came twice."""

from hits.analysing.report import Column, Head, Kind, Row, Section, Table, count, number
from hits.analysing.results import CriterionResults
from hits.stats import SelfAgreement

LEAD = (
    "Some dialogs came twice in a HIT, with their replies in another order. How far a worker gives the same answer "
    "again, with 95 % intervals: the share of same answers, and Cohen's kappa with quadratic weights (1 is perfect, 0 "
    "is chance). The second answers count nowhere else. Workers can hardly agree further with others than with "
    "themselves."
)
COLUMNS = (
    Column("alike", "same answers"),
    Column("kappa", "weighted kappa"),
    Column("pairs", "answers that came twice"),
    Column("workers", "workers"),
)


def self_agreement(found: CriterionResults) -> Section:
    rows = () if found.self_agreement is None else (_row(found.self_agreement),)
    table = Table("self-agreement", "", "Answers of", COLUMNS, rows)
    return Section("self-agreement", "Agreement of workers with themselves", LEAD, (table,))


def _row(one: SelfAgreement) -> Row:
    measures = (number(Kind.SHARE, one.alike), number(Kind.AGREEMENT, one.kappa))
    return Row(Head(("all workers",)), (*measures, count(one.pairs), count(one.workers)))
