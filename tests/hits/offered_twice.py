"""A study that was offered in three places, made as rows: rehearsed here, a pilot by links, and Prolific."""

import random
from datetime import timedelta

from hits.models import Publication, Study, Submission, offering_for
from simulated_crowd.filling import Done, Judge, fill
from tests.hits.rated import BEGUN_AT, judge_carefully

PEOPLE, REHEARSED = Submission.Origin.PEOPLE, Submission.Origin.REHEARSAL
HERE, PILOT, MAIN = "local", "link.live", "prolific.production"


def offer_twice(study: Study) -> None:
    """A rehearsal, a pilot of two HITs by links, then all six on Prolific; the same ids did the work everywhere."""
    rate_on(study, HERE, workers=2, hits=1, origin=REHEARSED, is_open=True)
    rate_on(study, PILOT, workers=3, hits=2, origin=PEOPLE, judge=lambda card, rng: rng.choice(["good", "okay"]))
    rate_on(study, MAIN, workers=4, hits=6, origin=PEOPLE)


def rate_on(
    study: Study,
    marketplace: str,
    workers: int,
    hits: int,
    origin: str,
    judge: Judge | None = None,
    is_open: bool = False,
) -> None:
    """So many workers rate each of the first HITs in one offering, which has no HITs on offer afterwards unless it
    `is_open`."""
    offering = offering_for(study, marketplace)
    work = []
    for hit in study.hits.prefetch_related("items")[:hits]:
        Publication.objects.create(
            hit=hit,
            offering=offering,
            crowd_hit_id=f"{marketplace}-{hit.pk}",
            intended_at=BEGUN_AT,
            published_at=BEGUN_AT,
            closed_at=None if is_open else BEGUN_AT,
        )
        for number in range(workers):
            begun_at = BEGUN_AT + timedelta(minutes=20 * hit.number + number)
            key = f"{marketplace}-{hit.pk}-{number}"
            work.append(Done(hit, f"WORKER{number}", key, number, begun_at, judge or judge_carefully()))
    fill(work, random.Random(marketplace), marketplace)
    Submission.objects.filter(assignment__offering=offering).update(origin=origin)
