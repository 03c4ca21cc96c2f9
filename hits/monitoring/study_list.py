"""Says in a line how far each study is, wherever it is offered, for lists of studies."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum

from hits.models import Offering, Publication, Study, Submission
from hits.models.publication import IS_CONFIRMED, IS_OPEN


@dataclass(frozen=True)
class OfferedStudy:
    """How far a study is on one offering."""

    marketplace: str
    submitted: int
    published: int  # assignments, without replacements
    open_hits: int

    @property
    def waits_for_work(self) -> bool:
        return self.open_hits > 0 and self.submitted < self.published


@dataclass(frozen=True)
class ListedStudy:
    study: Study
    offered: list[OfferedStudy]  # nothing for a study that was never published


def listed_studies(studies: Iterable[Study]) -> list[ListedStudy]:
    """Return how far these studies are, with three queries in all."""
    listed = list(studies)
    offerings = Offering.objects.filter(study__in=listed).order_by("pk")
    published = {row["offering"]: row for row in _published_rows(offerings)}
    handed_in = dict(
        Submission.objects.filter(assignment__offering__in=offerings)
        .order_by()
        .values_list("assignment__offering")
        .annotate(count=Count("pk"))
    )
    by_study: dict[int, list[OfferedStudy]] = {study.pk: [] for study in listed}
    for offering in offerings:
        row, submitted = published.get(offering.pk), handed_in.get(offering.pk, 0)
        if row or submitted:
            places, hits = (row["places"], row["open_hits"]) if row else (0, 0)
            by_study[offering.study_id].append(OfferedStudy(offering.marketplace, submitted, places, hits))
    return [ListedStudy(study, by_study[study.pk]) for study in listed]


def _published_rows(offerings: Iterable[Offering]) -> Iterable[Any]:
    ours = Publication.objects.filter(IS_CONFIRMED, offering__in=offerings).current().order_by()
    return ours.values("offering").annotate(places=Sum("hit__assignments"), open_hits=Count("pk", filter=Q(IS_OPEN)))
