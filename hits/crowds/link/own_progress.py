"""Counts what an invited rater has done, has in hand, and has left, for their own page."""

from dataclasses import dataclass
from datetime import datetime

from hits.crowds.link.taking_part import Part, begun_by, count_left, part_of
from hits.models import Answer, Assignment, HitItem, Invitation


@dataclass(frozen=True)
class OwnProgress:
    part: Part
    dialogs_done: int  # in HITs that were handed in
    dialogs_begun: int  # of the HIT in hand: those with something saved
    dialogs_in_hand: int  # all of that HIT
    left: int  # HITs that they may still begin


def own_progress(invitation: Invitation, now: datetime) -> OwnProgress:
    offering, worker_id = invitation.offering, invitation.worker_id
    part = part_of(offering, worker_id, now)
    handed_in = Assignment.objects.filter(offering=offering, crowd_worker_id=worker_id, submitted_at__isnull=False)
    in_hand = begun_by(offering, worker_id).order_by("-pk").first()
    return OwnProgress(
        part,
        dialogs_done=HitItem.objects.filter(hit__in=handed_in.values("hit")).count(),
        dialogs_begun=Answer.objects.filter(assignment=in_hand).count() if in_hand else 0,
        dialogs_in_hand=HitItem.objects.filter(hit=in_hand.hit_id).count() if in_hand else 0,
        left=count_left(offering, worker_id, part, now),
    )
