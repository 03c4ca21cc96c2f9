"""Room 4: what a worker's page may see and save.

In: who opens which HIT, and what they say. Out: Assignment and Answer rows. Guaranteed: the same opening again is the
same assignment, no worker meets the same dialogs twice, and every answer keeps the order in which its cards stood.
(The page itself and its endpoints come with the worker's page.)
"""

from datetime import datetime
from typing import Any

from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.batching import card_order
from hits.models import Answer, Assignment, Hit, HitItem


class DialogsMetBefore(EvalPlatformError):
    """The worker has opened another HIT with the same dialogs."""


@transaction.atomic
def open_assignment(hit: Hit, environment: str, assignment_id: str, worker_id: str, now: datetime) -> Assignment:
    # Locked by the study: openings of one block, which is several HITs, are counted one after the other.
    type(hit.study).objects.select_for_update().get(pk=hit.study_id)
    of_worker = Assignment.objects.filter(environment=environment, mturk_worker_id=worker_id)
    known = of_worker.filter(mturk_assignment_id=assignment_id).first()
    if known is not None:
        return known
    of_block = Assignment.objects.filter(environment=environment, hit__study=hit.study_id, hit__block=hit.block)
    if of_block.filter(mturk_worker_id=worker_id).exclude(hit=hit).exists():
        raise DialogsMetBefore("You have rated these conversations in another HIT already. Thank you!")
    return Assignment.objects.create(
        hit=hit,
        environment=environment,
        mturk_assignment_id=assignment_id,
        mturk_worker_id=worker_id,
        turn=of_block.count(),
        opened_at=now,
    )


def order_for(assignment: Assignment, item: HitItem) -> list[int]:
    """In which order this worker sees the item's cards."""
    dialog, seed = item.dialog, item.hit.study.design["seed"]
    return card_order(seed, dialog.dataset.name, dialog.external_id, len(item.cards), assignment.turn)


def save_answer(assignment: Assignment, item: HitItem, value: dict[str, Any], now: datetime) -> Answer:
    """The last save counts."""
    answer, _ = Answer.objects.update_or_create(
        assignment=assignment,
        item=item,
        defaults={"value": value, "saved_at": now, "card_order": order_for(assignment, item)},
    )
    return answer
