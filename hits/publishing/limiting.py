"""Who gets no more HITs of a study.

In: what workers have done, and what a researcher decided. Out: Standing rows, and a crowd that no longer shows them the
study's HITs, where it can do that. Guaranteed: the intent is saved first, and each run tells the marketplace what it
has not heard yet; telling it twice does no harm. A crowd's own block, which hurts a worker's standing there, is used
only where a researcher chose it.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import pseudonym
from hits.crowds import Market, crowd_of
from hits.models import Event, Offering, Standing, Submission

Kind = Standing.Kind


@dataclass
class Limited:
    capped: int = 0  # workers who have reached the cap since the last run
    told: int = 0  # changes that the marketplace has heard of now


def limit_workers(offering: Offering, market: Market, now: datetime) -> Limited:
    """Caps who has done enough, and brings the marketplace up to date."""
    result = Limited(capped=_cap(offering, now))
    if not crowd_of(offering).abilities.can_keep_out:
        return result  # our own page refuses them
    ours = Standing.objects.filter(offering=offering).select_related("offering__study")
    for standing in ours.filter(applied_at=None, lifted_at=None):
        _apply(standing, market, now)
        result.told += 1
    lifted = ours.filter(lift_applied_at=None)
    for standing in lifted.exclude(applied_at=None).exclude(lifted_at=None):
        _lift(standing, market, now)
        result.told += 1
    return result


def block(offering: Offering, worker_id: str, kind: str, reason: str, by: User | None, now: datetime) -> None:
    """By hand, with a reason; the next sync tells the marketplace, and our own page refuses from now on."""
    if kind not in (Kind.SOFT, Kind.HARD) or not reason.strip():
        raise EvalPlatformError("A block needs a reason, for whoever looks at it later.")
    if kind == Kind.HARD and not crowd_of(offering).abilities.can_block:
        raise EvalPlatformError(f"{offering.place} has no block of its own. Block the worker for this study only.")
    with transaction.atomic():
        Standing.objects.get_or_create(
            offering=offering,
            crowd_worker_id=worker_id,
            kind=kind,
            lifted_at=None,
            defaults={"reason": reason.strip(), "made_by": by, "made_at": now},
        )
        name = pseudonym(offering.study, worker_id)
        Event.objects.create(study=offering.study, at=now, actor=by, text=f"{kind} of {name}: {reason.strip()}")


def unblock(offering: Offering, worker_id: str, reason: str, by: User | None, now: datetime) -> int:
    if not reason.strip():
        raise EvalPlatformError("Lifting a block needs a reason, for whoever looks at it later.")
    with transaction.atomic():
        active = Standing.objects.active().filter(offering=offering, crowd_worker_id=worker_id)
        count = active.exclude(kind=Kind.CAP).update(lifted_at=now, lift_reason=reason.strip())
        text = f"unblocked {pseudonym(offering.study, worker_id)}: {reason.strip()}"
        Event.objects.create(study=offering.study, at=now, actor=by, text=text)
    return count


def _cap(offering: Offering, now: datetime) -> int:
    limit = offering.study.parsed_design.crowd.max_hits_per_worker
    done = Submission.objects.filter(assignment__offering=offering).busiest_workers(limit)
    capped = set(
        Standing.objects.active().filter(offering=offering, kind=Kind.CAP).values_list("crowd_worker_id", flat=True)
    )
    new = [
        Standing(
            offering=offering,
            crowd_worker_id=worker_id,
            kind=Kind.CAP,
            reason=f"{count_of(count, 'HIT')} done, and the study allows {limit}",
            made_at=now,
        )
        for worker_id, count in done.items()
        if worker_id not in capped
    ]
    Standing.objects.bulk_create(new, ignore_conflicts=True)
    return len(new)


def _apply(standing: Standing, market: Market, now: datetime) -> None:
    if standing.kind == Kind.HARD:
        market.block_worker(standing.crowd_worker_id, standing.reason)
    else:
        market.keep_out(standing.offering, standing.crowd_worker_id)
    Standing.objects.filter(pk=standing.pk).update(applied_at=now)


def _lift(standing: Standing, market: Market, now: datetime) -> None:
    who = standing.crowd_worker_id
    others = Standing.objects.active().filter(offering=standing.offering, crowd_worker_id=who)
    if standing.kind == Kind.HARD:
        market.unblock_worker(who, standing.lift_reason)
    elif not others.exclude(kind=Kind.HARD).exists():
        market.let_in(standing.offering, who, standing.lift_reason)
    Standing.objects.filter(pk=standing.pk).update(lift_applied_at=now)
