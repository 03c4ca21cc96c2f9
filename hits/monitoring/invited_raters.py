"""Lists people who were invited by name: how far each is, who may be reminded, when they were last there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q

from hits.collecting import counted_minutes
from hits.crowds import left_for_each
from hits.models import Answer, Assignment, Invitation, Letter, Offering

# Nearly what `begun_by` says of one worker: of those who only looked and lost the place, it does not ask whether the
# place is free again.
_IN_HAND = Q(submitted_at=None, taken_over_at=None) & (~Q(place=Assignment.Place.FREED) | Q(has_answers=True))


@dataclass(frozen=True)
class InvitedRater:
    invitation: Invitation
    done: int  # HITs handed in
    in_hand: int
    left: int  # further HITs that they may begin
    minutes: float  # active ones, of all their work
    agreed_at: datetime | None
    active_at: datetime | None  # when they last opened, saved or handed in something
    letter: Letter | None  # the last one, sent or not
    written_at: datetime | None  # when the last one was sent

    @property
    def state(self) -> str:
        if self.invitation.revoked_at is not None:
            return "revoked"
        if self.is_finished:
            return "finished"
        if self.agreed_at is not None:
            return "agreed"
        return "opened" if self.invitation.opened_at is not None else "invited"

    @property
    def is_finished(self) -> bool:
        """True if they have done something, and nothing is in hand or left for them."""
        return bool(self.done) and not self.in_hand and not self.left

    @property
    def may_be_reminded(self) -> bool:
        """True if a reminder would make sense: there is something that they can do."""
        return self.invitation.revoked_at is None and bool(self.in_hand or self.left)


def list_invited(offering: Offering) -> list[InvitedRater]:
    """List all raters of the offering who were invited by name, in the order of the invitations."""
    return rows_of(offering, list(Invitation.objects.filter(offering=offering)))


def rows_of(offering: Offering, invitations: Sequence[Invitation]) -> list[InvitedRater]:
    """Return a row for each of these invitations. The number of queries does not depend on how many there are."""
    workers = [one.worker_id for one in invitations]
    ours = Assignment.objects.filter(offering=offering, crowd_worker_id__in=workers)
    has_answers = Exists(Answer.objects.filter(assignment=OuterRef("pk")))
    counts: dict[str, dict[str, Any]] = {
        row["crowd_worker_id"]: dict(row)
        for row in ours.order_by()
        .annotate(has_answers=has_answers)
        .values("crowd_worker_id")
        .annotate(
            done=Count("pk", filter=Q(submitted_at__isnull=False)),
            in_hand=Count("pk", filter=_IN_HAND),
            agreed_at=Min("consented_at"),
            opened_at=Max("opened_at"),
            handed_in_at=Max("submitted_at"),
        )
    }
    saved = dict(
        Answer.objects.filter(assignment__in=ours)
        .order_by()
        .values_list("assignment__crowd_worker_id")
        .annotate(Max("saved_at"))
    )
    held = {one: row["done"] + row["in_hand"] for one, row in counts.items()}
    left = left_for_each(offering, {one: held.get(one, 0) for one in workers})
    minutes = minutes_of_each(ours.select_related("submission"))
    letters, written = _letters(invitations)
    rows = []
    for one in invitations:
        row = counts.get(one.worker_id, {})
        times = [row.get("opened_at"), row.get("handed_in_at"), saved.get(one.worker_id), one.opened_at]
        rows.append(
            InvitedRater(
                one,
                done=row.get("done", 0),
                in_hand=row.get("in_hand", 0),
                left=left[one.worker_id] if one.revoked_at is None else 0,
                minutes=minutes.get(one.worker_id, 0.0),
                agreed_at=row.get("agreed_at"),
                active_at=max((at for at in times if at is not None), default=None),
                letter=letters.get(one.pk),
                written_at=written.get(one.pk),
            )
        )
    return rows


def minutes_of_each(assignments: Iterable[Assignment]) -> dict[str, float]:
    """Return the active minutes of each worker in these assignments, which should come with their submissions."""
    listed = list(assignments)
    counted = counted_minutes(listed)
    sums: dict[str, float] = {}
    for one in listed:
        sums[one.crowd_worker_id] = sums.get(one.crowd_worker_id, 0.0) + counted.get(one.pk, 0.0)
    return sums


def _letters(invitations: Sequence[Invitation]) -> tuple[dict[int, Letter], dict[int, datetime]]:
    """Return each rater's last letter, and when the last one that was sent went out."""
    letters = Letter.objects.filter(invitation__in=invitations).select_related("mailing")
    last = {one.invitation_id: one for one in letters}  # in order of their keys, so the last one stays
    written: dict[int, datetime] = {}
    for one in letters:
        if one.sent_at is not None:
            written[one.invitation_id] = max(one.sent_at, written.get(one.invitation_id, one.sent_at))
    return last, written
