"""Counts how far a study is: assignments published, accepted, submitted, approved and given up, and how fast."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q
from django.db.models.functions import TruncHour

from hits.budgeting import open_places
from hits.models import Assignment, Offering, Publication, Replacement, Submission
from hits.models.assignment import IS_CONFIRMED
from hits.monitoring.assignment_list import ASSIGNMENT_STATES, OPENED

MOST_BINS = 72
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Progress:
    """How many assignments are in which state."""

    published: int  # with replacements
    accepted: int  # the marketplace confirmed that a worker accepted it, or it was handed in
    in_hand: int
    opened: int  # somebody opened our page, and the marketplace has not confirmed the assignment: its id may be made up
    submitted: int
    waiting: int  # neither approved nor rejected
    approved: int
    rejected: int
    returned: int  # given back after it was handed in, because somebody asked for it
    given_up: int
    never_confirmed: int  # how many of the given-up ones the marketplace never confirmed
    taken_over: int
    unconfirmed: int
    without_answers: int
    extra: int  # submitted late, when the HIT's places were filled by others: it counts and is paid, too
    to_come: int  # on offer or in a worker's hands, as far as we know


def count_progress(offering: Offering) -> Progress:
    states = ASSIGNMENT_STATES
    counts = Assignment.objects.filter(offering=offering).aggregate(
        accepted=Count("pk", filter=IS_CONFIRMED | Q(submission__isnull=False)),
        in_hand=Count("pk", filter=states["in hand"]),
        opened=Count("pk", filter=states[OPENED]),
        submitted=Count("submission"),
        waiting=Count("pk", filter=states["waiting"]),
        approved=Count("pk", filter=states["approved"]),
        rejected=Count("pk", filter=states["rejected"]),
        returned=Count("pk", filter=states["returned"]),
        given_up=Count("pk", filter=states["given up"]),
        never_confirmed=Count("pk", filter=states["given up"] & ~IS_CONFIRMED),
        taken_over=Count("pk", filter=states["taken over"]),
        unconfirmed=Count("pk", filter=states["unconfirmed"]),
        extra=Count("submission", filter=Q(place=Assignment.Place.EXTRA)),
        without_answers=Count("pk", filter=Q(submission__isnull=False) & ~Q(submission__problem="")),
    )
    to_come = sum(places.count for places in open_places(offering))
    return Progress(published=_published(offering), to_come=to_come, **counts)


def _published(offering: Offering) -> int:
    ours = Publication.objects.filter(offering=offering).confirmed().current()
    more = Replacement.objects.standing().filter(offering=offering).places_of_hits()
    return sum(max(made, more.get(hit, 0)) for hit, made in ours.values_list("hit", "hit__assignments"))


@dataclass(frozen=True)
class Bin:
    starts_at: datetime
    count: int


@dataclass(frozen=True)
class Pace:
    """Submissions over time, in bins of whole hours without gaps. There is at least one bin."""

    bins: list[Bin]
    hours_per_bin: int

    @property
    def total(self) -> int:
        return sum(one.count for one in self.bins)

    @property
    def ends_at(self) -> datetime:
        return self.bins[-1].starts_at + self.hours_per_bin * HOUR

    @property
    def busiest(self) -> Bin:
        return max(self.bins, key=lambda one: one.count)

    @property
    def most_per_hour(self) -> float:
        return self.busiest.count / self.hours_per_bin

    @property
    def mean_per_hour(self) -> float:
        return self.total / (len(self.bins) * self.hours_per_bin)


def submissions_per_hour(offering: Offering) -> Pace | None:
    """Count submissions over time; None as long as there are none."""
    of_study = Submission.objects.filter(assignment__offering=offering)
    by_hour = dict(
        of_study.annotate(hour=TruncHour("submitted_at"))
        .values("hour")
        .annotate(count=Count("pk"))
        .values_list("hour", "count")
    )
    if not by_hour:
        return None
    first, last = min(by_hour), max(by_hour)
    hours = (last - first) // HOUR + 1
    hours_per_bin = -(-hours // MOST_BINS)
    return Pace(list(_bins(by_hour, first, -(-hours // hours_per_bin), hours_per_bin)), hours_per_bin)


def _bins(by_hour: dict[datetime, int], first: datetime, bins: int, hours_per_bin: int) -> Iterator[Bin]:
    counts = [0] * bins
    for hour, count in by_hour.items():
        counts[(hour - first) // HOUR // hours_per_bin] += count
    for number, count in enumerate(counts):
        yield Bin(first + number * hours_per_bin * HOUR, count)
