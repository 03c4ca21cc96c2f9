"""Finds the whole HITs: those that confidence sequences rest on, until a study is complete and in its own rule.

A HIT is whole when it has all its assignments, or can get no more. A look uses the longest run of whole HITs from the
first one on, in the frozen random order: so which dialogs it sees can't depend on how they were rated, nor on who was
the first to hand in. This file needs no pandas, since pages and every scheduled sync ask it.
"""

from dataclasses import dataclass

from django.db.models import Count

from hits.models import Offering, Publication, Submission


@dataclass(frozen=True)
class WholeHits:
    """The HITs that a look may use. `is_everything` if there is no other published HIT."""

    numbers: tuple[int, ...]
    is_everything: bool

    @property
    def until(self) -> int | None:
        """The number of the last one, -1 before the first; None if all published HITs are whole."""
        return None if self.is_everything else max(self.numbers, default=-1)


def find_whole_hits(offering: Offering) -> WholeHits:
    ours = Publication.objects.filter(offering=offering, hit__added_for=None)
    published = ours.confirmed().current().order_by("hit__number")
    counted = dict(
        Submission.objects.filter(assignment__offering=offering)
        .with_answers()
        .order_by()
        .values_list("assignment__hit")
        .annotate(count=Count("pk"))
    )
    rows = list(published.values_list("hit", "hit__number", "hit__assignments", "closed_at", "gone_at"))
    numbers = []
    for hit, number, wanted, closed_at, gone_at in rows:
        if counted.get(hit, 0) < wanted and closed_at is None and gone_at is None:
            break
        numbers.append(number)
    return WholeHits(tuple(numbers), is_everything=len(numbers) == len(rows))


def assignments_beyond(offering: Offering, until: int) -> int:
    """Count what is collected of later HITs than this one."""
    ours = Submission.objects.filter(assignment__offering=offering, assignment__hit__added_for=None).with_answers()
    return ours.filter(assignment__hit__number__gt=until).count()
