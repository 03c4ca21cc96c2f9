"""Decides who gets no more HITs of a study: workers who have reached the cap, and workers whom a researcher blocked.

What comes in: what workers have done, and what a researcher decided. What goes out: Standing rows, and a crowd that no
longer shows these workers the study's HITs, if it can do that. What is guaranteed: the intent is saved first, and each
run tells the marketplace what it has not heard yet; telling it twice does no harm, and a worker whom it refuses stops
nobody else. A crowd's own block, which harms a worker's record there, is used only if a researcher chose it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import pseudonym
from hits.crowds import IN_THIS_THREAD, Market, Met, carry_out, crowd_of
from hits.errors import MarketRefused
from hits.models import Event, Offering, Standing, Submission

Kind = Standing.Kind


@dataclass
class Limited(Met):
    """What changed in a run."""

    capped: int = 0  # workers who have reached the cap since the last run
    told: int = 0  # changes that this run has told the marketplace


def limit_workers(offering: Offering, market: Market, now: datetime) -> Limited:
    """Cap the workers who have done enough, and bring the marketplace up to date."""
    result = Limited(capped=_cap_busy_workers(offering, now))
    if not crowd_of(offering).abilities.can_keep_out:
        return result  # our own page refuses them
    ours = Standing.objects.filter(offering=offering).select_related("offering__study")
    _tell(ours.to_apply(), lambda one: _apply_standing(one, market), {"applied_at": now}, result)
    _tell(ours.to_lift(), lambda one: _lift_standing(one, market), {"lift_applied_at": now}, result)
    return result


def block(offering: Offering, worker_id: str, kind: str, reason: str, by: User | None, now: datetime) -> None:
    """Block a worker by a researcher's decision. Our page refuses them from now on; the next sync tells the
    marketplace."""
    if kind not in (Kind.SOFT, Kind.HARD) or not reason.strip():
        raise EvalPlatformError("Give a reason for the block, for anyone who looks at it later.")
    if kind == Kind.HARD and not crowd_of(offering).abilities.can_block:
        where = offering.marketplace
        raise EvalPlatformError(f"{where} has no block of its own. Block the worker for this study only.")
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
    """Lift the worker's blocks, and return how many there were. A cap stays."""
    if not reason.strip():
        raise EvalPlatformError("Give a reason for lifting the block, for anyone who looks at it later.")
    with transaction.atomic():
        active = Standing.objects.active().filter(offering=offering, crowd_worker_id=worker_id)
        count = active.exclude(kind=Kind.CAP).update(lifted_at=now, lift_reason=reason.strip(), refusal="")
        text = f"unblocked {pseudonym(offering.study, worker_id)}: {reason.strip()}"
        Event.objects.create(study=offering.study, at=now, actor=by, text=text)
    return count


def _cap_busy_workers(offering: Offering, now: datetime) -> int:
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


def _tell(
    standings: Iterable[Standing], call: Callable[[Standing], None], told: dict[str, datetime], result: Limited
) -> None:
    """Tell the marketplace, and save what it was told or why it refused. The next run tells it again."""

    def save(standing: Standing, _: None) -> None:
        result.told += Standing.objects.filter(pk=standing.pk).update(refusal="", **told)

    def save_refusal(standing: Standing, refused: MarketRefused) -> None:
        Standing.objects.filter(pk=standing.pk).update(refusal=str(refused))

    # A crowd may look up its notes of the offering, and write them.
    for _ in carry_out(list(standings), call, save, result, IN_THIS_THREAD, save_refusal):
        pass


def _apply_standing(standing: Standing, market: Market) -> None:
    if standing.kind == Kind.HARD:
        market.block_worker(standing.crowd_worker_id, standing.reason)
    else:
        market.keep_out(standing.offering, standing.crowd_worker_id)


def _lift_standing(standing: Standing, market: Market) -> None:
    who = standing.crowd_worker_id
    others = Standing.objects.active().filter(offering=standing.offering, crowd_worker_id=who)
    if standing.kind == Kind.HARD:
        market.unblock_worker(who, standing.lift_reason)
    elif not others.exclude(kind=Kind.HARD).exists():
        market.let_in(standing.offering, who, standing.lift_reason)
