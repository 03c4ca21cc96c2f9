"""Answers as the market of an offering by link: nobody outside holds anything, so all of it comes from our own rows.

What a worker has submitted to us is handed in, and confirmed with it. Approving and bonuses send nothing anywhere: they
come onto the list of what is due, which researchers pay elsewhere.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

from hits.crowds.hits_of_rows import hits_of_rows
from hits.crowds.link.open_links import ensure_first_link
from hits.crowds.market import HitToOffer, MarketAssignment, MarketBonus, MarketHit
from hits.errors import MarketRefused
from hits.models import Assignment, Offering, Submission

Status = Submission.Status
T = TypeVar("T")

UNLIMITED_CENTS = 1_000_000_000_00  # no account stands behind a link, so none can run out


def in_any_thread(read: Callable[..., list[T]]) -> Callable[..., Iterator[T]]:
    """Let rooms call this from their threads: read everything at once, and close the thread's own connection."""

    @wraps(read)
    def reading(*args: Any, **more: Any) -> Iterator[T]:
        try:
            return iter(read(*args, **more))
        finally:
            if threading.current_thread() is not threading.main_thread() and not connection.in_atomic_block:
                connection.close()

    return reading


class LinkMarket:
    def __init__(self, offering: Offering, marks: Mapping[str, int]) -> None:
        self._offering = offering
        self._marks = marks

    def balance_cents(self) -> int:
        return UNLIMITED_CENTS

    # HITs

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> Mapping[str, str]:
        return notes

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        return f"task-{new.number}-{new.round}"

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        """Make the first link. There is nothing else to settle: the page reads from our rows whether the study is on
        offer."""
        ensure_first_link(offering, timezone.now())
        return notes

    @in_any_thread
    def list_hits(self) -> list[MarketHit]:
        return list(hits_of_rows(self._offering, self._marks, self._handed_in()))

    def get_hit(self, crowd_hit_id: str) -> MarketHit:
        for one in self.list_hits():
            if one.crowd_hit_id == crowd_hit_id:
                return one
        raise MarketRefused("no such task", f"{crowd_hit_id} is no task of {self._offering}.", is_gone=True)

    def expire_hit(self, crowd_hit_id: str) -> None:
        """Do nothing: our rows say what is on offer."""

    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None:
        """Do nothing: our rows say what is on offer."""

    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None:
        """Do nothing: our rows say how many places there are."""

    # Work

    def _submitted(self) -> Any:
        return Assignment.objects.filter(
            offering=self._offering, submitted_at__isnull=False, confirmed_at__isnull=False
        )

    def _handed_in(self) -> dict[str, bool]:
        """Return what was handed in, and whether it is decided."""
        rows = self._submitted().values_list("crowd_assignment_id", "submission__status")
        return {key: self._status(status) != Status.SUBMITTED for key, status in rows}

    def _status(self, stored: str | None) -> Status:
        """Return a submission's status. An unpaid study has nothing to approve, so its work needs no decision."""
        is_unpaid = not self._offering.study.parsed_design.pay.reward_cents
        return Status(stored) if stored else Status.APPROVED if is_unpaid else Status.SUBMITTED

    @in_any_thread
    def list_assignments(self, crowd_hit_id: str) -> list[MarketAssignment]:
        there = self._submitted().filter(hit__publications__offering=self._offering)
        return [self._told(one) for one in there.filter(hit__publications__crowd_hit_id=crowd_hit_id)]

    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment:
        for one in self._find(crowd_assignment_id):
            return one
        raise MarketRefused("no such assignment", f"{crowd_assignment_id} was not handed in.")

    @in_any_thread
    def _find(self, crowd_assignment_id: str) -> list[MarketAssignment]:
        return [self._told(one) for one in self._submitted().filter(crowd_assignment_id=crowd_assignment_id)]

    def _told(self, one: Assignment) -> MarketAssignment:
        submission = Submission.objects.filter(assignment=one).first()
        assert one.submitted_at is not None
        return MarketAssignment(
            crowd_assignment_id=one.crowd_assignment_id,
            crowd_hit_id=submission.crowd_hit_id if submission else "",
            crowd_worker_id=one.crowd_worker_id,
            status=self._status(submission.status if submission else None),
            accepted_at=one.opened_at,
            submitted_at=one.submitted_at,
            auto_approval_at=None,
            answer="",
        )

    # Money: there is nobody to tell

    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None:
        """Do nothing: our own row is all there is."""

    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        raise MarketRefused("link", "Work that came by a link can't be rejected here.")

    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None:
        """Do nothing: the bonus is on the list of what is due."""

    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]:
        return iter([])

    # Who gets no more of a study: our own page refuses them

    def keep_out(self, offering: Offering, worker_id: str) -> None:
        """Do nothing: the link's page looks at the standings."""

    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None:
        """Do nothing: the link's page looks at the standings."""

    def block_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("link", "A link has no record of workers beyond this study.")

    def unblock_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("link", "A link has no record of workers beyond this study.")
