"""Lists what is due to each worker where no money goes through the crowd, for whoever pays them elsewhere."""

from collections.abc import Iterator

from django.db.models import Count, Q, Sum

from hits.crowds import crowd_of, is_unpaid_rehearsal
from hits.models import Entrant, Offering, Payment

DUE_COLUMNS = (
    *("link", "id_there", "worker", "assignments"),
    *("reward_cents", "bonus_cents", "total_cents", "currency", "due"),
)


NOTHING_DUE = "rehearsal: nothing is due"  # the amounts are what real work would have earned


def is_rehearsed(offering: Offering) -> bool:
    """Return whether the amounts on the lists are owed to nobody."""
    return is_unpaid_rehearsal(crowd_of(offering), offering.environment)


def due_rows(offering: Offering) -> Iterator[tuple[object, ...]]:
    """Yield a line for each worker, by their ids, with DUE_COLUMNS."""
    known = {one.worker_id: one for one in Entrant.objects.filter(link__offering=offering).select_related("link")}
    due_note = NOTHING_DUE if is_rehearsed(offering) else ""
    is_reward = Q(kind=Payment.Kind.REWARD)
    worker = "submission__assignment__crowd_worker_id"
    due = Payment.objects.filter(submission__assignment__offering=offering, cancelled_at=None).order_by().values(worker)
    sums = due.annotate(
        count=Count("submission", distinct=True), rewards=Sum("cents", filter=is_reward), total=Sum("cents")
    )
    for row in sums.order_by(worker):
        one = known.get(row[worker])
        rewards = row["rewards"] or 0
        yield (
            *(one.link.label if one else "", one.id_there if one else "", row[worker], row["count"]),
            *(rewards, row["total"] - rewards, row["total"], offering.currency, due_note),
        )
