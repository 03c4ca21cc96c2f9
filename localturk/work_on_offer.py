"""List the HITs that a worker is offered, and find the next one of a type."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from localturk.lifecycle import settle
from localturk.models import HitType, TurkAssignment, TurkHit, WorkerAccount
from localturk.models.turk_hit import TurkHitQuerySet
from localturk.qualifying import Standing, guards_discovery, standing_of
from localturk.refusals import Refusal, blocked, unqualified


@dataclass(frozen=True)
class Offer:
    """The HITs of one type. `refusal` says why this worker can't accept any; `can_preview` whether they may see one."""

    hit_type: HitType
    hit_count: int
    refusal: Refusal | None
    can_preview: bool


def offers(worker: WorkerAccount, now: datetime, qualified_only: bool = True) -> list[Offer]:
    """Return the offers that the worker may accept, the newest type first. Without `qualified_only`, return all offers
    that the worker may see.

    This takes two counts by type, whatever the number of HITs: those on offer, minus those that the worker holds or
    did.
    """
    settle(now)
    on_offer = _count_by_type(TurkHit.objects.assignable())
    met = TurkHit.objects.assignable().filter(pk__in=TurkAssignment.objects.live().filter(worker=worker).values("hit"))
    for hit_type_pk, count in _count_by_type(met).items():
        on_offer[hit_type_pk] -= count
    standing, block = standing_of(worker), blocked(worker)
    found = HitType.objects.filter(pk__in=[pk for pk, count in on_offer.items() if count]).order_by("-pk")
    made = [_make_offer(hit_type, on_offer[hit_type.pk], standing, block) for hit_type in found]
    return [offer for offer in made if offer is not None and not (qualified_only and offer.refusal)]


def next_hit(worker: WorkerAccount, hit_type: HitType) -> TurkHit | None:
    """Return the oldest HIT of a type that the worker neither holds nor did."""
    met = TurkAssignment.objects.live().filter(worker=worker).values("hit")
    return TurkHit.objects.assignable().filter(hit_type=hit_type).exclude(pk__in=met).order_by("pk").first()


def _count_by_type(hits: TurkHitQuerySet) -> dict[int, int]:
    return dict(hits.order_by().values_list("hit_type").annotate(count=Count("pk")))


def _make_offer(hit_type: HitType, hit_count: int, standing: Standing, block: Refusal | None) -> Offer | None:
    if standing.first_unmet(filter(guards_discovery, hit_type.qualification_requirements)):
        return None
    is_previewed = unqualified(standing, hit_type, preview_only=True) is None
    return Offer(hit_type, hit_count, block or unqualified(standing, hit_type), is_previewed)
