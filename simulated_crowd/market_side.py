"""Use the local marketplace for a simulated crowd: its accounts, the HITs on offer, and what workers did before.

This calls the marketplace's own functions, in this database, even if our pages are reached over HTTP: only these
functions accept a time that is not now, and simulating a HIT of a quarter of an hour must not take that long.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Count

from evalplatform.errors import EvalPlatformError
from hits.crowds import has_real_raters
from hits.models import Assignment, Publication, SharedBlock, Study, offering_for
from localturk.lifecycle import settle
from localturk.models import TurkHit, WorkerAccount
from simulated_crowd.people import SimulatedWorker
from simulated_crowd.scheduling import Opening, Past

LOCAL = "local"  # the usual crowd's emulation that runs here


def ensure_accounts(workers: Sequence[SimulatedWorker]) -> dict[str, WorkerAccount]:
    WorkerAccount.objects.bulk_create((_make_account(worker) for worker in workers), ignore_conflicts=True)
    ids = [worker.worker_id for worker in workers]
    return {account.worker_id: account for account in WorkerAccount.objects.filter(worker_id__in=ids)}


def _make_account(worker: SimulatedWorker) -> WorkerAccount:
    home = worker.home
    return WorkerAccount(
        worker_id=worker.worker_id,
        name=f"Simulated {worker.number + 1}",
        country=home.country,
        approved_count=home.approved_count,
        rejected_count=home.rejected_count,
    )


def find_openings(study: Study, hit_count: int | None, now: datetime) -> list[Opening]:
    """Return the study's HITs that can be accepted now, by number. With `hit_count`, look at so many of the first
    only."""
    settle(now)
    offering = offering_for(study, LOCAL)
    published = Publication.objects.filter(offering=offering).there().current()
    if has_real_raters(offering):
        raise EvalPlatformError(
            f"People on the local marketplace were declared the raters of {study}: a simulated crowd would spoil their "
            "results. Let it work on a copy of the study."
        )
    if not published.exists():
        raise EvalPlatformError(f"No HIT of {study} is on the local marketplace: run publish_hits {study} first.")
    dialog_counts = dict(study.hits.annotate(count=Count("items")).values_list("pk", "count"))
    on_market = TurkHit.objects.filter(hit_id__in=list(published.values_list("crowd_hit_id", flat=True)))
    if not on_market.exists():
        raise EvalPlatformError(
            f"The HITs of {study} are on a local marketplace with another database (MTURK_LOCAL_URL), but a simulated "
            "crowd works on the one in this database: publish without MTURK_LOCAL_URL."
        )
    free = {hit.hit_id: hit.available_count for hit in on_market.assignable()}
    shared = defaultdict(set)
    for block, other in SharedBlock.objects.filter(study=study).values_list("block", "other"):
        shared[block].add(other)
    return [
        Opening(
            one.crowd_hit_id,
            one.hit_id,
            one.hit.number,
            one.hit.block,
            dialog_counts[one.hit_id],
            free[one.crowd_hit_id],
            frozenset(shared[one.hit.block]),
        )
        for one in published.select_related("hit").order_by("hit__number")[:hit_count]
        if one.crowd_hit_id in free
    ]


def pasts_of(study: Study, workers: Sequence[SimulatedWorker], now: datetime, time_limit: timedelta) -> dict[str, Past]:
    pasts = {worker.worker_id: Past() for worker in workers}
    met = Assignment.objects.filter(offering=offering_for(study, LOCAL), crowd_worker_id__in=list(pasts))
    for worker_id, block in met.values_list("crowd_worker_id", "hit__block"):
        pasts[worker_id].blocks.add(block)
    counting = met.confirmed().in_hand_or_handed_in(now - time_limit)
    for worker_id in counting.values_list("crowd_worker_id", flat=True):
        pasts[worker_id].taken += 1
    return pasts
